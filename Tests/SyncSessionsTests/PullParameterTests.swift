import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A session with a pull whose parameters are the protocol's own", .timeLimit(.minutes(1)))
struct PullParameterTests {
    @Test("asks nothing for it and says why, makes the others and sends changes")
    func refused() async throws {
        let emulator = SessionDevice.emulator()
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        let wrong = SessionPull(device.table, options: PullOptions(parameters: ["$filter": "x"]))
        device.session.start(keeping: [wrong, try device.context.table("Note")])
        await device.clock.sleeperComes { $0 == .seconds(1) }
        // The clock is set first.
        while device.session.error == nil { try await nextTurn() }
        #expect((device.session.error as? SyncError)?.code == .invalidParameter)
        #expect(!device.line.requests.contains { $0.hasPrefix("GET") && $0.contains("TodoItem") })
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"])
        #expect(try await device.store.read(table: "Note", itemID: "n")?["text"] == "note")
        await device.session.close()
    }

    @Test(
        "says nothing of the service by it, and nothing of a pull beside it that something in front of the service answers",
        arguments: [true, false]
    )
    func besideABrokenOne(isFirst: Bool) async throws {
        let device = try SessionDevice(SessionDevice.emulator())
        device.line.set(.status(200, headers: ["Content-Type": "text/html"]))
        let wrong = SessionPull(device.table, options: PullOptions(parameters: ["$filter": "x"]))
        let note = SessionPull(try device.context.table("Note"))
        let states = device.session.connectionStates
        device.session.start(keeping: isFirst ? [wrong, note] : [note, wrong])
        await device.clock.sleeperComes { $0 == .seconds(1) }
        while device.session.error == nil { try await nextTurn() }
        let obstacles = device.session.running.withLock { $0.machine.pulls.map { $0.obstacle != nil } }
        #expect(obstacles == (isFirst ? [true, false] : [false, true]))
        await device.session.close()
        for await state in states { #expect(state != .connected) }
    }

    @Test("takes what is refused here for no answer of the service")
    func offline() async throws {
        let device = try SessionDevice(SessionDevice.emulator())
        device.line.set(.unreachable)
        let wrong = SessionPull(device.table, options: PullOptions(parameters: ["$filter": "x"]))
        let states = device.session.connectionStates
        device.session.start(keeping: [wrong])
        while device.session.error == nil { try await nextTurn() }
        #expect((device.session.error as? SyncError)?.code == .invalidParameter)
        await device.session.close()
        for await state in states { #expect(state != .connected) }
    }
}
