import DatasyncEmulator
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A session of somebody who may read, and not write", .timeLimit(.minutes(1)))
struct ForbiddenChangesTests {
    private let emulator = SessionDevice.emulator()

    /// A device on which two changes wait, and a server that forbids every change.
    private func device() async throws -> SessionDevice {
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        try emulator.seed((0..<6).map { ["id": .string("r\($0)"), "text": "x"] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        for id in ["a", "b"] { try await device.add(id, id: id) }
        device.line.set { $0.method == "POST" ? .status(403) : .answered }
        return device
    }

    private func hasAll(_ device: SessionDevice) async throws -> Bool {
        let note = try await device.store.read(table: "Note", itemID: "n")
        let count = try await device.store.read(Query("TodoItem")).records.count
        return note != nil && count == 8
    }

    @Test(
        "pulls everything behind the push, which is made once, and waits for other credentials",
        arguments: [false, true]
    )
    func pulls(_ reconciles: Bool) async throws {
        let device = try await device()
        let options = PullOptions(reconciles: reconciles, pageSize: 2)
        let note = try device.context.table("Note")
        device.session.start(keeping: [SessionPull(device.table, options: options), note])
        await device.state { $0 == .waitingForCredentials }
        #expect(try await hasAll(device))
        #expect(device.line.requests.count { $0.hasPrefix("POST") } == 2)
        #expect((device.session.error as? SyncError)?.code == .pushAbortedAuthentication)
        #expect(try await device.context.status().failed == 0)
        await device.session.close()
    }

    @Test("of which pulls fail as well, asks no more often than its pauses allow")
    func pausesWithFailingPulls() async throws {
        let device = try await device()
        device.line.set(.status(403))
        device.session.start(keeping: [device.table, try device.context.table("Note")])
        await device.state { $0 == .waitingForCredentials }
        await device.session.workEnds()
        for seconds in [1, 2, 4] {
            let before = device.line.requests.count
            await device.clock.sleeperComes { $0 > .zero }
            for _ in 0..<1_000 { await Task.yield() }
            #expect(device.line.requests.count == before)
            device.clock.advance(by: .seconds(seconds))
            await device.line.requestsReach(before + 1)
            await device.session.workEnds()
        }
        await device.session.close()
    }

    @Test("goes on bringing what is new while nothing is sent")
    func goesOnPulling() async throws {
        let device = try await device()
        device.session.start(keeping: [device.table])
        await device.state { $0 == .waitingForCredentials }
        try emulator.seed([["id": "new", "text": "x"]], in: "TodoItem")
        device.session.serverChanged()
        try await device.session.wait(for: .download)
        await device.session.workEnds()
        #expect(try await device.store.read(table: "TodoItem", itemID: "new") != nil)
        #expect(device.line.requests.count { $0.hasPrefix("POST") } == 2)
        #expect(device.session.state == .waitingForCredentials)
        #expect((device.session.error as? SyncError)?.code == .pushAbortedAuthentication)
        device.line.set { _ in .answered }
        _ = await device.session.reconnect()
        try await device.session.wait(for: .upload)
        #expect(device.session.state == .active && device.session.error == nil)
        await device.session.close()
    }

    @Test("is tried again after its own pauses, which grow, however often it pulls between them")
    func ownPauses() async throws {
        let device = try await device()
        device.session.start(keeping: [device.table], options: SessionOptions(pullInterval: .seconds(1)))
        await device.state { $0 == .waitingForCredentials }
        var (pauses, last) = ([Int](), 0)
        for second in 1...16 {
            await device.session.workEnds()
            await device.clock.sleeperComes { $0 > .zero }
            let before = device.line.requests.count
            device.clock.advance(by: .seconds(1))
            await device.line.requestsReach(before + 1)
            await device.session.workEnds()
            let posts = device.line.requests.count { $0.hasPrefix("POST") }
            if posts > 2 + 2 * pauses.count { (pauses, last) = (pauses + [second - last], second) }
        }
        #expect(pauses == [1, 2, 4, 8])
        await device.session.close()
    }

    @Test("brings everything also within a given time")
    func background() async throws {
        let device = try await device()
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(25)) }
        #expect(error?.code == .pushAbortedAuthentication)
        #expect(error?.pull?.received == 7, "what came is told")
        #expect(try await hasAll(device))
        await device.session.close()
    }

    @Test("whose pulls are all refused as well fails because of these, and says so")
    func refusedPulls() async throws {
        let device = try await device()
        device.line.set { $0.method == "POST" ? .status(403) : .status(404) }
        device.session.start(keeping: [device.table, try device.context.table("Note")])
        await device.state { $0 == .failed }
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        await device.session.close()
    }

    @Test("waits for other credentials while the server fails on all pulls, too")
    func failingPulls() async throws {
        let device = try await device()
        device.line.set { $0.method == "POST" ? .status(403) : .status(500) }
        device.session.start(keeping: [device.table, try device.context.table("Note")])
        await device.state { $0 == .waitingForCredentials }
        await device.session.workEnds()
        #expect(device.session.state == .waitingForCredentials)
        #expect((device.session.error as? SyncError)?.code == .pushAbortedAuthentication)
        await device.session.close()
    }

    @Test("goes on telling that there is no network when uploads are suspended")
    func suspendedWithoutNetwork() async throws {
        let device = try await device()
        device.session.start(keeping: [device.table])
        await device.state { $0 == .waitingForCredentials }
        await device.session.workEnds()
        device.line.set(.unreachable)
        device.session.serverChanged()
        await device.backsOff()
        for suspends in [true, false] {
            if suspends { device.session.suspend(.upload) } else { device.session.resume(.upload) }
            let cause = (device.session.error as? SyncError)?.cause as? RemoteError
            #expect(cause?.code == .unreachable, "\(String(describing: device.session.error))")
        }
        await device.session.close()
    }

    @Test("tells of no refusal any more once uploads are suspended")
    func suspended() async throws {
        let device = try await self.device()
        device.session.start(keeping: [device.table])
        await device.state { $0 == .waitingForCredentials }
        await device.session.workEnds()
        #expect(device.session.error != nil)
        device.session.suspend(.upload)
        try await device.session.wait(for: .download)
        await device.session.workEnds()
        #expect(device.session.error == nil && device.session.state == .active)
        device.session.resume(.upload)
        await device.state { $0 == .waitingForCredentials }
        await device.session.workEnds()
        #expect((device.session.error as? SyncError)?.code == .pushAbortedAuthentication)
        await device.session.close()
    }
}

@Suite("What a session says of changes", .timeLimit(.minutes(1)))
struct ChangeReportTests {
    private let emulator = SessionDevice.emulator()

    private final class Adding: SyncContextDelegate {
        private let isDone = Mutex(false)

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
            guard operation.itemID == "a",
                !isDone.withLock({ isDone in
                    defer { isDone = true }
                    return isDone
                })
            else { return }
            try await context.table("Note").insert(["text": "note"], id: "n")
        }
    }

    @Test("one that others overtake each time is not answered, whatever else is changed meanwhile")
    func overtakenBesideAnother() async throws {
        try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        let (emulator, delegate) = (emulator, Adding())
        let isCalm = Mutex(0)
        device.context.delegate = delegate
        device.line.set { request in
            if request.method == "PUT",
                isCalm.withLock({ count in
                    defer { count += 1 }
                    return count < 8
                })
            {
                do { try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem") } catch { Issue.record(error) }
            }
            return .answered
        }
        try await device.table.update(Record(id: "a", ["text": "mine"]))
        let waiting = Task {
            try await device.session.wait(for: .upload)
            return emulator.texts()
        }
        while try await !device.context.operations().isEmpty {
            device.clock.advance(by: .seconds(1))
            try await nextTurn()
        }
        #expect(try await waiting.value == ["mine"])
        withExtendedLifetime(delegate) {}
        await device.session.close()
    }

    @Test("the progress of uploads is not 1 when a change comes while the queue is read for the first time")
    func progressAtTheBeginning() async throws {
        let reads = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, reads)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .both)
        await device.session.workEnds()
        device.session.suspend(.upload)
        await device.session.running.withLock { $0.storing }?.value
        reads.interrupt {
            try await device.add("milk", id: "m")
            return true
        }
        var progress = device.session.progress(for: .upload, mode: .reportIndefinitely).makeAsyncIterator()
        #expect(try #require(await progress.next()).progressEstimate < 1)
        await device.session.close()
    }
}
