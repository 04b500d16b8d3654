import DatasyncEmulator
import DatasyncHTTP
import Foundation
import RemoteContract
import SyncContract
import Synchronization
import Testing

@testable import OfflineSync

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

/// Does all that a delegate must not wait for, and what it may do.
private final class BusyDelegate: SyncContextDelegate {
    let codes = Mutex<[SyncError.Code?]>([])
    let isAtEnd: Bool

    init(isAtEnd: Bool = false) { self.isAtEnd = isAtEnd }

    private func sync(_ context: SyncContext) async throws {
        for call in [
            { _ = try await context.push() }, { _ = try await context.sync() },
            { try await context.pull(Query("TodoItem")) }, { try await context.purge(Query("TodoItem")) },
            { try await context.resetDeltaToken(of: Query("TodoItem")) },
        ] as [@Sendable () async throws -> Void] {
            let code = try await syncErrorCode(call)
            codes.withLock { $0.append(code) }
        }
    }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        guard !isAtEnd else { return }
        try await sync(context)
        if operation.itemID == "a" { try await context.table("TodoItem").insert(["text": "made meanwhile"], id: "z") }
    }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        try await context.resolve(error, with: .takeServer)
        return .keepMine
    }

    func syncContext(_ context: SyncContext, didPush report: PushReport) async {
        guard isAtEnd, report.pushed > 0 else { return }
        do {
            try await sync(context)
        } catch {
            Issue.record(error)
        }
    }
}

@Suite("The delegate of a context", .timeLimit(.minutes(2)))
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
            #expect(
                delegate.told.withLock { $0 }
                    == ["send a", "resolve a", "send a", "send b", "resolve b", "send b", "pushed 2"],
                "what was settled is another thing to send"
            )
        }
    }

    /// Settles all, and lets nothing be sent a second time.
    private final class OnceDelegate: SyncContextDelegate {
        struct Twice: Error {}

        let sent = Mutex<Set<String>>([])

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
            guard sent.withLock({ $0.insert(operation.itemID).inserted }) else { throw Twice() }
        }

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? { .keepMine }
    }

    @Test("leaves what was settled in the queue, unsent, when it does not let that be sent")
    func settledAndHeldBack() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let context = world.laptop.context
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            let delegate = OnceDelegate()
            context.delegate = delegate
            await #expect(throws: OnceDelegate.Twice.self) { _ = try await context.push() }
            #expect(world.onServer() == ["a": "theirs"])
            #expect(try await context.status().pending == 1)
            // Nothing of it is on its way: it can be given up without a word to the server.
            try await world.laptop.table.revert("a")
            #expect(try await context.operations().isEmpty)
            #expect(try await world.laptop.text("a") == "theirs")
        }
    }

    @Test("is asked about an operation five times in a push; then it stays stored, and that is told as an event")
    func neverTaken() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            try await world.laptop.table.insert(["text": "bread"], id: "b")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 100) { $0.method == "POST" })
            let delegate = TestDelegate(resolution: .keepMine)
            context.delegate = delegate
            var events = context.events.makeAsyncIterator()
            #expect(try await context.push().failures.map(\.itemID) == ["b"])
            #expect(delegate.told.withLock { $0 }.filter { $0 == "resolve b" }.count == 5)
            var notTaken: [String] = []
            while let event = await events.next() {
                if case .operationNotTaken(let error) = event { notTaken.append(error.itemID) }
                if case .pushEnded = event { break }
            }
            #expect(notTaken == ["b"])
        }
    }

    @Test("what would wait for itself in it is refused; what changes rows is not")
    func reentrance() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            let delegate = BusyDelegate()
            context.delegate = delegate
            #expect(try await context.push().pushed == 1)
            // A purge waits for pulls first, and a pull for pushes only when a page came.
            #expect(delegate.codes.withLock { $0 }.allSatisfy { $0 == .invalidAction })
            #expect(try await context.operations().map(\.itemID) == ["z"], "that waits for the next push")
            #expect(try await context.push().pushed == 1)
            try await world.laptop.table.insert(["text": "bread"], id: "b")
            try await world.laptop.pull()
            #expect(world.onServer().keys.sorted() == ["a", "b", "z"])
        }
    }

    @Test("it may sync at the end of a push, not within a pull; a task of its own may afterwards")
    func reentranceAtEnd() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            let delegate = BusyDelegate(isAtEnd: true)
            context.delegate = delegate
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            #expect(try await context.push().pushed == 1)
            #expect(delegate.codes.withLock { $0 } == [nil, nil, nil, nil, nil])
            try await world.laptop.table.insert(["text": "milk"], id: "b")
            try await world.laptop.pull()
            // The push itself has ended.
            #expect(delegate.codes.withLock { $0.suffix(4).allSatisfy { $0 == .invalidAction } })
        }
    }

    @Test("a task that was started in a push may push when that has ended")
    func laterTask() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let later = Mutex<Task<Int, any Error>?>(nil)
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            context.conflictPolicy = .merge { _ in
                later.withLock { task in
                    task = Task {
                        for await _ in ended {}
                        return try await context.push().pushed
                    }
                }
                return nil
            }
            #expect(try await context.push().conflicts.count == 1)
            try await world.laptop.table.insert(["text": "milk"], id: "b")
            end.finish()
            #expect(try await later.withLock { $0 }?.value == 1)
        }
    }

    @Test("a settlement that was made by the delegate itself stays")
    func settledByItself() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            let delegate = BusyDelegate()
            world.laptop.context.delegate = delegate
            #expect(try await world.laptop.context.push().notTaken.isEmpty)
            #expect(try await world.laptop.text("a") == "theirs")
            #expect(world.onServer()["a"] == "theirs")
        }
    }

    @Test("is held weakly")
    func weakly() async throws {
        try await SyncWorld.with(.datasync) { world in
            world.laptop.context.delegate = TestDelegate()
            #expect(world.laptop.context.delegate == nil)
        }
    }

    @Test("events tell that a push has ended early, without what the app itself has thrown")
    func abortedEvents() async throws {
        struct Secret: Error { var text = "secret" }
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            context.conflictPolicy = .merge { _ in throw Secret() }
            var events = context.events.makeAsyncIterator()
            await #expect(throws: Secret.self) { try await context.push() }
            world.emulator.inject(.respond(EmulatorResponse(503)) { $0.method == "POST" })
            try await world.laptop.table.insert(["text": "secret"], id: "b")
            await #expect(throws: SyncError.self) { try await context.push() }
            var lines: [String] = []
            while lines.count(where: { $0.hasPrefix("push ended early") }) < 2, let event = await events.next() {
                lines.append(event.logLine)
            }
            #expect(lines.contains("push ended early: Secret"))
            #expect(lines.last == "push ended early: pushAbortedNetwork (throttled, HTTP 503)")
            #expect(!lines.joined().contains("secret"))
        }
    }

    @Test("the line of a refusal does not hold what the server said, which may quote the row")
    func refusalEvents() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            var events = context.events.makeAsyncIterator()
            let words = Data(#"[{"memberNames":["Text"],"errorMessage":"'secret' is too long."}]"#.utf8)
            let refusal = EmulatorResponse(400, headers: ["Content-Type": "application/json"], body: words)
            world.emulator.inject(.respond(refusal) { $0.method == "POST" })
            try await world.laptop.table.insert(["text": "secret"], id: "a")
            let error = try #require(try await context.push().failures.first)
            #expect(error.message.contains("secret"), "the user is told")
            var lines: [String] = []
            while lines.last?.hasPrefix("push ended") != true, let event = await events.next() {
                lines.append(event.logLine)
            }
            #expect(lines.contains("operation 1: insert in 'TodoItem' was refused (HTTP 400)"))
            #expect(!lines.joined().contains("secret"))
        }
    }

    @Test("events that a loop does not keep up with are lost from the oldest on: the newest come")
    func missedEvents() async {
        let events = SyncEvents()
        var iterator = events.makeAsyncIterator()
        for number in 0...SyncEvents.capacity { events.send(.pageApplied(table: "TodoItem", rows: number)) }
        var lines: [String] = []
        while lines.count < SyncEvents.capacity, let event = await iterator.next() { lines.append(event.logLine) }
        #expect(lines.first == "page of 'TodoItem' applied: 1 rows")
        #expect(lines.last == "page of 'TodoItem' applied: \(SyncEvents.capacity) rows")
    }

    @Test("events of pages count the rows that came, and those that went")
    func pageEvents() async throws {
        let remote = ScriptedRemote { _, number in
            let records = number == 1 ? [serverRow("a"), serverRow("b")] : [tombstone("a")]
            return PullPage(records: records, cursor: "\(number)")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        var events = context.events.makeAsyncIterator()
        for _ in 0..<2 { try await context.pull(Query("TodoItem")) }
        var counts: [Int] = []
        while counts.count < 2, let event = await events.next() {
            if case .pageApplied(_, let rows) = event { counts.append(rows) }
        }
        #expect(counts == [2, 1])
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
