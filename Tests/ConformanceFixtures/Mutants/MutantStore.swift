import ReferenceStore
import Synchronization
package import SyncContract
import Foundation

/// ``MemoryStore`` with a fault.
package final class MutantStore: SyncContextDataSource {
    package let schema: StoreSchema
    private let faults: Faults
    private let broadcaster = ChangeBroadcaster()
    private let writing = AsyncLock()

    private struct State {
        var tables: [String: MemoryTable]
        var previous: [String: MemoryTable]
        var isClosed = false
        var isLocked = false
        var wasLocked = false
        var isBroken = false
        var hasWritten = false
        var lastChange: StoreChange?
        var results: [Query: (result: QueryResult, rows: [RecordID: Record])] = [:]
        var plainStreams: [AsyncStream<StoreChange>.Continuation] = []
    }

    private let state: Mutex<State>

    package init(_ schema: StoreSchema, _ faults: Faults) {
        self.schema = faults.store.declares(schema)
        self.faults = faults
        let tables = Dictionary(
            uniqueKeysWithValues: faults.schema(schema).allTables.map { ($0.name, MemoryTable($0)) }
        )
        state = Mutex(State(tables: tables, previous: tables))
    }

    package var capabilities: StoreCapabilities {
        let hasGrown = faults.store.growsCapabilities && state.withLock { $0.hasWritten }
        var capabilities: StoreCapabilities = faults.keepsUnknownColumns ? [.unknownColumns] : []
        if faults.answersSyncStates { capabilities.insert(.syncStates) }
        if hasGrown { capabilities.insert(.durable) }
        return capabilities
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try checkIsOpen()
        if !faults.store.ignoresCancellation { try Task.checkCancellation() }
        try failIfTold()
        if faults.store.readsWaitForWriters { try await writing.hold {} }
        let backend = MutantBackend(
            MemoryTransaction(
                state.withLock { faults.store.readsStale ? $0.previous : $0.tables },
                [.unknownColumns, .syncStates]
            ),
            faults
        )
        if faults.store.readsUncommitted { backend.current = { self.state.withLock { $0.tables } } }
        if !faults.looksAhead.isEmpty { backend.newest = { self.state.withLock { $0.tables } } }
        var reader = StoreReader(backend)
        do {
            let value = try body(&reader)
            if faults.store.firesOnRead { tell(["items"]) }
            return value
        } catch {
            if faults.store.breaksAfterError { state.withLock { $0.isBroken = true } }
            throw error
        }
    }

    package func read(_ query: Query) async throws -> QueryResult {
        let query = faults.store.shortQuery(query)
        guard faults.store.keepsResults else { return try await read { try $0.read(query) } }
        let rows = state.withLock { $0.tables[query.table]?.rows ?? [:] }
        if let kept = state.withLock({ $0.results[query] }), kept.rows == rows { return kept.result }
        let result = try await read { try $0.read(query) }
        state.withLock { $0.results[query] = (result, rows) }
        return result
    }

    package func read(table: String, itemID: RecordID) async throws -> Record? {
        faults.store.shortRecord(try await read { try $0.record(itemID, in: table) })
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        if faults.store.writesWhenLocked, state.withLock({ $0.isLocked }) { _ = try await commit(body) }
        try checkIsOpen()
        if !faults.store.ignoresCancellation { try Task.checkCancellation() }
        try failIfTold()
        if faults.store.sleepsForever {
            while true {
                do {
                    try await Task.sleep(for: .seconds(3_600))
                } catch {
                    // It does not listen to cancellation either.
                    await Task.yield()
                }
            }
        }
        if faults.store.losesUpdates || faults.store.overlapsWriters { return try await commit(body) }
        return try await writing.hold {
            if !faults.store.looksForCancellationOnlyAtFirst, !faults.store.ignoresCancellation {
                try Task.checkCancellation()
            }
            return try await commit(body)
        }
    }

    private func commit<Value: Sendable>(_ body: (inout StoreTransaction) throws -> Value) async throws -> Value {
        let before = state.withLock { $0.tables }
        if faults.store.losesUpdates { await Task.yield() }
        let innerCapabilities: StoreCapabilities =
            faults.keepsUnknownColumns ? [.unknownColumns, .syncStates] : [.syncStates]
        let inner = MemoryTransaction(before, innerCapabilities)
        let backend = MutantBackend(inner, faults)
        if faults.store.readsUncommitted { backend.wrote = { tables in self.state.withLock { $0.tables = tables } } }
        if faults.store.firesInClosure { backend.wrote = { _ in self.tell(inner.touched) } }
        var transaction = StoreTransaction(backend)
        let value: Value
        do {
            value = try body(&transaction)
            if faults.store.checksCancellationBeforeCommit { try Task.checkCancellation() }
        } catch {
            if faults.store.runsClosuresAgain { again(body, before, innerCapabilities) }
            state.withLock { $0.tables = faults.rollBack(before, inner.tables) }
            if faults.store.breaksAfterError { state.withLock { $0.isBroken = true } }
            if faults.store.firesOnRollback { tell(inner.touched) }
            if faults.store.takesErrorsForCancellation { try Task.checkCancellation() }
            throw faults.rethrow(error) ?? error
        }
        state.withLock { state in
            state.hasWritten = true
            guard !faults.store.revertsWhenNothingIsWritten || !inner.touched.isEmpty else {
                state.tables = state.previous
                return
            }
            state.previous = state.tables
            state.tables = inner.tables
        }
        let told = faults.touched(inner.touched, before, inner.tables)
        if faults.store.firesLate {
            Task {
                for _ in 0..<20 { await Task.yield() }
                self.tell(told)
            }
        } else if !faults.store.firesInClosure, !faults.store.firesNever {
            tell(told)
        }
        if faults.store.checksCancellationAfterCommit { try Task.checkCancellation() }
        if faults.store.returnsEmptyLists, let empty = [Int]() as? Value { return empty }
        return value
    }

    /// Runs the closure once more, in vain.
    private func again<Value: Sendable>(
        _ body: (inout StoreTransaction) throws -> Value,
        _ tables: [String: MemoryTable],
        _ capabilities: StoreCapabilities
    ) {
        var transaction = StoreTransaction(MutantBackend(MemoryTransaction(tables, capabilities), faults))
        do { _ = try body(&transaction) } catch {
            // It fails as it did before.
        }
    }

    private func failIfTold() throws {
        if state.withLock({ $0.isBroken }) { throw StoreError(.internal, "an earlier error broke this store") }
        if faults.store.traps { fatalError("this store traps") }
        if faults.store.blocksForever { while true { sleep(3_600) } }
    }

    private func tell(_ tables: Set<String>) {
        guard !tables.isEmpty else { return }
        let change = StoreChange(tables: tables)
        let streams = state.withLock { state in
            state.lastChange = change
            return state.plainStreams
        }
        for stream in streams { stream.yield(change) }
        // What was ended is told of nothing.
        if !faults.store.endsStreamsWhenLocked || !state.withLock({ $0.wasLocked }) { broadcaster.send(change) }
    }

    package func changes() -> AsyncStream<StoreChange> {
        if faults.store.streamsWithoutMerging || faults.store.replaysLastChange || faults.store.streamsToOneOnly
            || faults.store.streamsNewestOnly || faults.store.streamsEndTogether
        {
            let (stream, continuation) = AsyncStream<StoreChange>
                .makeStream(
                    bufferingPolicy: faults.store.streamsNewestOnly ? .bufferingNewest(1) : .unbounded
                )
            state.withLock { state in
                if faults.store.replaysLastChange, let last = state.lastChange { continuation.yield(last) }
                if faults.store.streamsToOneOnly { state.plainStreams = [] }
                state.plainStreams.append(continuation)
            }
            if faults.store.streamsEndTogether {
                continuation.onTermination = { _ in self.state.withLock { $0.plainStreams = [] } }
            }
            return stream
        }
        guard faults.store.subscribesLazily else { return broadcaster.subscribe() }
        let lazy = LazyStream(broadcaster)
        return AsyncStream { await lazy.next() }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        if !faults.store.keepsStreamsOpen { broadcaster.finish() }
    }

    package func lock() {
        state.withLock { ($0.isLocked, $0.wasLocked) = (true, true) }
        if faults.store.endsStreamsWhenLocked { broadcaster.finish() }
    }

    package func unlock() {
        state.withLock { $0.isLocked = false }
        if !faults.store.tellsNothingWhenUnlocked { tell(Set(schema.allTables.map(\.name))) }
    }

    private func checkIsOpen() throws {
        if !faults.store.worksWhenLocked, state.withLock({ $0.isLocked }) {
            throw StoreError(.locked, "the store is locked; unlock it first")
        }
        if !faults.store.worksWhenClosed, state.withLock({ $0.isClosed }) {
            throw StoreError(
                faults.store.namesClosingInternal ? .internal : .closed,
                "the store was closed; open it again"
            )
        }
    }
}

/// Subscribes when it is asked for the first element.
private actor LazyStream {
    private let broadcaster: ChangeBroadcaster
    private var stream: AsyncStream<StoreChange>?

    init(_ broadcaster: ChangeBroadcaster) { self.broadcaster = broadcaster }

    func next() async -> StoreChange? {
        let stream = stream ?? broadcaster.subscribe()
        self.stream = stream
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

/// Lets one task in after the other.
private actor AsyncLock {
    private var isHeld = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated func hold<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await acquire()
        do {
            let value = try await body()
            await release()
            return value
        } catch {
            await release()
            throw error
        }
    }

    private func acquire() async {
        guard isHeld else {
            isHeld = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func release() {
        if waiting.isEmpty { isHeld = false } else { waiting.removeFirst().resume() }
    }
}

/// ``MemoryTransaction`` with a fault.
private final class MutantBackend: StoreWriteBackend {
    private var inner: MemoryTransaction
    private let faults: Faults
    /// The state before the transaction.
    private let before: MemoryTransaction
    var current: (() -> [String: MemoryTable])?
    var newest: (() -> [String: MemoryTable])?
    var wrote: (([String: MemoryTable]) -> Void)?

    init(_ inner: MemoryTransaction, _ faults: Faults) {
        self.inner = inner
        self.faults = faults
        before = MemoryTransaction(inner.tables, [.unknownColumns, .syncStates])
    }

    /// What a question is asked of: the state before the transaction or that of now, where that is the fault.
    private func asked(_ look: Faults.Look) -> MemoryTransaction {
        if faults.looksAhead.contains(look), let newest {
            return MemoryTransaction(newest(), [.unknownColumns, .syncStates])
        }
        return faults.looksBack.contains(look) ? before : self.look()
    }

    /// The tables as they were when they were first asked for, where that is the fault.
    private var seen: [String: MemoryTable] = [:]

    private func look(_ table: String) -> MemoryTransaction {
        guard faults.looksAhead.contains(.furtherTables), let newest else { return look() }
        if seen[table] == nil { seen[table] = newest()[table] }
        return MemoryTransaction(inner.tables.merging(seen) { $1 }, [.unknownColumns, .syncStates])
    }

    private func look() -> MemoryTransaction {
        if let current { inner = MemoryTransaction(current(), [.unknownColumns, .syncStates]) }
        return inner
    }

    var answersSyncStates: Bool { faults.answersSyncStates }

    func definition(of table: String) throws -> TableDefinition { try faults.definition(table, inner) }

    func record(_ id: RecordID, in table: String) throws -> Record? { try faults.record(id, table, look(table)) }

    func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow {
        if let stored = faults.stored { return try stored(record, columns, table, look()) }
        let row = try faults.record(record.id, table, asked(.expectedRows))
        return StoredRow(row, expecting: record, ignoring: columns)
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        var asksForWords = false
        _ = query.predicate?
            .mapping { part in
                if case .words = part { asksForWords = true }
                return part
            }
        try faults.walk(try faults.rows(query, asksForWords ? asked(.words) : look(query.table)), body)
    }

    func count(_ query: Query) throws -> Int { try faults.count(query, look(query.table)) }

    func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        try (faults.aggregate ?? { try $1.aggregate($0) })(query, asked(.aggregates))
    }

    func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        if faults.ignoresSQL { return [] }
        return try inner.forEach(query, body)
    }

    func upsert(_ records: [Record], into table: String) throws {
        try faults.upsert(records, table, inner)
        wrote?(inner.tables)
    }

    func insert(_ record: Record, into table: String) throws -> Bool {
        guard let insert = faults.insert else {
            guard try self.record(record.id, in: table) == nil else { return false }
            try upsert([record], into: table)
            return true
        }
        let isNew = try insert(record, table, inner)
        wrote?(inner.tables)
        return isNew
    }

    func delete(_ ids: [RecordID], from table: String) throws -> Int {
        let count = try faults.deleteIDs(ids, table, inner)
        wrote?(inner.tables)
        return count
    }

    func delete(_ query: Query) throws -> Int {
        let count = try faults.deleteQuery(query, inner)
        wrote?(inner.tables)
        return count
    }
}
