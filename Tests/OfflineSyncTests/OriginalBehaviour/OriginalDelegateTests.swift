import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing

@Suite("As in the original: the delegate of a context")
struct OriginalDelegateTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private struct Stopped: Error {}

    private final class Delegate: SyncContextDelegate {
        let calls = Mutex<[String]>([])
        let stopsAt: String?
        let resolution: ConflictResolution<Record>?

        init(stopsAt: String? = nil, resolution: ConflictResolution<Record>? = nil) {
            (self.stopsAt, self.resolution) = (stopsAt, resolution)
        }

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
            if operation.itemID == stopsAt { throw Stopped() }
            calls.withLock { $0.append("\(operation.kind) \(operation.itemID)") }
        }

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? {
            calls.withLock { $0.append("not taken \(error.itemID)") }
            return resolution
        }

        func syncContext(_ context: SyncContext, didPush report: PushReport) async {
            calls.withLock { $0.append("pushed \(report.pushed), not \(report.notTaken.count)") }
        }
    }

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    private func push(_ delegate: Delegate) async throws -> PushReport {
        world.context.delegate = delegate
        defer { withExtendedLifetime(delegate) {} }
        return try await world.context.push()
    }

    private func makeConflict() async throws {
        try await world.share("a")
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "mine" }
    }

    @Test("is asked before each operation, and told of the end of the push, also when there was nothing to send")
    func calls() async throws {
        for id in ["a", "b"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        let delegate = Delegate()
        _ = try await push(delegate)
        _ = try await push(delegate)
        #expect(
            delegate.calls.withLock(\.self) == ["insert a", "insert b", "pushed 2, not 0", "pushed 0, not 0"]
        )
    }

    @Test("ends the push by an error: the operation and those after it stay, and nothing is recorded about them")
    func stopping() async throws {
        for id in ["a", "b", "c"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        await #expect(throws: Stopped.self) { _ = try await push(Delegate(stopsAt: "b")) }
        #expect(try await world.context.operations().map(\.itemID) == ["b", "c"])
        #expect(try await world.context.operationErrors().isEmpty)
        #expect(try await world.context.push().pushed == 2, "it is held weakly")
    }

    @Test("is told of the end of a push that the network has ended, with what was done before")
    func ended() async throws {
        try await makeConflict()
        try await world.todos.insert(TodoItem(id: "b", text: "b"))
        world.emulator.inject(.respond(EmulatorResponse(503)) { $0.method == "POST" })
        let delegate = Delegate()
        await #expect(throws: SyncError.self) { _ = try await push(delegate) }
        #expect(delegate.calls.withLock(\.self).last == "pushed 0, not 1")
    }

    @Test("settles a conflict in the push, which is then not in the report")
    func handled() async throws {
        try await makeConflict()
        let delegate = Delegate(resolution: .keepMine)
        #expect(try await push(delegate).notTaken.isEmpty)
        #expect(world.onServer == ["a": "mine"])
        #expect(
            delegate.calls.withLock(\.self) == ["update a", "not taken a", "update a", "pushed 1, not 0"],
            "what was settled is asked about before it is sent"
        )
    }

    @Test("settles a refusal in the push")
    func refusal() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        world.emulator.inject(.respond(EmulatorResponse(400)))
        #expect(try await push(Delegate(resolution: .keepMine)).notTaken.isEmpty)
        #expect(world.onServer == ["a": "a"])
    }

    @Test("leaves what it says nothing about stored and in the report")
    func unhandled() async throws {
        try await makeConflict()
        let delegate = Delegate()
        #expect(try await push(delegate).conflicts.map(\.itemID) == ["a"])
        #expect(delegate.calls.withLock(\.self).last == "pushed 0, not 1")
        #expect(try await world.onlyError().serverItem?.text == "theirs")
    }

    /// The original had no policies.
    @Test(
        "goes before the table's policy, that before the context's, and without any the conflict is stored",
        arguments: [0, 1, 2, 3]
    )
    func precedence(_ silent: Int) async throws {
        try await makeConflict()
        if silent < 3 { world.context.conflictPolicy = .serverWins }
        if silent < 2 {
            world.todos.conflictPolicy = .merge { conflict in
                guard var merged = conflict.serverItem else { return nil }
                merged.text += " and \(conflict.item?.text ?? "") of \(conflict.baseItem?.text ?? "")"
                return .keepMerged(merged)
            }
        }
        let report = try await push(Delegate(resolution: silent < 1 ? .keepMine : nil))
        #expect(report.notTaken.count == (silent == 3 ? 1 : 0))
        let expected = ["mine", "theirs and mine of milk", "theirs", "theirs"]
        #expect(world.onServer == ["a": expected[silent]])
        #expect(try await world.todos.read("a")?.text == (silent == 3 ? "mine" : expected[silent]))
    }
}
