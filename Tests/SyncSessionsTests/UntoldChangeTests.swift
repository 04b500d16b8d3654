import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("What a session must not miss", .timeLimit(.minutes(1)))
struct UntoldChangeTests {
    let emulator = SessionDevice.emulator()

    @Test("a change that is made while the session starts, whatever it has read of the store by then", arguments: 1...8)
    func atStart(_ number: Int) async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        let (session, context) = (device.session, device.context)
        let reads = Mutex(0)
        store.interrupt {
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            guard count == number else { return false }
            try await device.add("milk")
            await session.queueChanged(context)
            return true
        }
        session.start(keeping: [device.table])
        // Nothing else than the change is due before five minutes have passed.
        while !emulator.texts().contains("milk") {
            try await nextTurn()
            await session.workEnds()
            if device.clock.nextWaking.map({ $0 <= .seconds(1) }) ?? false { device.clock.advance(by: .seconds(1)) }
        }
        #expect(emulator.texts() == ["milk"])
        await session.close()
    }

    @Test("what a push that has ended early got done: whoever waits for that is told")
    func endedEarly() async throws {
        // A store that tells nobody of changes by itself.
        let device = try SessionDevice(emulator, InterruptedReads(try StoreSchema([todoTable, noteTable])))
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        device.line.set(.unreachable)
        try await device.add("a")
        device.session.sync(.upload)
        await device.backsOff()
        let waiting = Task { try await device.session.wait(for: .upload) }
        // Whoever waits from here on waits for the other one as well.
        while device.session.running.withLock({ $0.machine.waits.isEmpty }) { try await nextTurn() }
        try await device.add("c")
        let sent = Mutex(0)
        device.line.set { request in
            guard request.method == "POST" else { return .answered }
            let count = sent.withLock { sent in
                sent += 1
                return sent
            }
            return count > 1 ? .status(502) : .answered
        }
        device.clock.advance(by: .seconds(1))
        try await waiting.value
        #expect(emulator.texts() == ["a"])
        await device.session.close()
    }

    @Test(
        "a change that others have overtaken each time: it is sent again after a while, and nobody is told that it was answered"
    )
    func overtaken() async throws {
        try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        let emulator = emulator
        let isCalm = Mutex(false)
        device.line.set { request in
            // Nobody changes anything that the app knows of, so that this is no conflict.
            if request.method == "PUT", !isCalm.withLock({ $0 }) {
                do { try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem") } catch { Issue.record(error) }
            }
            return .answered
        }
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        let waiting = Task { try await device.session.wait(for: .upload) }
        await device.backsOff()
        #expect((device.session.error as? SyncError)?.code == .operationChanged)
        #expect(emulator.texts() == ["theirs"])
        isCalm.withLock { $0 = true }
        device.clock.advance(by: .seconds(1))
        try await waiting.value
        #expect(emulator.texts() == ["mine"])
        await device.session.workEnds()
        while device.session.error != nil { try await nextTurn() }
        await device.session.close()
    }

    @Test("that the service has answered: it is connected although the server fails on a change")
    func connected() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        device.line.set { $0.method == "POST" ? .status(500) : .answered }
        try await device.add("milk")
        device.session.sync(.upload)
        await device.backsOff()
        #expect(device.session.connectionState == .connected)
        await device.session.close()
    }

    @Test("that nothing is left: progress is 1 when no pull is due after a restart")
    func progress() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        again.session.start(keeping: [again.table])
        for await progress in again.session.progress(for: .both, mode: .reportIndefinitely)
        where progress.progressEstimate == 1 { break }
        #expect(again.line.requests.isEmpty)
        await again.session.close()
    }

    @Test("the end of its context: sequences of a session that was never started end with that")
    func gone() async throws {
        var device: SessionDevice? = try SessionDevice(emulator)
        let states = try #require(device).session.states
        let connections = try #require(device).session.connectionStates
        let progress = try #require(device).session.progress(for: .download, mode: .reportIndefinitely)
        device = nil
        for await _ in states {}
        for await _ in connections {}
        for await _ in progress {}
    }

    @Test("a change, for all the rows of a long pull: it is sent between two pages", arguments: [false, true])
    func betweenPages(_ reconciles: Bool) async throws {
        try emulator.seed((0..<40).map { ["id": .string("r\($0)"), "text": .string("r\($0)")] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        let count = device.line.requests.count
        device.line.set { [line = device.line] request in
            line.requests.count > count + 3 ? .held : .answered
        }
        let options = PullOptions(reconciles: reconciles, pageSize: 2)
        device.session.start(keeping: [SessionPull(device.table, options: options)])
        await device.line.requestsReach(count + 4)
        try await device.add("milk", id: "m")
        let waiting = Task { try await device.session.wait(for: .upload) }
        while device.session.running.withLock({ $0.machine.pushDue != $0.machine.lastSign }) {
            try await nextTurn()
        }
        device.line.set(.answered)
        try await waiting.value
        let requests = device.line.requests
        let sent = try #require(requests.firstIndex { $0.hasPrefix("POST") })
        #expect(sent < count + 9, "\(requests)")
        try await device.session.wait(for: .download)
        #expect(try await device.store.read(Query("TodoItem")).records.count == 41)
        #expect(device.line.requests.count { $0.hasPrefix("POST") } == 1)
        await device.session.close()
    }

    @Test("that the pull is to come first: then the change waits for all of it")
    func pullFirst() async throws {
        try emulator.seed((0..<12).map { ["id": .string("r\($0)"), "text": .string("r\($0)")] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        device.line.set { [line = device.line] request in line.requests.count > 2 ? .held : .answered }
        let options = PullOptions(order: .pullFirst, pageSize: 2)
        device.session.start(keeping: [SessionPull(device.table, options: options)])
        await device.line.requestsReach(3)
        try await device.add("milk", id: "m")
        let waiting = Task { try await device.session.wait(for: .upload) }
        while device.session.running.withLock({ $0.waiters.isEmpty }) { try await nextTurn() }
        device.line.set(.answered)
        try await waiting.value
        let requests = device.line.requests
        let sent = try #require(requests.firstIndex { $0.hasPrefix("POST") })
        #expect(requests[..<sent].count { $0.hasPrefix("GET") } >= 7, "\(requests)")
        await device.session.close()
    }
}
