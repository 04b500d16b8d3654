internal import SyncContract
internal import Synchronization

/// The changes that waited to be sent at one moment, and which of them the server has not answered since.
///
/// A change is a number and how often it was edited. It counts as answered when an answer for that edit or a later one was
/// recorded, whoever has pushed, or when the queue does not send it any more: it was refused, met another version, or
/// was given up. A later edit of the same item does not hold it up.
package final class OutstandingChanges: Sendable {
    private struct State {
        /// The edit counters of what is not answered, by number.
        var open: [Int64: Int64] = [:]
        /// What was answered before the queue was read.
        var early: [Int64: Int64]? = [:]
        var total = 0
        /// What a push did not send at the last look, because it waits for a decision.
        var undecided: Set<Int64> = []
    }

    private let state = Mutex(State())
    private let store: any SyncContextDataSource

    /// How many changes waited.
    package var total: Int { state.withLock { $0.total } }

    /// How many of them are not answered, as far as it is known without reading the queue.
    package var count: Int { state.withLock { $0.open.count } }

    fileprivate init(_ store: any SyncContextDataSource) { self.store = store }

    fileprivate func begin(with changes: [Int64: Int64], undecided: Set<Int64>) {
        state.withLock { state in
            let early = state.early ?? [:]
            state.open = changes.filter { $0.value > early[$0.key] ?? -1 }
            state.early = nil
            state.undecided = undecided
            state.total = state.open.count
        }
    }

    fileprivate func answered(_ number: Int64, through editCounter: Int64) {
        state.withLock { state in
            if let early = state.early {
                state.early?[number] = max(editCounter, early[number] ?? editCounter)
            } else if let open = state.open[number], open <= editCounter {
                state.open[number] = nil
            }
        }
    }

    /// What a look at the queue has shown.
    package struct Review: Sendable, Hashable {
        /// The numbers of the operations whose changes are still to be sent.
        package var open: Set<Int64> = []
        /// Whether there are changes to send that were made, edited or released after these, or that may have waited for
        /// one that was given up since the last look.
        package var hasNewer = false

        package init(open: Set<Int64> = [], hasNewer: Bool = false) {
            self.open = open
            self.hasNewer = hasNewer
        }
    }

    /// Looks which of the changes are still in the queue.
    package func review() async throws -> Review {
        let (waiting, undecided) = try await OperationQueue.outstanding(store)
        return state.withLock { state in
            let before = state.open
            state.open = before.filter { waiting[$0.key] != nil }
            var hasNewer = waiting.contains { number, editCounter in state.open[number].map { $0 < editCounter } ?? true
            }
            // What was given up since may have been before one that stays, also when it was refused in between.
            let decided = state.undecided.union(before.keys.filter { waiting[$0] == nil })
            if !state.open.isEmpty, !decided.isSubset(of: undecided) { hasNewer = true }
            state.undecided = undecided
            return Review(open: Set(state.open.keys), hasNewer: hasNewer)
        }
    }
}

/// Who wants to know of answers.
final class OutstandingChangesRegistry: Sendable {
    private struct Entry: Sendable {
        weak let changes: OutstandingChanges?
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ changes: OutstandingChanges) {
        entries.withLock { entries in
            entries.removeAll { $0.changes == nil }
            entries.append(Entry(changes: changes))
        }
    }

    /// To be called when the server's answer to an edit of an operation is recorded.
    func answered(_ number: Int64, through editCounter: Int64) {
        for entry in entries.withLock({ $0 }) { entry.changes?.answered(number, through: editCounter) }
    }
}

extension SyncContext {
    /// The changes that wait to be sent now.
    package func outstandingChanges() async throws -> OutstandingChanges {
        try await followDeclarations()
        let changes = OutstandingChanges(store)
        // What is answered while the queue is read must not be missed.
        coordination.answers.outstanding.add(changes)
        let (waiting, undecided) = try await OperationQueue.outstanding(store)
        changes.begin(with: waiting, undecided: undecided)
        return changes
    }

    /// Whether a push has anything to do: one of these changes to send, or something to settle.
    package func isPushDue(_ changes: OutstandingChanges) async throws -> Bool {
        if changes.count > 0 { return true }
        return try await isToSettle(nil)
    }

    /// Whether the next push settles something of some tables, or of all, about which an earlier one has asked nobody.
    func isToSettle(_ tables: Set<String>?) async throws -> Bool {
        let (decisions, schema) = (PushDecisions(self), store.schema)
        guard decisions.areMade else { return false }
        return try await store.read { try !decisions.unasked(tables, &$0, schema).isEmpty }
    }
}

extension OperationQueue {
    /// The edit counters of what is sent, by number, and the numbers of what waits for a decision, at one moment.
    fileprivate static func outstanding(
        _ store: any SyncContextDataSource
    ) async throws -> (waiting: [Int64: Int64], undecided: Set<Int64>) {
        let schema = store.schema
        return try await store.read { reader in (try waiting(&reader, schema), try undecided(&reader)) }
    }

    /// The edit counters of the operations that a push sends, by number; those of tables that are not declared are not sent.
    fileprivate static func waiting(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [Int64: Int64] {
        let query = Query(SystemTables.operations.name)
            .filtered(
                by: Column("state").isAny(of: TableOperation.sentStates)
                    && Column("table").isAny(of: schema.syncedTables.map { .string($0.name) })
            )
            .selecting(["editCounter"])
        var waiting: [Int64: Int64] = [:]
        try transaction.forEach(query) { operation in
            if let number = operation.id.int64Value { waiting[number] = operation["editCounter"]?.int64Value ?? 0 }
        }
        return waiting
    }

    /// The numbers of the operations that wait for a decision.
    fileprivate static func undecided(_ transaction: inout some StoreReading & ~Copyable) throws -> Set<Int64> {
        let query = Query(SystemTables.operations.name)
            .filtered(by: !Column("state").isAny(of: TableOperation.sentStates)).selecting([])
        return Set(try transaction.records(query).compactMap(\.id.int64Value))
    }
}
