import DatasyncEmulator
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A sync within a given time, and what else is said to the session", .timeLimit(.minutes(1)))
struct SingleSyncTests {
    let emulator = SessionDevice.emulator()

    /// A device of which the third change is held on its way.
    private func atWork() async throws -> (SessionDevice, Task<SyncReport, any Error>) {
        let device = try SessionDevice(emulator)
        for number in 0..<5 { try await device.add("\(number)") }
        let (line, before) = (device.line, device.line.requests.count)
        line.set { _ in line.requests.count > before + 2 ? .held : .answered }
        let syncing = Task { try await device.session.sync(within: .seconds(25)) }
        await line.requestsReach(before + 3)
        return (device, syncing)
    }

    @Test("is ended by suspending, and sends nothing more", arguments: [SyncDirection.upload, .both])
    func suspended(_ direction: SyncDirection) async throws {
        let (device, syncing) = try await atWork()
        device.session.suspend(direction)
        let report = try await syncing.value
        #expect(!report.isComplete && report.push.pushed == 2)
        let count = device.line.requests.count
        device.line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(25)).push.pushed == 0)
        #expect(device.line.requests.dropFirst(count).allSatisfy { !$0.hasPrefix("POST") })
        device.session.resume()
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts().count == 5)
        await device.session.close()
    }

    @Test("tells what was done also when the store is locked as it ends")
    func lockedAtTheEnd() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        for number in 0..<5 { try await device.add("\(number)") }
        let (line, before) = (device.line, device.line.requests.count)
        line.set { _ in line.requests.count > before + 2 ? .held : .answered }
        let syncing = Task { try await device.session.sync(within: .seconds(25)) }
        await line.requestsReach(before + 3)
        @Sendable func locked() async throws -> Bool {
            store.interrupt(locked)
            throw StoreError(.locked, "on purpose")
        }
        store.interrupt(locked)
        device.session.suspend(.upload)
        let report = try await syncing.value
        #expect(!report.isComplete && report.push.pushed <= 2)
        store.interrupt { true }
        await device.session.close()
    }

    @Test("is ended by closing the session, which waits for that")
    func closed() async throws {
        let (device, syncing) = try await atWork()
        await device.session.close()
        let error = await #expect(throws: SyncError.self) { _ = try await syncing.value }
        #expect(error?.code == .sessionEnded)
        let count = device.line.requests.count
        device.line.set(.answered)
        #expect(device.line.requests.count == count)
    }

    @Test("is ended when the app says that the server was set up anew, and the next one brings everything")
    func reset() async throws {
        let (device, syncing) = try await atWork()
        device.session.serverWasReset()
        #expect(try await !syncing.value.isComplete)
        device.line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(emulator.texts().count == 5)
        #expect(try await device.context.resetStage() == .none)
        await device.session.close()
    }

    @Test("what is asked for within the hook behind a reset is not forgotten with its end")
    func saidWithin() async throws {
        let device = try SessionDevice(emulator)
        let mode = ResetMode.recoverUnsyncedChanges(after: { context, _ in try await context.requestReset() })
        device.session.start(keeping: [device.table], options: SessionOptions(pullInterval: nil, resetMode: mode))
        try await device.session.wait(for: .both)
        try await device.context.requestReset()
        #expect(try await !device.session.sync(within: .seconds(25)).isComplete, "it is wanted once more")
        #expect(try await device.context.resetStage() == .wanted)
        await device.session.close()
    }

    @Test("does not go where an earlier process has suspended it", arguments: [SyncDirection.upload, .download])
    func suspendedBefore(_ direction: SyncDirection) async throws {
        try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        let device = try SessionDevice(emulator)
        device.session.suspend(direction)
        await device.session.running.withLock { $0.storing }?.value
        await device.session.close()
        let again = try SessionDevice(emulator, device.store)
        try await again.add("mine")
        _ = try await again.session.sync(within: .seconds(25))
        #expect(emulator.texts().contains("mine") == (direction == .download))
        #expect(try await again.store.read(table: "TodoItem", itemID: "a") == nil || direction == .upload)
        await again.session.close()
    }

    @Test("tells of what waits for a decision also when there is nothing to be sent")
    func conflictOfBefore() async throws {
        try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        let device = try SessionDevice(emulator)
        _ = try await device.session.sync(within: .seconds(25))
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        try emulator.seed([["id": "a", "text": "theirs again"]], in: "TodoItem")
        for pushed in [true, false] {
            let before = device.line.requests.count
            let report = try await device.session.sync(within: .seconds(25))
            #expect(report.notTaken.map(\.itemID) == ["a"] && report.push.conflicts.count == 1)
            #expect(device.line.requests.dropFirst(before).contains { $0.hasPrefix("PUT") } == pushed)
        }
        await device.session.close()
    }

    @Test(
        "that everything is here is remembered in the turn of the pull, so that a purge that waits for it forgets it again",
        arguments: ["pull", "sync within a time", "reset"]
    )
    func markedInTurn(_ how: String) async throws {
        let device = try SessionDevice(emulator)
        let context = device.context
        let isInTurn = Mutex(false)
        let environment = SessionEnvironment(
            clock: device.clock,
            date: {
                if context.isWithinSync { isInTurn.withLock { $0 = true } }
                return Date()
            },
            reachability: device.reachability
        )
        let session = SyncSession(context, environment)
        if how == "sync within a time" {
            #expect(try await session.sync(within: .seconds(25)).isComplete)
        } else {
            if how == "reset" { try await context.requestReset() }
            session.start(keeping: [device.table], options: SessionOptions(pullInterval: nil))
            try await session.wait(for: .download)
        }
        #expect(isInTurn.withLock { $0 })
        #expect(try await session.lastCompletePull(of: device.table) != nil)
        try await device.table.purge()
        #expect(try await session.lastCompletePull(of: device.table) == nil)
        await session.close()
    }

    @Test("sends nothing where everything is to be brought anew, which is suspended")
    func resetSuspended() async throws {
        let device = try SessionDevice(emulator)
        try await device.add("mine")
        device.session.suspend(.download)
        try await device.context.requestReset()
        #expect(try await !device.session.sync(within: .seconds(25)).isComplete, "nothing was done")
        #expect(device.line.requests.isEmpty)
        await device.session.close()
    }

    @Test("brings everything anew after too long a time, and not before")
    func maximumOfflineTime() async throws {
        try emulator.seed(["a", "b"].map { ["id": .string($0), "text": .string($0)] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        let resets = Mutex(0)
        let options = SessionOptions(
            pullInterval: nil,
            resetMode: .recoverUnsyncedChanges(after: { _, _ in resets.withLock { $0 += 1 } }),
            maximumOfflineTime: .seconds(3_600)
        )
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        // The server forgets what was deleted.
        let other = SessionDevice.emulator()
        try other.seed([["id": "a", "text": "a"]], in: "TodoItem")
        device.line.divert(to: other)
        for (time, rows) in [(3_599, ["a", "b"]), (3_601, ["a"])] {
            device.clock.advance(by: .seconds(time))
            #expect(try await device.session.sync(within: .seconds(25)).isComplete)
            #expect(try await device.store.read(Query("TodoItem")).records.map(\.id) == rows.map { .string($0) })
            #expect(resets.withLock { $0 } == (rows.count == 1 ? 1 : 0))
        }
        await device.session.close()
    }

    @Test("makes the others next time when one of them that begins anew each time is too long for it")
    func reconcilingTooLong() async throws {
        try emulator.seed((0..<9).map { ["id": .string("r\($0)"), "text": "x"] }, in: "TodoItem")
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator)
        let (line, clock) = (device.line, device.clock)
        line.set(.unreachable)
        let long = SessionPull(device.table, options: PullOptions(reconciles: true, pageSize: 1))
        // The session's own attempts are out of the way.
        let options = SessionOptions(backoff: Backoff(first: .seconds(86_400), longest: .seconds(86_400)))
        device.session.start(keeping: [long, SessionPull(try device.context.table("Note"))], options: options)
        await device.backsOff()
        device.session.running.withLock { $0.nextAsked = 0 }
        line.set(Self.slowly(clock))
        #expect(try await !device.session.sync(within: .seconds(25)).isComplete)
        #expect(try await device.store.read(table: "Note", itemID: "n") == nil)
        await device.session.close()
        // Also in another process, and whatever is sent meanwhile.
        let again = try SessionDevice(emulator, device.store)
        again.line.set(.unreachable)
        let pulls = [
            SessionPull(again.table, options: PullOptions(reconciles: true, pageSize: 1)),
            SessionPull(try again.context.table("Note")),
        ]
        again.session.start(keeping: pulls, options: options)
        await again.backsOff()
        again.session.running.withLock { $0.nextAsked = 0 }
        let time = again.clock
        again.line.set(Self.slowly(time))
        #expect(try await !again.session.sync(within: .seconds(25)).isComplete)
        #expect(try await again.store.read(table: "Note", itemID: "n") != nil)
        #expect(try await again.store.verifyQueue().isEmpty)
        again.line.set(.answered)
        for _ in 0..<2 { #expect(try await again.session.sync(within: .seconds(25)).isComplete) }
        #expect(again.line.requests.last?.contains("Note") == true, "from the first one again")
        await again.session.close()
    }

    /// Every page of the long table takes ten seconds; the one that is under way when the time is over comes to nothing.
    private static func slowly(_ clock: VirtualClock) -> @Sendable (EmulatorRequest) -> Line.Fate {
        let pages = Mutex(0)
        return { request in
            guard request.path.contains("TodoItem") else { return .answered }
            clock.advance(by: .seconds(10))
            return pages.withLock {
                $0 += 1
                return $0
            } > 2 ? .held : .answered
        }
    }

    @Test("makes a reconciling pull in the parts that its bound wants, as long as there is time")
    func reconcilingInParts() async throws {
        try emulator.seed((0..<9).map { ["id": .string("r\($0)"), "text": "x"] }, in: "TodoItem")
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator)
        let bounded = PullOptions(reconciles: true, pageSize: 1, maximumRows: 2)
        device.line.set(.unreachable)
        let options = SessionOptions(backoff: Backoff(first: .seconds(86_400), longest: .seconds(86_400)))
        let note = SessionPull(try device.context.table("Note"))
        device.session.start(keeping: [SessionPull(device.table, options: bounded), note], options: options)
        await device.backsOff()
        device.session.running.withLock { $0.nextAsked = 0 }
        device.line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        #expect(try await device.store.read(Query("TodoItem")).records.count == 9)
        #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
        await device.session.close()
    }

    @Test("sends what waits where downloads are suspended for too long", arguments: [true, false])
    func sendsAlone(_ resetsManually: Bool) async throws {
        let device = try SessionDevice(emulator)
        let options = SessionOptions(
            pullInterval: nil,
            resetMode: resetsManually ? .manual : .recoverUnsyncedChanges(),
            maximumOfflineTime: .seconds(3_600)
        )
        device.session.start(keeping: [device.table], options: options)
        try await device.session.wait(for: .both)
        await device.session.workEnds()
        device.session.suspend(.download)
        await device.session.running.withLock { $0.storing }?.value
        device.clock.advance(by: .seconds(3_601))
        device.session.suspend(.both)
        try await device.add("milk")
        device.session.resume(.upload)
        await device.session.running.withLock { $0.storing }?.value
        let report = try await device.session.sync(within: .seconds(25))
        #expect(report.isComplete)
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }
}
