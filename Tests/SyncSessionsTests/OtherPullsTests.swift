import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A session that is started with other pulls than before", .timeLimit(.minutes(1)))
struct OtherPullsTests {
    let emulator = SessionDevice.emulator()

    @Test("asks for them at once, though those of before have failed for long")
    func heldBack() async throws {
        let device = try SessionDevice(emulator)
        device.line.set { $0.path.contains("TodoItem") ? .status(500) : .answered }
        device.session.start(keeping: [device.table])
        for wait in [1, 2, 4, 8] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(16) }
        device.session.start(keeping: [try device.context.table("Note")])
        try await device.session.wait(for: .download)
        #expect(device.session.error == nil && device.session.state == .active)
        await device.session.close()
    }

    @Test("tells the error all the same where everything is waited for")
    func offline() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        device.session.start(keeping: [try device.context.table("Note")])
        // The start has said that it is active, and the step behind the loading says what there is to wait for.
        await device.backsOff()
        #expect(device.session.error != nil)
        await device.session.close()
    }

    @Test("does not fail for one that is not kept any more")
    func refused() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.held)
        // The second one cannot be pulled: the engine orders by time.
        let wrong = SessionPull(Query("Note").ordered(by: "text"))
        device.session.start(keeping: [SessionPull(device.table), wrong])
        await device.line.requestsReach(1)
        device.session.start(keeping: [device.table])
        device.line.set(.answered)
        try await device.session.wait(for: .download)
        await device.session.workEnds()
        #expect(device.session.state == .active && device.session.error == nil)
        await device.session.close()
    }

    @Test("says of downloads that nothing is left, when nothing is due of them")
    func progress() async throws {
        let device = try SessionDevice(emulator)
        let tables = [device.table, try device.context.table("Note")]
        device.line.set { $0.path.contains("Note") ? .status(500) : .answered }
        device.session.start(keeping: tables)
        while device.session.error == nil { try await nextTurn() }
        await device.session.workEnds()
        #expect(device.session.running.withLock { $0.download.progressEstimate } == 0.5)
        device.session.start(keeping: [device.table])
        for await value in device.session.progress(for: .download, mode: .reportIndefinitely)
        where value.progressEstimate == 1 { break }
        await device.session.close()
    }
}
