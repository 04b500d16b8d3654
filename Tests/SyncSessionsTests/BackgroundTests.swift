import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A sync within a given time")
struct BackgroundTests {
    let emulator = SessionDevice.emulator()

    @Test("does everything when there is time, started or not")
    func complete() async throws {
        let other = try SessionDevice(emulator)
        try await other.add("bread", id: "b")
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        let report = try await device.session.sync(within: .seconds(25))
        #expect(report.isComplete)
        #expect(report.push.pushed == 1)
        #expect(report.pull.received == 1)
        #expect(device.session.state == .inactive)
        device.session.start()
        try await device.add("eggs")
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts() == ["milk", "bread", "eggs"])
        await device.session.close()
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(1)) }
        #expect(error?.code == .sessionEnded)
    }

    @Test("ends when the time is over, says so, and loses nothing")
    func tooLong() async throws {
        let device = try SessionDevice(emulator)
        for number in 0..<5 { try await device.add("\(number)") }
        let before = device.line.requests.count
        let line = device.line
        line.set { _ in line.requests.count > before + 2 ? .held : .answered }
        let syncing = Task { try await device.session.sync(within: .seconds(25)) }
        await line.requestsReach(before + 3)
        device.clock.advance(by: .seconds(25))
        let report = try await syncing.value
        #expect(!report.isComplete)
        #expect(report.push.pushed == 2)
        line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts().count == 5)
        await device.session.close()
    }

    @Test("sends nothing in a direction that is suspended")
    func suspended() async throws {
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        device.session.suspend(.upload)
        #expect(try await device.session.sync(within: .seconds(25)).push.pushed == 0)
        #expect(emulator.texts().isEmpty)
        device.session.suspend()
        let before = device.line.requests.count
        _ = try await device.session.sync(within: .seconds(25))
        #expect(device.line.requests.count == before)
        await device.session.close()
    }

    @Test("throws what the server says, and when its task is cancelled")
    func failure() async throws {
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        device.line.set(.unreachable)
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(25)) }
        #expect(error?.code == .pushAbortedNetwork)
        device.line.set(.held)
        let before = device.line.requests.count
        let syncing = Task { try await device.session.sync(within: .seconds(25)) }
        await device.line.requestsReach(before + 1)
        syncing.cancel()
        await #expect(throws: CancellationError.self) { _ = try await syncing.value }
        await device.session.close()
    }
}
