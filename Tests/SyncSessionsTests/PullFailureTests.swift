import DatasyncEmulator
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("A session of which one pull fails", .timeLimit(.minutes(1)))
struct PullFailureTests {
    let emulator = SessionDevice.emulator()

    static let breakingOff: [Line.Fate] = [.unreachable, .status(504)]

    /// A device that keeps both tables, of which one cannot be pulled, and whose server has a note.
    func device(_ fate: Line.Fate) throws -> (SessionDevice, [any SyncSource]) {
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator)
        Self.refuse(device, fate)
        return (device, [device.table, try device.context.table("Note")])
    }

    static func refuse(_ device: SessionDevice, _ fate: Line.Fate) {
        device.line.set { $0.method == "GET" && $0.path.contains("TodoItem") ? fate : .answered }
    }

    func pulls(_ device: SessionDevice) -> Int {
        device.line.requests.filter { $0.hasPrefix("GET") && $0.contains("TodoItem") }.count
    }

    /// Returns when the first attempt has ended, everybody is told so, and the session waits for the next.
    private func waits(_ device: SessionDevice) async throws {
        await device.clock.sleeperComes { $0 == .seconds(1) }
        // The clock is set first.
        while device.session.error == nil { try await nextTurn() }
    }

    @Test(
        "makes the others, sends changes, and tries that one again after a while",
        // With 200 the answer is no page.
        arguments: [200, 400, 403, 404, 500].map { .status($0) } + breakingOff
    )
    func others(_ fate: Line.Fate) async throws {
        let (device, sources) = try device(fate)
        device.session.start(keeping: sources)
        try await waits(device)
        #expect(try await device.store.read(table: "Note", itemID: "n")?["text"] == "note")
        #expect(device.session.state == .active && device.session.connectionState == .connected)
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        // What the server fails on is asked for three times in a row.
        let attempt = pulls(device)
        // Changes wait for it no longer than ever, nor do others' news.
        try await device.add("milk")
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["milk"])
        try emulator.seed([["id": "m", "text": "more"]], in: "Note")
        device.session.serverChanged()
        await device.session.workEnds()
        #expect(try await device.store.read(table: "Note", itemID: "m")?["text"] == "more")
        #expect(pulls(device) == attempt)
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        for wait in [1, 2, 4] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(8) }
        #expect(pulls(device) == 4 * attempt)
        device.line.set(.answered)
        device.clock.advance(by: .seconds(8))
        while device.session.error != nil { try await nextTurn() }
        try await device.session.wait(for: .both)
        #expect(pulls(device) > 4 * attempt)
        await device.session.close()
    }

    @Test(
        "does not bring everything anew because of one that fails for long, and finds in the end what was deleted meanwhile",
        arguments: [400, 500].map { .status($0) } + breakingOff,
        [false, true]
    )
    func failingForLong(_ fate: Line.Fate, restarts: Bool) async throws {
        try emulator.seed([["id": "a", "text": "a"], ["id": "b", "text": "b"]], in: "TodoItem")
        let (device, sources) = try device(.answered)
        let options = SessionOptions(maximumOfflineTime: .seconds(3_600))
        device.session.start(keeping: sources, options: options)
        try await device.session.wait(for: .both)
        Self.refuse(device, fate)
        // The other one stays young.
        device.clock.advance(by: .seconds(3_000))
        while try await device.session.lastCompletePull(of: sources[1])?.timeIntervalSince1970 ?? 0 < 1_800_003_000 {
            try await nextTurn()
        }
        if restarts { device.session.start(keeping: sources, options: options) }
        device.clock.advance(by: .seconds(1_000))
        try await device.add("milk", id: "m")
        try await device.session.wait(for: .upload)
        #expect(emulator.texts() == ["a", "b", "milk"])
        #expect(try await device.context.resetStage() == .none)
        // The server has forgotten what was deleted.
        let other = SessionDevice.emulator()
        try other.seed([["id": "a", "text": "a"], ["id": "m", "text": "milk"]], in: "TodoItem")
        // Whatever is tried once more fails before that.
        await device.session.workEnds()
        device.line.divert(to: other)
        device.line.set(.answered)
        await device.session.reconnect()
        device.session.sync(.download)
        try await device.session.wait(for: .both)
        #expect(try await device.store.read(Query("TodoItem")).records.map(\.id) == ["a", "m"])
        #expect(try await device.context.resetStage() == .none)
        await device.session.close()
    }

    @Test("brings everything anew after too long a time also where a pull has a limit, and asks for little before")
    func limited() async throws {
        try emulator.seed((0..<20).map { ["id": .string("r\($0)"), "text": "milk"] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        let pull = SessionPull(Query("TodoItem").limited(to: 30), options: PullOptions(reconciles: true))
        let options = SessionOptions(maximumOfflineTime: .seconds(3_600))
        device.session.start(keeping: [pull], options: options)
        try await device.session.wait(for: .both)
        device.session.suspend()
        device.clock.advance(by: .seconds(3_601))
        let before = device.line.requests.count
        device.session.resume()
        device.session.sync(.download)
        try await device.session.wait(for: .both)
        #expect(device.session.error == nil && device.session.state == .active)
        #expect(device.line.requests.count - before <= 4)
        #expect(try await device.store.read(Query("TodoItem")).records.count == 20)
        await device.session.close()
    }

    @Test("sends and asks for nothing after too long a time where that is dealt with by hand")
    func manual() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(
            keeping: [device.table],
            options: SessionOptions(resetMode: .manual, maximumOfflineTime: .seconds(3_600))
        )
        try await device.session.wait(for: .both)
        device.session.suspend()
        device.clock.advance(by: .seconds(3_601))
        let before = device.line.requests.count
        device.session.resume()
        device.session.sync()
        await device.state { $0 == .failed }
        #expect((device.session.error as? SyncError)?.code == .historyLost)
        #expect(device.line.requests.count == before)
        await device.session.close()
    }

    @Test("removes nothing that another pull of the table brings, and brings everything anew in the end")
    func parametersForLong() async throws {
        try emulator.seed([["id": "a", "text": "a"], ["id": "b", "text": "b"]], in: "TodoItem")
        let (device, _) = try device(.answered)
        let note = try device.context.table("Note")
        let shared = SessionPull(device.table, queryID: "shared", options: PullOptions(parameters: ["shared": "1"]))
        // The service shows the second one to that pull only.
        device.line.set { request in
            let isHidden = request.method == "GET" && request.path.hasSuffix("/b") && !request.query.contains("shared")
            return isHidden ? .status(404) : .answered
        }
        device.session.start(keeping: [shared, note], options: SessionOptions(maximumOfflineTime: .seconds(3_600)))
        try await device.session.wait(for: .both)
        let completed = try #require(try await device.session.lastCompletePull(of: shared))
        device.session.suspend()
        device.line.set { $0.method == "GET" && $0.path.contains("Note") ? .status(500) : .answered }
        device.clock.advance(by: .seconds(3_601))
        device.session.resume()
        try emulator.seed([["id": "c", "text": "c"]], in: "TodoItem")
        device.session.sync(.download)
        while try await device.store.read(table: "TodoItem", itemID: "c") == nil { try await nextTurn() }
        await device.session.workEnds()
        #expect(try await device.store.read(Query("TodoItem")).records.map(\.id) == ["a", "b", "c"])
        #expect(try await device.session.lastCompletePull(of: shared) == completed)
        let other = SessionDevice.emulator()
        try other.seed([["id": "c", "text": "c"]], in: "TodoItem")
        device.line.divert(to: other)
        device.line.set(.answered)
        await device.session.reconnect()
        device.session.sync(.download)
        try await device.session.wait(for: .both)
        #expect(try await device.store.read(Query("TodoItem")).records.map(\.id) == ["c"])
        await device.session.close()
    }

    /// Has every page of the items fail, while their table answers.
    private static func refusePages(_ device: SessionDevice, _ fate: Line.Fate) {
        device.line.set { request in
            let isPage = request.method == "GET" && !request.query.contains("top=0")
            return isPage && request.path.contains("TodoItem") ? fate : .answered
        }
    }

    @Test("goes on sending changes when it is the only one", arguments: [.status(500)] + breakingOff)
    func alone(_ fate: Line.Fate) async throws {
        let device = try SessionDevice(emulator)
        Self.refusePages(device, fate)
        device.session.start(keeping: [device.table])
        for wait in [1, 2, 4] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            await device.backsOff()
            #expect(device.session.connectionState == .connected)
            #expect((device.session.error as? SyncError)?.code == .pullAborted)
            let before = pulls(device)
            try await device.add("\(wait)")
            try await device.session.wait(for: .upload)
            await device.session.workEnds()
            #expect(emulator.texts().contains("\(wait)") && pulls(device) == before)
            await device.backsOff()
            #expect((device.session.error as? SyncError)?.code == .pullAborted)
            device.clock.advance(by: .seconds(wait))
        }
        await device.clock.sleeperComes { $0 == .seconds(8) }
        device.line.set(.answered)
        device.clock.advance(by: .seconds(8))
        try await device.session.wait(for: .both)
        // Everybody is told a moment later.
        while device.session.error != nil { try await nextTurn() }
        #expect(device.session.state == .active)
        await device.session.close()
    }

    /// A change waits until the pull is tried again, and has been answered.
    private func sendsBehindThePull(_ device: SessionDevice) async throws {
        let before = pulls(device)
        device.session.sync()
        await device.session.workEnds()
        #expect(emulator.texts().isEmpty && pulls(device) == before)
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["milk"])
        await device.session.close()
    }

    @Test("sends nothing then where it is to precede that", arguments: [.status(500)] + breakingOff)
    func alonePreceding(_ fate: Line.Fate) async throws {
        let device = try SessionDevice(emulator)
        Self.refusePages(device, fate)
        try await device.add("milk")
        device.session.start(keeping: [SessionPull(device.table, options: PullOptions(order: .pullFirst))])
        await device.backsOff()
        try await sendsBehindThePull(device)
    }

    @Test("does not let anybody wait for what is refused")
    func waits() async throws {
        let (device, sources) = try device(.status(404))
        device.line.set(.held)
        device.session.start(keeping: sources)
        await device.line.requestsReach(1)
        let waiting = Task { try await device.session.wait(for: .download) }
        while device.session.running.withLock({ $0.machine.waits.isEmpty }) { try await nextTurn() }
        Self.refuse(device, .status(404))
        var error = await #expect(throws: SyncError.self) { try await waiting.value }
        #expect(error?.code == .sessionEnded && (error?.cause as? SyncError)?.code == .pullAborted)
        await device.session.workEnds()
        error = await #expect(throws: SyncError.self) { try await device.session.wait(for: .both) }
        #expect(error?.code == .sessionEnded && (error?.cause as? SyncError)?.code == .pullAborted)
        device.line.set(.answered)
        #expect(await device.session.reconnect() == .tried)
        try await device.session.wait(for: .both)
        #expect(device.session.error == nil)
        await device.session.close()
    }

    @Test("sends nothing before a pull that is to precede it", arguments: [.status(500)] + breakingOff)
    func preceding(_ fate: Line.Fate) async throws {
        let (device, _) = try device(fate)
        let note = try device.context.table("Note")
        let first = SessionPull(device.table, options: PullOptions(order: .pullFirst))
        try await device.add("milk")
        device.session.start(keeping: [first, note])
        try await waits(device)
        #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
        try await sendsBehindThePull(device)
    }

    @Test("waits as after any failure when all pulls fail")
    func all() async throws {
        let device = try SessionDevice(emulator)
        device.line.set { $0.method == "GET" ? .status($0.path.contains("Note") ? 404 : 500) : .answered }
        device.session.start()
        await device.backsOff()
        device.line.set { $0.method == "GET" ? .status(404) : .answered }
        device.clock.advance(by: .seconds(1))
        await device.state { $0 == .failed }
        await device.session.close()
    }

    @Test("asks for another one when the last one breaks off", arguments: breakingOff)
    func last(_ fate: Line.Fate) async throws {
        let (device, sources) = try device(fate)
        device.session.start(keeping: sources.reversed())
        try await waits(device)
        #expect(device.session.state == .active && device.session.connectionState == .connected)
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        for await progress in device.session.progress(for: .download, mode: .reportIndefinitely) {
            #expect(progress.progressEstimate == 0.5)
            break
        }
        await device.session.close()
    }

    @Test("makes the others when several break off, wherever they stand", arguments: breakingOff)
    func several(_ fate: Line.Fate) async throws {
        let (device, _) = try device(fate)
        let note = SessionPull(try device.context.table("Note"))
        let broken = ["a", "b", "c"].map { SessionPull(device.table, queryID: $0) }
        device.session.start(keeping: [broken[0], broken[1], note, broken[2]])
        try await waits(device)
        for wait in [1, 2] {
            await device.clock.sleeperComes { $0 == .seconds(wait) }
            #expect(device.session.state == .active && device.session.connectionState == .connected)
            #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
            device.clock.advance(by: .seconds(wait))
        }
        await device.session.close()
    }

    @Test("knows that one fails no more that has answered in place of one that breaks off", arguments: breakingOff)
    func mended(_ fate: Line.Fate) async throws {
        let (device, sources) = try device(fate)
        device.session.start(keeping: sources)
        try await waits(device)
        // Before its time: the one that was answered breaks off, and that one is asked.
        let before = pulls(device)
        device.line.set { $0.method == "GET" && $0.path.contains("Note") ? fate : .answered }
        device.session.serverChanged(tables: ["Note"])
        await device.session.workEnds()
        #expect(pulls(device) > before)
        try #require(device.session.state == .active && device.session.connectionState == .connected)
        try await device.add("milk")
        await device.clock.sleeperComes { $0 == .milliseconds(500) }
        device.clock.advance(by: .milliseconds(500))
        while emulator.texts().isEmpty { try await nextTurn() }
        await device.session.close()
    }

    @Test("goes on with another list that a start has brought meanwhile")
    func otherList() async throws {
        let (device, _) = try device(.unreachable)
        device.line.set(.held)
        let note = SessionPull(try device.context.table("Note"))
        device.session.start(keeping: ["a", "b"].map { SessionPull(device.table, queryID: $0) } + [note])
        await device.line.requestsReach(1)
        device.session.start(keeping: [note])
        Self.refuse(device, .unreachable)
        try await device.session.wait(for: .download)
        #expect(device.session.state == .active && device.session.error == nil)
        await device.session.close()
    }

    @Test("tries two more when one breaks off, and backs off when those do, too", arguments: breakingOff)
    func unreachable(_ fate: Line.Fate) async throws {
        let (device, sources) = try device(fate)
        device.session.start(keeping: [device.table])
        await device.backsOff()
        let single = device.line.requests.count
        await device.session.close()
        // Where there is no other one, the last request is the question whether the table answers.
        let two = try SessionDevice(emulator)
        two.line.set(fate)
        two.session.start(keeping: sources)
        await two.backsOff()
        let attempt = two.line.requests.count - single
        await two.session.close()
        let other = try SessionDevice(emulator)
        other.line.set(fate)
        let further = ["c", "d"].map { SessionPull(device.table, queryID: $0) }
        other.session.start(keeping: sources + further)
        await other.backsOff()
        #expect(single > attempt && other.line.requests.count == 3 * attempt)
        #expect(other.session.connectionState == .disconnected)
        await other.session.close()
    }

    @Test("comes to one behind three that break off", arguments: breakingOff)
    func behindThree(_ fate: Line.Fate) async throws {
        let (device, _) = try device(fate)
        let note = SessionPull(try device.context.table("Note"))
        let broken = ["a", "b", "c"].map { SessionPull(device.table, queryID: $0) }
        device.session.start(keeping: broken + [note])
        await device.backsOff()
        #expect(try await device.store.read(table: "Note", itemID: "n") == nil)
        device.clock.advance(by: .seconds(1))
        while try await device.store.read(table: "Note", itemID: "n") == nil { try await nextTurn() }
        await device.session.workEnds()
        #expect(device.session.state == .active && device.session.connectionState == .connected)
        await device.session.close()
    }

    @Test("come again when the server says so to the question whether it answers for the table at all")
    func retryAfterOfTheTable() async throws {
        let device = try SessionDevice(emulator)
        let busy = Line.Fate.status(503, headers: ["Retry-After": "900"])
        device.line.set { $0.query.contains("top=0") ? busy : .unreachable }
        device.session.start(keeping: [device.table])
        await device.clock.sleeperComes { $0 == .seconds(900) }
        while device.session.error == nil { try await nextTurn() }
        await device.session.workEnds()
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        await device.session.close()
    }

    @Test("one that says when to come again is not asked before", arguments: [500, 504])
    func retryAfter(_ status: Int) async throws {
        let (device, sources) = try device(.status(status, headers: ["Retry-After": "900"]))
        device.session.start(keeping: sources)
        await device.clock.sleeperComes { $0 == .seconds(900) }
        let before = pulls(device)
        device.clock.advance(by: .seconds(899))
        for _ in 0..<1_000 { await Task.yield() }
        #expect(pulls(device) == before)
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .both)
        await device.session.close()
    }
}
