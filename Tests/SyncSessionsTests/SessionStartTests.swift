import DatasyncEmulator
import Foundation
import OfflineSync
import SyncContract
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("When a session syncs")
struct SessionStartTests {
    let emulator = SessionDevice.emulator()

    @Test("nothing is sent before it is started, and waits end with an error")
    func inactive() async throws {
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        #expect(device.session.state == .inactive)
        #expect(device.session.connectionState == .disconnected)
        #expect(await device.session.reconnect() == .notStarted)
        for direction in [SyncDirection.upload, .download, .both] {
            let error = await #expect(throws: SyncError.self) { try await device.session.wait(for: direction) }
            #expect(error?.code == .sessionEnded)
        }
        #expect(device.line.requests.isEmpty)
        await device.session.close()
    }

    @Test("the start sends what waits and brings what is there")
    func start() async throws {
        let other = try SessionDevice(emulator)
        try await other.add("bread", id: "b")
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        device.session.start()
        #expect(device.session.state == .active)
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["milk", "bread"])
        #expect(try await device.table.read("b")?["text"] == "bread")
        #expect(device.session.connectionState == .connected)
        #expect(device.session.error == nil)
        await device.session.close()
    }

    @Test(
        "a start, and a sync within a given time, settle what a push that was cancelled left to the next",
        arguments: [true, false]
    )
    func settles(_ isStarted: Bool) async throws {
        let (other, device) = (try SessionDevice(emulator), try SessionDevice(emulator))
        try await device.add("milk", id: "a")
        _ = try await device.context.push()
        _ = try await other.table.pull()
        try await other.table.update(Record(id: "a", ["text": "theirs"]))
        _ = try await other.context.push()
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        device.context.conflictPolicy = .merge { _ in
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            throw CancellationError()
        }
        let push = Task { try await device.context.push() }
        await #expect(throws: CancellationError.self) { _ = try await push.value }
        #expect(try await device.context.status().conflicts == 1)
        device.context.conflictPolicy = .serverWins
        if isStarted {
            device.session.start()
            try await device.session.wait(for: .both)
        } else {
            #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        }
        #expect(try await device.context.operationErrors().isEmpty)
        #expect(try await device.table.read("a")?["text"] == "theirs")
        await device.session.close()
    }

    @Test("local changes go together when none has come for a moment, and nothing else is sent")
    func localChange() async throws {
        let device = try SessionDevice(emulator)
        device.session.start()
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        try await device.add("milk")
        await device.clock.sleeperComes { $0 == .milliseconds(500) }
        device.clock.advance(by: .milliseconds(300))
        try await device.add("bread")
        #expect(device.line.requests.count == before)
        device.clock.advance(by: .milliseconds(200))
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk", "bread"])
        #expect(device.line.requests.count == before + 2, "\(device.line.requests)")
        await device.session.close()
    }

    @Test("asks for news when the interval has passed, and not before")
    func interval() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table], options: SessionOptions(pullInterval: .seconds(60)))
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        await device.clock.sleeperComes { $0 == .seconds(60) }
        device.clock.advance(by: .seconds(59))
        #expect(device.line.requests.count == before)
        device.clock.advance(by: .seconds(1))
        await device.line.requestsReach(before + 1)
        await device.clock.sleeperComes { $0 == .seconds(60) }
        #expect(device.line.requests.count == before + 1, "an idle pull is one request")
        await device.session.close()
    }

    @Test("what was pulled a moment ago is not pulled at the next start, but when its time comes")
    func recentPull() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table], options: SessionOptions(pullInterval: .seconds(60)))
        try await device.session.wait(for: .download)
        #expect(try await device.session.lastCompletePull(of: device.table) != nil)
        #expect(try await device.session.lastCompletePull(of: Query("Note")) == nil)
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        again.clock.advance(by: .seconds(20))
        again.session.start(keeping: [again.table], options: SessionOptions(pullInterval: .seconds(60)))
        await again.clock.sleeperComes { (.seconds(39)...(.seconds(41))).contains($0) }
        #expect(again.line.requests.isEmpty)
        await again.session.close()
    }

    @Test("news of a table brings that table only")
    func news() async throws {
        let device = try SessionDevice(emulator)
        device.session.start()
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        device.session.serverChanged(tables: ["Note"])
        await device.line.requestsReach(before + 1)
        await device.clock.sleeperComes { $0 <= .seconds(300) }
        let sent = device.line.requests.dropFirst(before)
        #expect(sent.count == 1 && sent.allSatisfy { $0.contains("/note") || $0.contains("/Note") }, "\(sent)")
        await device.session.close()
    }

    @Test("news that comes while a pull is under way is asked for again")
    func newsMeanwhile() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        await device.line.requestsReach(1)
        device.session.serverChanged()
        device.line.set(.answered)
        await device.line.requestsReach(2)
        await device.session.close()
    }

    @Test("another start changes what is kept")
    func otherPulls() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        device.session.start(keeping: [SessionPull(Query("Note"), queryID: "mine")])
        try await device.session.wait(for: .download)
        #expect(device.line.requests.dropFirst(before).allSatisfy { $0.lowercased().contains("note") })
        let kept = SessionPull(Query("Note"), queryID: "mine")
        #expect(try await device.session.lastCompletePull(of: kept) != nil)
        #expect(try await device.session.lastCompletePull(of: Query("Note")) == nil)
        await device.session.close()
    }

    @Test("closing the store ends the session and its sequences")
    func storeCloses() async throws {
        let device = try SessionDevice(emulator)
        device.session.start()
        var states: [SyncSession.State] = []
        try await device.session.wait(for: .download)
        await device.session.close()
        for await state in device.session.states { states.append(state) }
        #expect(states == [.closed])
        let error = await #expect(throws: SyncError.self) { try await device.session.wait(for: .upload) }
        #expect(error?.code == .sessionEnded)
        device.session.start()
        #expect(device.session.state == .closed)
    }
}
