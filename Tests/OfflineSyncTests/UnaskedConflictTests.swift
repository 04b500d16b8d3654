import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// The server has another row, that is recorded, and the push ends before anybody could say what is to be done.
@Suite("Conflicts whose push was cancelled or killed before anybody was asked")
struct UnaskedConflictTests {
    /// Who decides.
    enum Decider: CaseIterable {
        case serverWins
        case clientWins
        case merge
        case delegate
    }

    /// Says what it was made to say, and counts how often it was asked.
    private final class Asked: SyncContextDelegate {
        struct Undecided: Error {}

        private let state = Mutex(0)
        private let answer: @Sendable (Int) throws -> ConflictResolution<Record>?

        init(_ answer: @escaping @Sendable (Int) throws -> ConflictResolution<Record>?) { self.answer = answer }

        var count: Int { state.withLock { $0 } }

        func decide() throws -> ConflictResolution<Record>? {
            let count = state.withLock { count in
                count += 1
                return count
            }
            return try answer(count)
        }

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? { try decide() }
    }

    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>

    init() async throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
        todos = try context.table("TodoItem")
        try await todos.insert(["text": "1"], id: "a")
        _ = try await context.push()
        server.change("a", "theirs")
        try await todos.update(Record(id: "a", ["text": "mine"]))
    }

    /// The end of a process right behind the transaction that records the conflict.
    private func conflictAndDeath(_ prepare: (SyncContext) -> Void) async throws {
        let hasAnswer = Switch()
        server.script = { _ in hasAnswer.isOn = true }
        let killed = FaultyStore(store) { call in
            guard call.writes, hasAnswer.isOn else { return nil }
            hasAnswer.isOn = false
            return .fails(.afterCommit)
        }
        let context = SyncContext(store: killed, remote: server)
        prepare(context)
        await #expect(throws: StoreError.self) { _ = try await context.push() }
        server.script = { _ in }
        #expect(try await self.context.operationErrors().map(\.isConflict) == [true])
        #expect(try await store.verifyQueue().isEmpty)
    }

    /// A push that is cancelled while the server answers.
    private func conflictAndCancellation() async throws {
        server.script = { _ in unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
        let push = Task { [context] in try await context.push() }
        await #expect(throws: CancellationError.self) { _ = try await push.value }
        server.script = { _ in }
    }

    private func decide(_ decider: Decider, _ delegate: Asked, _ context: SyncContext) {
        switch decider {
        case .serverWins: context.conflictPolicy = .serverWins
        case .clientWins: context.conflictPolicy = .clientWins
        case .merge: context.conflictPolicy = .merge { _ in try delegate.decide() }
        case .delegate: context.delegate = delegate
        }
    }

    /// A push asks, once, and does what it is told.
    private func expectSettled(_ decider: Decider, _ delegate: Asked, _ context: SyncContext) async throws {
        let report = try await context.push()
        #expect(report.notTaken.isEmpty)
        #expect(report.pushed == (decider == .clientWins ? 1 : 0))
        let text = decider == .clientWins ? "mine" : "theirs"
        #expect(server.texts == ["a": text])
        #expect(try await todos.read("a")?["text"]?.stringValue == text)
        #expect(delegate.count == ([.merge, .delegate].contains(decider) ? 1 : 0))
        #expect(try await context.operations().isEmpty)
        #expect(try await context.operationErrors().isEmpty)
        #expect(try await context.journal().count == (decider == .delegate ? 0 : 1))
        #expect(try await store.verifyQueue().isEmpty)
        _ = try await context.push()
        #expect(try await context.journal().count == (decider == .delegate ? 0 : 1))
    }

    @Test("are settled by the next push when the push was cancelled", arguments: Decider.allCases)
    func cancelled(_ decider: Decider) async throws {
        let delegate = Asked { _ in .takeServer }
        decide(decider, delegate, context)
        try await conflictAndCancellation()
        // What nobody is asked about is decided at once.
        let isAsked = [.merge, .delegate].contains(decider)
        #expect(delegate.count == 0)
        #expect(try await context.operationErrors().count == (isAsked ? 1 : 0))
        #expect(try await store.verifyQueue().isEmpty)
        try await expectSettled(decider, delegate, context)
    }

    @Test(
        "are settled by the next push after a kill, also when who decides is named later",
        arguments: Decider.allCases
    )
    func killed(_ decider: Decider) async throws {
        let delegate = Asked { _ in .takeServer }
        try await conflictAndDeath { decide(decider, delegate, $0) }
        #expect(try await context.push().conflicts.count == 1)
        decide(decider, delegate, context)
        try await expectSettled(decider, delegate, context)
    }

    @Test("are settled by the policy of their table where the context has none")
    func policyOfTheTable() async throws {
        try await conflictAndDeath { $0.conflictPolicy = .serverWins }
        todos.conflictPolicy = .serverWins
        try await expectSettled(.serverWins, Asked { _ in nil }, context)
    }

    @Test(
        "are settled whichever transaction the kill comes at, and are once in the journal",
        arguments: StoreFault.Moment.allCases
    )
    func killedAnywhere(_ moment: StoreFault.Moment) async throws {
        var kills = 0
        for number in 1...16 {
            let (server, store) = (GroupServer(), try makeStore())
            let context = SyncContext(store: store, remote: server)
            let todos = try context.table("TodoItem")
            try await todos.insert(["text": "1"], id: "a")
            _ = try await context.push()
            server.change("a", "theirs")
            try await todos.update(Record(id: "a", ["text": "mine"]))
            let killed = FaultyStore(store) { $0.number == number ? .fails(moment) : nil }
            let dying = SyncContext(store: killed, remote: server)
            dying.conflictPolicy = .clientWins
            do {
                _ = try await dying.push()
            } catch is StoreError {
                kills += 1
            }
            context.conflictPolicy = .clientWins
            #expect(try await context.push().notTaken.isEmpty)
            #expect(server.texts == ["a": "mine"])
            #expect(try await context.operations().isEmpty)
            #expect(try await context.journal().count == 1, "killed at call \(number)")
            #expect(try await store.verifyQueue().isEmpty)
        }
        #expect(kills > 4)
    }

    @Test(
        "are asked about once: whoever says nothing, or fails, has been asked",
        arguments: [Decider.merge, .delegate],
        [false, true]
    )
    func undecided(_ decider: Decider, fails: Bool) async throws {
        let delegate = Asked { _ in if fails { throw Asked.Undecided() } else { nil } }
        try await conflictAndDeath { decide(decider, delegate, $0) }
        decide(decider, delegate, context)
        if fails {
            await #expect(throws: Asked.Undecided.self) { _ = try await context.push() }
        } else {
            #expect(try await context.push().conflicts.count == 1)
        }
        for _ in 1...2 { #expect(try await context.push().conflicts.count == 1) }
        #expect(delegate.count == 1)
        // What the server said is still there.
        let error = try #require(try await context.operationErrors().first)
        #expect(
            error.serverItem?["text"] == "theirs" && error.item?["text"] == "mine" && error.baseItem?["text"] == "1"
        )
        #expect(try await store.verifyQueue().isEmpty)
        try await context.resolve(error, with: .keepMine)
        #expect(try await context.push().pushed == 1)
    }

    @Test("are settled by a pull as well, as it sends what waits first")
    func pulled() async throws {
        try await conflictAndDeath { decide(.serverWins, Asked { _ in nil }, $0) }
        context.conflictPolicy = .serverWins
        // There is nothing to pull from.
        await #expect(throws: SyncError.self) { try await todos.pull() }
        #expect(try await context.operationErrors().isEmpty)
        #expect(try await todos.read("a")?["text"] == "theirs")
    }

    @Test(
        "are asked about again when the push was cancelled while somebody was asked",
        arguments: [Decider.merge, .delegate]
    )
    func cancelledMeanwhile(_ decider: Decider) async throws {
        let cancelled = Asked { _ in
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            throw CancellationError()
        }
        decide(decider, cancelled, context)
        let push = Task { [context] in try await context.push() }
        await #expect(throws: CancellationError.self) { _ = try await push.value }
        #expect(cancelled.count == 1)
        let delegate = Asked { _ in .takeServer }
        decide(decider, delegate, context)
        try await expectSettled(decider, delegate, context)
    }

    @Test("stay stored when there was nobody to ask, whoever comes later")
    func stored() async throws {
        try await conflictAndDeath { _ in }
        context.conflictPolicy = .serverWins
        #expect(try await context.push().conflicts.count == 1)
    }

    @Test("are not settled, nor asked about, when the item was edited since")
    func edited() async throws {
        let delegate = Asked { _ in .takeServer }
        try await conflictAndDeath { decide(.merge, delegate, $0) }
        try await todos.update(Record(id: "a", ["text": "newer"]))
        decide(.delegate, delegate, context)
        server.script = { _ in throw RemoteError(.unreachable, "there is no network") }
        await #expect(throws: SyncError.self) { _ = try await context.push() }
        #expect(delegate.count == 0)
        #expect(try await context.operationErrors().isEmpty)
    }

    @Test("are settled five times in a push at most, that at its beginning included")
    func endless() async throws {
        let asked = Asked { [server] count in
            server.change("a", "newer \(count)")
            return .keepMine
        }
        try await conflictAndDeath { decide(.merge, asked, $0) }
        decide(.merge, asked, context)
        #expect(try await context.push().conflicts.count == 1)
        #expect(asked.count == 5)
        #expect(try await context.push().conflicts.count == 1)
        #expect(asked.count == 5)
    }

    @Test(
        "hold up nothing: a refusal is asked about in the same way, and of other tables than those that are pushed nothing is"
    )
    func refused() async throws {
        let store = MemoryStore(
            try StoreSchema(["notes", "others"].map { TableDefinition($0, columns: [.init("text", .string)]) })
        )
        let context = SyncContext(store: store, remote: server)
        let (notes, others) = (try context.table("notes"), try context.table("others"))
        let delegate = Asked { _ in .discard }
        context.delegate = delegate
        try await notes.insert(["text": "1"], id: "n")
        server.script = { _ in
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            throw RemoteError(.refused, "no", status: 422)
        }
        let push = Task { [context] in try await context.push() }
        await #expect(throws: CancellationError.self) { _ = try await push.value }
        server.script = { _ in }
        try await others.insert(["text": "1"], id: "o")
        var report = try await context.push(others)
        #expect(report.pushed == 1 && report.failures.map(\.itemID) == ["n"] && delegate.count == 0)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && delegate.count == 1)
        #expect(try await notes.read("n") == nil)
        #expect(try await store.verifyQueue().isEmpty)
    }
}
