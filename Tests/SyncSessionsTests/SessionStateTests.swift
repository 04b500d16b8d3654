import DatasyncEmulator
import Foundation
import Observation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("What a session is at")
struct SessionStateTests {
    let emulator = SessionDevice.emulator()

    @Test("suspended sends nothing, also after a restart; resuming syncs at once")
    func sticky() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        device.session.suspend()
        #expect(device.session.state == .suspended)
        #expect(device.session.connectionState == .disconnected)
        #expect(device.session.suspended == .both)
        await device.session.close()

        let again = try SessionDevice(emulator, device.store)
        try await again.add("milk")
        again.session.start(keeping: [again.table])
        await again.state { $0 == .suspended }
        again.session.serverChanged()
        again.session.sync()
        again.reachability.change(to: true)
        #expect(await again.session.reconnect() == .suspended)
        again.clock.advance(by: .seconds(3_600))
        #expect(again.line.requests.isEmpty)
        again.session.resume()
        try await again.session.wait(for: .both)
        #expect(emulator.texts() == ["milk"])
        await again.session.close()

        let third = try SessionDevice(emulator, device.store)
        third.session.start(keeping: [third.table])
        try await third.session.wait(for: .download)
        #expect(third.session.suspended == [])
        await third.session.close()
    }

    @Test("whoever follows what is suspended hears of each change, in order, and of the end")
    func suspensions() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let suspensions = device.session.suspensions
        for _ in 0..<20 {
            device.session.suspend()
            device.session.resume(.upload)
            device.session.resume()
        }
        await device.session.close()
        var told: [SyncDirection] = []
        for await suspended in suspensions { told.append(suspended) }
        #expect(told.first == [])
        #expect(Array(told.dropFirst()) == (0..<20).flatMap { _ in [SyncDirection.both, .download, []] })
    }

    @Test("reconnecting says that it was tried, though the attempt has failed by the time it looks")
    func failedAtOnce() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        device.line.set(.held)
        let session = device.session
        // It is told within the call, as soon as the attempt has begun, which ends there and then.
        withObservationTracking {
            _ = session.state
        } onChange: {
            session.send(.ended(.temporary(name: "unreachable", wait: nil, isAnswer: false), random: 0))
        }
        #expect(await session.reconnect() == .tried)
        await session.close()
    }

    @Test(
        "reconnecting returns when the attempt has ended, though the next one follows it at once",
        .timeLimit(.minutes(1))
    )
    func followedAtOnce() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        let session = device.session
        device.line.set { _ in
            session.sync()
            return .answered
        }
        #expect(await session.reconnect() == .tried)
        device.line.set(.answered)
        try await session.wait(for: .both)
        await session.close()
    }

    @Test("what is suspended or resumed before the start counts")
    func beforeStart() async throws {
        let device = try SessionDevice(emulator)
        device.session.suspend(.download)
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        again.session.resume(.download)
        again.session.suspend(.upload)
        again.session.start(keeping: [again.table])
        try await again.session.wait(for: .download)
        #expect(again.session.suspended == .upload)
        await again.session.close()
    }

    @Test("suspending ends the request under way in that direction, and leaves another session running")
    func inFlight() async throws {
        let (device, other) = (try SessionDevice(emulator), try SessionDevice(emulator))
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        other.session.start(keeping: [other.table])
        await device.line.requestsReach(1)
        device.session.suspend()
        try await other.session.wait(for: .download)
        device.line.set(.answered)
        device.session.resume()
        try await device.session.wait(for: .download)
        for device in [device, other] { await device.session.close() }
    }

    @Test("waits 1 s, 2 s, 4 s after the same failure, from 1 s on after another, and the server's time wins")
    func backoff() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        for wait in [1, 2, 4] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            await device.connection(.disconnected)
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(8) }
        device.line.set(.status(503))
        device.clock.advance(by: .seconds(8))
        await device.clock.sleeperComes { $0 == .seconds(1) }
        // The service has answered, though not as one would like.
        await device.connection(.connected)
        device.line.set(.status(503, headers: ["Retry-After": "900"]))
        device.clock.advance(by: .seconds(1))
        await device.clock.sleeperComes { $0 == .seconds(900) }
        // Neither the network nor a change shortens what the server has set.
        device.reachability.change(to: true)
        try await device.add("milk")
        let until = Date(timeIntervalSince1970: 1_800_000_000 + 1 + 2 + 4 + 8 + 1 + 900)
        await device.state { $0 == .backingOff(until: until) }
        device.line.set(.answered)
        #expect(await device.session.reconnect() == .tried)
        try await device.session.wait(for: .both)
        await device.session.close()
    }

    @Test("another network ends the wait after a failure")
    func network() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        for wait in [1, 2, 4] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(8) }
        device.line.set(.answered)
        device.reachability.change(to: true)
        try await device.session.wait(for: .download)
        // The next failure is waited for from the beginning again.
        device.line.set(.unreachable)
        device.session.sync(.download)
        await device.clock.sleeperComes { $0 == .seconds(1) }
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .download)
        device.line.set(.unreachable)
        device.session.sync(.download)
        await device.clock.sleeperComes { $0 == .seconds(1) }
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .download)
        device.reachability.change(to: false)
        await device.connection(.disconnected)
        #expect(device.session.state == .active, "a hint, not a gate")
        try await device.session.wait(for: .download)
        #expect(device.session.connectionState == .connected)
        await device.session.close()
    }

    @Test("what nothing but the app can mend is not tried again before another start", arguments: [400, 404])
    func permanent(_ status: Int) async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.status(status))
        device.session.start(keeping: [device.table])
        await device.state { $0 == .failed }
        let before = device.line.requests.count
        device.clock.advance(by: .seconds(3_600))
        device.session.sync()
        device.session.serverChanged()
        try await device.add("milk")
        #expect(await device.session.reconnect() == .failedForGood)
        #expect(device.line.requests.count == before)
        device.line.set(.answered)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        #expect(device.session.error == nil)
        await device.session.close()
    }

    @Test("without credentials it waits for them, and goes on by itself", arguments: [401, 403])
    func credentials(_ status: Int) async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.status(status))
        device.session.start(keeping: [device.table])
        await device.state { $0 == .waitingForCredentials }
        await device.clock.sleeperComes { $0 == .seconds(1) }
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        await device.state { $0 == .active }
        try await device.session.wait(for: .download)
        await device.session.close()
    }

    @Test("is waited for by nobody once it is closed, whatever was under way", .timeLimit(.minutes(1)))
    func waitedForAfterTheEnd() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        await device.line.requestsReach(1)
        await device.session.close()
        await device.session.workEnds()
        #expect(await device.session.reconnect() == .notStarted)
    }

    @Test("says what reconnecting did")
    func reconnect() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        #expect(await device.session.reconnect() == .tried)
        await device.backsOff()
        await device.clock.sleeperComes { $0 == .seconds(1) }
        device.line.set(.answered)
        #expect(await device.session.reconnect() == .tried)
        #expect(device.session.connectionState == .connected)
        #expect(await device.session.reconnect() == .nothingToDo)
        device.line.set(.held)
        let before = device.line.requests.count
        device.session.serverChanged()
        await device.line.requestsReach(before + 1)
        let reconnecting = Task { await device.session.reconnect() }
        reconnecting.cancel()
        #expect(await reconnecting.value == .alreadyConnecting, "whoever is cancelled does not wait for its end")
        device.line.set(.answered)
        await device.session.close()
        #expect(await device.session.reconnect() == .notStarted)
    }

    @Test("reconnecting right after another start tries at once, too", .timeLimit(.minutes(1)))
    func reconnectAfterStart() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.status(503, headers: ["Retry-After": "900"]))
        device.session.start(keeping: [device.table])
        await device.clock.sleeperComes { $0 == .seconds(900) }
        device.line.set(.answered)
        device.session.start(keeping: [device.table])
        let reconnection = await device.session.reconnect()
        #expect([.tried, .alreadyConnecting].contains(reconnection))
        try await device.session.wait(for: .download)
        #expect(device.session.error == nil)
        await device.session.close()
    }

    @Test("states come in order as a sequence, which ends with the session")
    func sequence() async throws {
        let device = try SessionDevice(emulator)
        let states = device.session.states
        let connections = device.session.connectionStates
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        device.session.suspend()
        device.session.resume()
        await device.session.close()
        var seen: [SyncSession.State] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.inactive, .active, .suspended, .active, .closed])
        var connected: [SyncSession.ConnectionState] = []
        for await state in connections { connected.append(state) }
        #expect(connected.prefix(4) == [.disconnected, .connecting, .connected, .disconnected])
    }

    @Test("observers are told of each part")
    func observation() async throws {
        let device = try SessionDevice(emulator)
        let session = device.session
        let told = Mutex<Set<String>>([])
        withObservationTracking {
            _ = session.state
        } onChange: {
            told.withLock { _ = $0.insert("state") }
        }
        withObservationTracking {
            _ = session.suspended
        } onChange: {
            told.withLock { _ = $0.insert("suspended") }
        }
        session.suspend(.upload)
        #expect(told.withLock { $0 } == ["suspended"])
        // Nothing is known of the connection before there is an answer.
        device.line.set(.held)
        session.start(keeping: [device.table])
        #expect(told.withLock { $0 } == ["suspended", "state"])
        await device.line.requestsReach(1)
        withObservationTracking {
            _ = session.connectionState
        } onChange: {
            told.withLock { _ = $0.insert("connection") }
        }
        device.line.set(.answered)
        try await session.wait(for: .download)
        #expect(told.withLock { $0 }.contains("connection"))
        withObservationTracking {
            _ = session.error
        } onChange: {
            told.withLock { _ = $0.insert("error") }
        }
        device.line.set(.unreachable)
        session.sync(.download)
        await device.backsOff()
        #expect(session.error is SyncError && told.withLock { $0 }.contains("error"))
        await session.close()
    }
}
