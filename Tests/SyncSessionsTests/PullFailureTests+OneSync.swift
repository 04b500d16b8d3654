import OfflineSync
import SyncContract
import Synchronization
import Testing

@testable import SyncSessions

// What one sync within a time does, as in the background.
extension PullFailureTests {
    @Test("one sync comes to one behind three that break off, when the one before came to nothing")
    func backgroundBehindThree() async throws {
        let (device, _) = try device(.unreachable)
        let note = SessionPull(try device.context.table("Note"))
        let broken = (1...6).map { SessionPull(device.table, queryID: "\($0)") }
        device.session.start(keeping: broken + [note])
        await device.backsOff()
        for _ in 1...2 {
            await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        }
        #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
        // When nothing fails any more, it begins with the first one again.
        device.line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(20)).isComplete)
        #expect(try await device.session.sync(within: .seconds(20)).isComplete)
        #expect(device.line.requests.last?.contains("Note") == true)
        await device.session.close()
    }

    @Test("one sync tries no more than two behind one that breaks off")
    func backgroundUnreachable() async throws {
        let (device, _) = try device(.unreachable)
        await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        let attempt = pulls(device)
        device.session.start(keeping: ["a", "b", "c", "d"].map { SessionPull(device.table, queryID: $0) })
        await device.backsOff()
        let before = pulls(device)
        await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        #expect(pulls(device) - before == 3 * attempt)
        await device.session.close()
    }

    @Test(
        "one sync makes the others, and says what is wrong with that one",
        arguments: [.status(500)] + breakingOff
    )
    func background(_ fate: Line.Fate) async throws {
        let (device, _) = try device(fate)
        try await device.add("milk")
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        #expect(error?.code == .pullAborted)
        #expect(try await device.store.read(table: "Note", itemID: "n")?["text"] == "note")
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }

    @Test("one sync with fewer pulls than before begins with the first of them")
    func backgroundWithFewer() async throws {
        let (device, _) = try device(.unreachable)
        device.session.start(keeping: ["a", "b", "c", "d"].map { SessionPull(device.table, queryID: $0) })
        await device.backsOff()
        await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        device.line.set(.answered)
        device.session.start(keeping: [device.table])
        #expect(try await device.session.sync(within: .seconds(20)).isComplete)
        await device.session.close()
    }

    @Test("one sync goes on behind those that broke off also where another one was too long before")
    func backgroundBehindThreeAndLong() async throws {
        let (device, _) = try device(.unreachable)
        let broken = (1...3).map { SessionPull(device.table, queryID: "\($0)") }
        let options = SessionOptions(backoff: Backoff(first: .seconds(86_400), longest: .seconds(86_400)))
        let note = SessionPull(try device.context.table("Note"))
        device.line.set(.unreachable)
        device.session.start(keeping: [note] + broken, options: options)
        await device.backsOff()
        Self.refuse(device, .unreachable)
        try await device.context.storeFirstPull(1)
        for _ in 1...2 {
            await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        }
        #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
        // Where nothing is pulled it stays as it is.
        try await device.context.storeFirstPull(2)
        device.session.suspend(.download)
        await device.session.running.withLock { $0.storing }?.value
        _ = try await device.session.sync(within: .seconds(20))
        #expect(try await device.context.storedFirstPull() == 2)
        await device.session.close()
    }
}
