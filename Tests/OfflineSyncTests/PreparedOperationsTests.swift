import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// The clock stands still: as many are prepared at a time as there can be.
@Suite("Operations that are prepared several at a time", .timeLimit(.minutes(3)))
struct PreparedOperationsTests {
    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>

    init() throws {
        store = try makeStore()
        context = Self.context(store, server)
        todos = try context.table("TodoItem")
    }

    private static func context(
        _ store: any SyncContextDataSource,
        _ server: any SyncRemote,
        parallel: Int = 1
    ) -> SyncContext {
        SyncContext(
            store: store,
            remote: server,
            options: SyncOptions(parallelOperations: parallel),
            clock: ManualClock()
        )
    }

    private func insert(_ ids: some Sequence<Int>) async throws {
        for id in ids { try await todos.insert(["text": "milk"], id: "\(id)") }
    }

    private func attempted() async throws -> [String] {
        try await context.operations().filter(\.isAttempted).map(\.itemID)
    }

    @Test("take a tenth of a transaction each, and leave in their order", arguments: [1, 8], [false, true])
    func transactions(_ parallel: Int, _ isGroup: Bool) async throws {
        if isGroup {
            let todos = todos
            try await context.write { tx in
                for id in 1...512 { try tx.insert(["text": "milk"], id: "\(id)", into: todos) }
            }
        } else {
            try await insert(1...512)
        }
        let writes = Mutex(0)
        let counted = FaultyStore(store) { call in
            if call.writes { writes.withLock { $0 += 1 } }
            return nil
        }
        // Here time does pass: with a clock that stands still no answer waits for others.
        let options = SyncOptions(parallelOperations: parallel)
        let context = SyncContext(store: counted, remote: server, options: options, clock: SleepingClock())
        #expect(try await context.push().pushed == 512)
        // Windows of one, one, two, four and so on up to 256, and the look that finds no more.
        if parallel == 1 { #expect(writes.withLock { $0 } == 11) } else { #expect(writes.withLock { $0 } < 20) }
        if parallel == 1 || isGroup { #expect(server.begun == (1...512).map(String.init)) }
        #expect(try await self.context.operations().isEmpty)
    }

    @Test("are chosen in the transaction that records the answers to those before them")
    func lastAnswers() async throws {
        try await insert(1...7)
        let writes = Mutex(0)
        let counted = FaultyStore(store) { call in
            if call.writes { writes.withLock { $0 += 1 } }
            return nil
        }
        let context = SyncContext(store: counted, remote: server, clock: SleepingClock())
        #expect(try await context.push().pushed == 7)
        // One, one, two, three, and the look that finds no more.
        #expect(writes.withLock { $0 } == 5)
        #expect(try await self.context.operations().isEmpty)
    }

    @Test("are chosen in time for the answers before them, from a server that takes its time")
    func lateAnswers() async throws {
        try await insert(1...8)
        let clock = SleepingClock()
        // Windows of one, one, two, and then four, which take 80 ms.
        let first: Set = ["1", "2", "3", "5"]
        server.script = { [context] id in
            // The first answer of a window has somebody wait for those after it, unless it is recorded at once.
            while !first.contains(id), !clock.hasSleeper, try await context.operations().first?.itemID != id {
                await Task.yield()
            }
            clock.advance(by: .milliseconds(20))
        }
        #expect(try await SyncContext(store: store, remote: server, clock: clock).push().pushed == 8)
        #expect(!clock.hasOverslept)
    }

    @Test("are chosen and the answers recorded when the transaction for both fails once", arguments: 2...5)
    func failingOnce(_ number: Int) async throws {
        try await insert(1...7)
        let writes = Mutex(0)
        let faulty = FaultyStore(store) { call in
            guard call.writes else { return nil }
            let count = writes.withLock { writes in
                writes += 1
                return writes
            }
            return count == number ? .fails(.beforeClosure) : nil
        }
        let context = SyncContext(store: faulty, remote: server, clock: SleepingClock())
        do {
            #expect(try await context.push().pushed == 7)
        } catch let error as StoreError where error.code == .inputOutput && number > 3 {
            // From the window of two on what follows is chosen while a request is under way, so that there may be no answer yet to
            // be recorded with it. Alone it is tried once, as every choice: the push ends, and the next one goes on.
            #expect(try await context.push().notTaken.isEmpty)
        }
        #expect(server.begun == (1...7).map(String.init))
        #expect(try await self.context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test(
        "are sent once each after a kill at any transaction, before they left or before their answers were recorded",
        arguments: StoreFault.Moment.allCases,
        [1, 8]
    )
    func kills(_ moment: StoreFault.Moment, _ parallel: Int) async throws {
        for number in 1... {
            let server = GroupServer()
            let store = try makeStore()
            let writer = Self.context(store, server)
            let todos = try writer.table("TodoItem")
            for id in 1...40 { try await todos.insert(["text": "milk"], id: "\(id)") }
            // Nothing is stored any more after the kill.
            let killed = FaultyStore(store) { call in
                call.number < number ? nil : .fails(call.number == number ? moment : .beforeClosure)
            }
            do {
                _ = try await Self.context(killed, server, parallel: parallel).push()
                // It asks the store no more often than that.
                #expect(number > 8)
                break
            } catch is StoreError {
                // The kill that was planned.
            }
            try await todos.update(Record(id: "30", ["text": "bread"]))
            try await todos.delete("40")
            #expect(try await Self.context(store, server, parallel: parallel).push().notTaken.isEmpty)
            let expected = (1...39).map { ("\($0)", $0 == 30 ? "bread" : "milk") }
            #expect(server.texts == Dictionary(uniqueKeysWithValues: expected), "killed at call \(number)")
            #expect(try await writer.operations().isEmpty)
            for id in (1...39) where id != 30 {
                #expect(server.written.count { $0 == "\(id)" } == 1, "killed at call \(number)")
            }
            #expect(try await store.verifyQueue().isEmpty)
        }
    }

    @Test("are sent as they are when their turn comes, whichever context has changed them", arguments: [false, true])
    func changed(_ byOther: Bool) async throws {
        try await insert(1...20)
        let changing = byOther ? Self.context(store, server) : context
        let table = try changing.table("TodoItem")
        let shown = Mutex<[Bool]>([])
        server.script = { id in
            guard id == "9" else { return }
            let waiting = try await changing.operations().filter { ["9", "10", "15"].contains($0.itemID) }
            shown.withLock { $0 = waiting.map(\.isAttempted) }
            try await table.update(Record(id: "10", ["text": "bread"]))
            try await table.delete("11")
            try await table.revert("12")
            try await table.delete("13")
            try await table.undoDelete("13")
            try await changing.write { tx in
                for id in ["15", "14"] { try tx.update(Record(id: .string(id), ["text": "eggs"]), in: table) }
            }
        }
        #expect(try await context.push().pushed == 18)
        #expect(shown.withLock { $0 } == [true, true, true], "they were prepared")
        let first = (1...10).map(String.init)
        #expect(server.begun == first + ["13", "15", "14"] + (16...20).map(String.init))
        #expect(server.texts["10"] == "bread" && server.texts["13"] == "milk" && server.texts["14"] == "eggs")
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("do not count as sent when the push is cancelled, but for those that were under way", arguments: [1, 4])
    func cancelled(_ parallel: Int) async throws {
        try await insert(1...40)
        let (store, server) = (store, server)
        let push = Mutex<Task<PushReport, any Error>?>(nil)
        let underWay = Mutex<Set<String>>([])
        server.script = { id in
            guard Int(id) ?? 0 >= 9 else { return }
            underWay.withLock { _ = $0.insert(id) }
            push.withLock { $0?.cancel() }
            while !Task.isCancelled { await Task.yield() }
            throw CancellationError()
        }
        push.withLock { $0 = Task { try await Self.context(store, server, parallel: parallel).push() } }
        let task = try #require(push.withLock { $0 })
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await Set(attempted()) == underWay.withLock { $0 })
        try await expectNothingIsShownAsUnderWay()
        // An insert that nobody has heard of and its deletion cancel each other.
        try await todos.delete("40")
        #expect(try await !context.operations().contains { $0.itemID == "40" })
    }

    @Test("do not count as sent when the server asks who it is, and leave in their order later", arguments: [1, 4])
    func unauthorized(_ parallel: Int) async throws {
        try await insert(1...40)
        let isSignedIn = Switch()
        server.script = { [server] id in
            guard Int(id) ?? 0 >= 9, !isSignedIn.isOn else { return }
            // Those before it may leave later: the answer would keep them from that.
            while server.written.count < 8 { await Task.yield() }
            throw RemoteError(.unauthorized, "who", status: 401)
        }
        let context = Self.context(store, server, parallel: parallel)
        let code = try await syncErrorCode { _ = try await context.push() }
        #expect(code == .pushAbortedAuthentication)
        #expect(try await attempted() == [])
        try await expectNothingIsShownAsUnderWay()
        isSignedIn.isOn = true
        #expect(try await context.push().pushed == 40 - 8)
        #expect(server.written.count == 40)
        if parallel == 1 { #expect(server.written == (1...40).map(String.init)) }
    }

    @Test("do not count as sent when the delegate stops the push")
    func delegate() async throws {
        try await insert(1...20)
        let delegate = StoppingDelegate()
        context.delegate = delegate
        await #expect(throws: StoppingDelegate.Stopped.self) { _ = try await context.push() }
        #expect(server.begun == (1...8).map(String.init))
        #expect(try await attempted() == [])
        try await expectNothingIsShownAsUnderWay()
    }

    @Test("stay behind what was refused before them in their group, and do not count as sent")
    func refused() async throws {
        let todos = todos
        try await context.write { tx in
            for id in 1...20 { try tx.insert(["text": "milk"], id: "\(id)", into: todos) }
        }
        try await insert(21...22)
        server.script = { id in if id == "9" { throw RemoteError(.refused, "no", status: 400) } }
        #expect(try await context.push().failures.map(\.itemID) == ["9"])
        #expect(server.begun == (1...9).map(String.init) + ["21", "22"])
        #expect(try await attempted() == [])
        try await expectNothingIsShownAsUnderWay()
    }

    @Test("answers are recorded while the next request is under way")
    func recordedMeanwhile() async throws {
        try await insert(1...2)
        server.script = { [context] id in
            guard id == "2" else { return }
            while try await context.operations().count > 1 { await Task.yield() }
        }
        #expect(try await context.push().pushed == 2)
    }

    @Test("answers that came are recorded, also when the push was cancelled before", arguments: [1, 4])
    func answeredAfterCancelling(_ parallel: Int) async throws {
        try await insert(1...10)
        let (store, server) = (store, server)
        let push = Mutex<Task<PushReport, any Error>?>(nil)
        server.script = { _ in push.withLock { $0?.cancel() } }
        push.withLock { held in
            held = Task { try await Self.context(store, server, parallel: parallel).push() }
        }
        let task = try #require(push.withLock { $0 })
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!server.written.isEmpty)
        #expect(try await context.operations().count == 10 - server.written.count)
        #expect(try await attempted() == [])
    }

    private func expectNothingIsShownAsUnderWay() async throws {
        let marks = try await store.read(Query(SystemTables.operations.name)).records.map { $0["push"] ?? .null }
        #expect(marks.allSatisfy { $0 == .null })
    }
}

/// Stops a push at its ninth operation.
private final class StoppingDelegate: SyncContextDelegate {
    struct Stopped: Error {}

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        if operation.itemID == "9" { throw Stopped() }
    }
}

/// A clock that stands still until a test moves it, and whose sleepers are woken only when they are cancelled.
final class SleepingClock: Clock, Sendable {
    private let clock = ManualClock()
    private let state = Mutex((sleepers: 0, hasOverslept: false))

    var hasSleeper: Bool { state.withLock { $0.sleepers > 0 } }

    /// Whether somebody was cancelled later than they wanted to be woken.
    var hasOverslept: Bool { state.withLock(\.hasOverslept) }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    var now: ManualClock.Instant { clock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        // Nothing is ever sent; it ends when the task is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        state.withLock { $0.sleepers += 1 }
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            state.withLock { state in
                state.sleepers -= 1
                if now > deadline { state.hasOverslept = true }
            }
        }
        continuation.finish()
        throw CancellationError()
    }
}
