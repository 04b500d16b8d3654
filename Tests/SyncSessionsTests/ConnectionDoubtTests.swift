import DatasyncEmulator
import Observation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// There is no socket that stays: what is said of the connection is what the last answer has shown, and for how long none
/// has come.
@Suite("A connection of which nothing is heard")
struct ConnectionDoubtTests {
    let emulator = SessionDevice.emulator()

    @Test("is connecting after five seconds without an answer, not before, and connected with the next answer")
    func silent() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        #expect(device.session.connectionState == .connected)
        device.line.set(.held)
        let before = device.line.requests.count
        device.session.serverChanged()
        await device.line.requestsReach(before + 1)
        await device.clock.sleeperComes { $0 == .seconds(5) }
        device.clock.advance(by: .seconds(4))
        #expect(device.session.connectionState == .connected)
        device.clock.advance(by: .seconds(1))
        await device.connection(.connecting)
        #expect(device.session.state == .active)
        device.line.set(.answered)
        await device.connection(.connected)
        await device.session.close()
    }

    @Test("is disconnected when the request ends without one")
    func timedOut() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        device.line.set(.held)
        let before = device.line.requests.count
        let states = device.session.connectionStates
        device.session.serverChanged()
        await device.line.requestsReach(before + 1)
        await device.clock.sleeperComes { $0 == .seconds(5) }
        device.clock.advance(by: .seconds(5))
        await device.connection(.connecting)
        device.line.set(.unreachable)
        await device.backsOff()
        await device.session.close()
        var seen: [SyncSession.ConnectionState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.connected, .connecting, .disconnected])
    }

    @Test("stays connected through long work of which each page comes in time")
    func longWork() async throws {
        let other = try SessionDevice(emulator)
        for number in 0..<100 { try await other.add("\(number)") }
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        let (line, clock) = (device.line, device.clock)
        line.set { _ in
            clock.advance(by: .seconds(2))
            return .answered
        }
        let states = device.session.connectionStates
        device.session.start(keeping: [SessionPull(device.table, options: PullOptions(pageSize: 10))])
        try await device.session.wait(for: .download)
        await device.session.close()
        var seen: [SyncSession.ConnectionState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.disconnected, .connecting, .connected, .disconnected])
        #expect(line.requests.count > 10)
    }

    /// Each step is told by the thread that made it, and one may be overtaken.
    @Test("is told of each state in its order, also where a thread tells of a later one first")
    func overtaken() async throws {
        let device = try SessionDevice(emulator)
        let before = device.session.connectionStates
        device.session.publish(SyncSession.Status(connection: .connected), nil, 2)
        #expect(device.session.connectionState == .connected)
        let between = device.session.connectionStates
        device.session.publish(SyncSession.Status(connection: .connecting), nil, 1)
        #expect(device.session.connectionState == .connected)
        device.session.publish(SyncSession.Status(state: .closed), nil, 3)
        var seen: [SyncSession.ConnectionState] = []
        for await state in before { seen.append(state) }
        #expect(seen == [.disconnected, .connecting, .connected, .disconnected])
        seen = []
        for await state in between { seen.append(state) }
        #expect(seen == [.connected, .disconnected])
    }

    /// One thread is between telling that a property will be another one and setting it, another one sets it twice.
    @Test("observers are told of a state that one thread sets while another one sets a later one")
    func toldBetween() async throws {
        let session = try SessionDevice(emulator).session
        let told = Mutex(0)
        session.publish(SyncSession.Status(state: .active, connection: .connected), nil, 1)
        withObservationTracking {
            _ = session.state
        } onChange: {
            session.publish(SyncSession.Status(state: .active, connection: .disconnected), nil, 2)
            withObservationTracking {
                #expect(session.connectionState == .disconnected)
            } onChange: {
                told.withLock { $0 += 1 }
            }
        }
        session.publish(SyncSession.Status(state: .suspended, connection: .connected), nil, 3)
        #expect(session.connectionState == .connected)
        #expect(told.withLock { $0 } == 1)
    }

    @Test("observers that read while a state is being set are told of it once more")
    func readBetween() async throws {
        let session = try SessionDevice(emulator).session
        let told = Mutex(0)
        withObservationTracking {
            _ = session.state
        } onChange: {
            withObservationTracking {
                #expect(session.state == .inactive)
            } onChange: {
                told.withLock { $0 += 1 }
            }
        }
        session.publish(SyncSession.Status(state: .active), nil, 1)
        #expect(told.withLock { $0 } == 1)
    }
}
