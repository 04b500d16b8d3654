import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Synchronization
import Testing

/// Notes what it is told, and says what it was made to say.
private final class TestDelegate: SyncContextDelegate {
    struct Stopped: Error {}

    let told = Mutex<[String]>([])
    let stopsAt: String?
    let resolution: ConflictResolution<Record>?

    init(stopsAt: String? = nil, resolution: ConflictResolution<Record>? = nil) {
        self.stopsAt = stopsAt
        self.resolution = resolution
    }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        if operation.itemID == stopsAt { throw Stopped() }
        told.withLock { $0.append("send \(operation.itemID)") }
    }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        told.withLock { $0.append("resolve \(error.itemID)") }
        return resolution
    }

    func syncContext(_ context: SyncContext, didPush report: PushReport) async {
        told.withLock { $0.append("pushed \(report.pushed)") }
    }
}

@Suite("The delegate of a context")
struct SyncContextDelegateTests {
    @Test("is asked before each operation and told the end; an error of it leaves the operation in the queue")
    func hooks() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            for id in ["a", "b", "c"] { try await world.laptop.table.insert(["text": "milk"], id: id) }
            let stopping = TestDelegate(stopsAt: "b")
            context.delegate = stopping
            await #expect(throws: TestDelegate.Stopped.self) { _ = try await context.push() }
            #expect(world.onServer().keys.sorted() == ["a"])
            #expect(try await context.operations().map(\.itemID) == ["b", "c"])
            let delegate = TestDelegate()
            context.delegate = delegate
            _ = try await context.push()
            #expect(delegate.told.withLock { $0 } == ["send b", "send c", "pushed 2"])
        }
    }

    @Test("settles a refusal, which is tried again in the same push, and goes before policies")
    func resolves() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.insert(["text": "bread"], id: "b")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "POST" })
            let delegate = TestDelegate(resolution: .keepMine)
            laptop.context.delegate = delegate
            laptop.context.conflictPolicy = .serverWins
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "mine", "b": "bread"])
            #expect(try await laptop.context.journal().isEmpty, "somebody was asked")
        }
    }

    @Test("is held weakly")
    func weakly() async throws {
        try await SyncWorld.with(.datasync) { world in
            world.laptop.context.delegate = TestDelegate()
            #expect(world.laptop.context.delegate == nil)
        }
    }

    @Test("events tell what happened in order, without the content of rows")
    func events() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            var events = laptop.context.events.makeAsyncIterator()
            try await laptop.table.insert(["text": "secret"], id: "a")
            try await laptop.pull()
            var lines: [String] = []
            while lines.last?.hasPrefix("page") != true, let event = await events.next() { lines.append(event.logLine) }
            #expect(
                lines == [
                    "push started", "operation 1: insert in 'TodoItem' sent", "operation 1: insert in 'TodoItem' taken",
                    "push ended: 1 taken, 0 in conflict, 0 refused, 1 requests",
                    "page of 'TodoItem' applied: 0 rows",
                ]
            )
            #expect(!lines.joined().contains("secret"))
        }
    }
}
