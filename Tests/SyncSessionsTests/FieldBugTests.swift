import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

@testable import SyncSessions

/// What users of another session API ran into; each once.
@Suite("Traps of sessions that are closed")
struct FieldBugTests {
    let emulator = SessionDevice.emulator()

    @Test("an upload wait after an edit that changes nothing, or was taken back, ends like any other")
    func emptyChange() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.add("milk", id: "a")
        try await device.session.wait(for: .upload)
        try await device.table.update(Record(id: "a", ["text": "milk"]))
        try await device.session.wait(for: .upload)
        device.line.set(.held)
        try await device.add("eggs", id: "b")
        let waiting = Task { try await device.session.wait(for: .upload) }
        await device.line.requestsReach(device.line.requests.count)
        try await device.table.delete("b")
        device.line.set(.answered)
        try await waiting.value
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }

    @Test("resuming races suspending, from many tasks at once, and the last word counts")
    func race() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        for round in 0..<20 {
            try await device.add("\(round)")
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        number % 2 == 0 ? device.session.suspend() : device.session.resume()
                        device.session.serverChanged()
                    }
                }
            }
            device.session.suspend()
            #expect(device.session.state == .suspended)
            device.session.resume()
            try await device.session.wait(for: .both)
        }
        #expect(emulator.texts().count == 20)
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        again.session.start(keeping: [again.table])
        try await again.session.wait(for: .both)
        #expect(again.session.suspended == [], "what was stored last is what was said last")
        await again.session.close()
    }

    @Test("a first pull that was interrupted goes on, and only its end counts as complete")
    func interruptedFirstPull() async throws {
        let other = try SessionDevice(emulator)
        for number in 0..<60 { try await other.add("\(number)") }
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        let line = device.line
        line.set { _ in line.requests.count > 3 ? .unreachable : .answered }
        let pull = SessionPull(device.table, options: PullOptions(pageSize: 10))
        device.session.start(keeping: [pull])
        await device.backsOff()
        #expect(try await device.session.lastCompletePull(of: pull) == nil)
        line.set(.answered)
        #expect(await device.session.reconnect() == .tried)
        #expect(try await device.session.lastCompletePull(of: pull) != nil)
        #expect(try await device.table.read(device.table.query).records.count == 60)
        await device.session.close()
    }

    @Test("a wait on a session whose context is gone ends")
    func goneContext() async throws {
        let session = try SessionDevice(emulator).session
        session.start()
        let error = await #expect(throws: SyncError.self) { try await session.wait(for: .both) }
        #expect(error?.code == .sessionEnded)
        #expect(await session.reconnect() == .notStarted)
    }

    @Test("opening another context over the store does not resume what was suspended")
    func reopening() async throws {
        let device = try SessionDevice(emulator)
        device.session.suspend()
        await device.session.close()
        for _ in 0..<3 {
            let again = try SessionDevice(emulator, device.store)
            again.session.start()
            await again.state { $0 == .suspended }
            #expect(again.line.requests.isEmpty)
            await again.session.close()
        }
    }

    @Test("a waiting session, a suspended one and one without credentials do not all read as active")
    func honestStates() async throws {
        let device = try SessionDevice(emulator)
        device.line.set(.status(401))
        device.session.start(keeping: [device.table])
        await device.state { $0 == .waitingForCredentials }
        device.line.set(.unreachable)
        _ = await device.session.reconnect()
        await device.backsOff()
        device.session.suspend()
        #expect(device.session.state == .suspended)
        await device.session.close()
        #expect(device.session.state == .closed)
    }
}
