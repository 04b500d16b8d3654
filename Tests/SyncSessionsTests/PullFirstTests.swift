import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("Pulls of a session that precede pushes", .timeLimit(.minutes(1)))
struct PullFirstTests {
    let emulator = SessionDevice.emulator()

    private static let rows: [[String: JSONValue]] = (1...3)
        .map { ["id": .string("\($0)"), "text": .string("\($0)")] }

    private func methods(_ device: SessionDevice, since count: Int = 0) -> [String] {
        device.line.requests.dropFirst(count).compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test("are made before each of them, whether the pull says so or the context", arguments: [true, false])
    func each(isOfPull: Bool) async throws {
        let device = try SessionDevice(emulator, options: isOfPull ? SyncOptions() : SyncOptions(order: .pullFirst))
        let first = SessionPull(device.table, options: PullOptions(order: .pullFirst))
        device.session.start(keeping: [isOfPull ? first : SessionPull(device.table)])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        try await device.add("milk")
        try await device.session.wait(for: .upload)
        #expect(methods(device, since: before) == ["GET", "POST"])
        await device.session.close()
    }

    @Test("are made before anything is sent, all of them")
    func all() async throws {
        let device = try SessionDevice(emulator)
        let tables = [device.table, try device.context.table("Note")]
        for table in tables { try await table.insert(["text": "mine"]) }
        device.line.set { $0.method == "GET" && $0.path.contains("Note") ? .status(500) : .answered }
        device.session.start(keeping: tables.map { SessionPull($0, options: PullOptions(order: .pullFirst)) })
        await device.clock.sleeperComes { $0 == .seconds(1) }
        while device.session.error == nil { try await nextTurn() }
        #expect(!methods(device).contains("POST"))
        device.line.set(.answered)
        device.clock.advance(by: .seconds(1))
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["mine"] && emulator.texts(in: "Note") == ["mine"])
        await device.session.close()
    }

    @Test("are made wholly before anything is sent, also where each has a bound")
    func parts() async throws {
        try emulator.seed(Self.rows, in: "TodoItem")
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        let options = PullOptions(order: .pullFirst, maximumRows: 1)
        device.line.set { $0.method == "POST" ? .held : .answered }
        device.session.start(keeping: [SessionPull(device.table, options: options)])
        while !methods(device).contains("POST") { try await nextTurn() }
        #expect(try await device.store.read(Query("TodoItem")).records.count == 4)
        device.line.set(.answered)
        try await device.session.wait(for: .both)
        #expect(methods(device).filter { $0 == "POST" }.count == 1)
        #expect(emulator.texts() == ["1", "2", "3", "milk"])
        #expect(try await device.store.read(Query("TodoItem")).records.count == 4)
        await device.session.close()
    }

    @Test(
        "and fail for long: who waits for a change that is given up, or sent by others, or follows it, waits no longer",
        arguments: [false, true]
    )
    func settledMeanwhile(isSent: Bool) async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [SessionPull(device.table, options: PullOptions(order: .pullFirst))])
        try await device.session.wait(for: .both)
        device.line.set { $0.method == "GET" ? .held : .answered }
        let before = device.line.requests.count
        try await device.add("milk", id: "m")
        let waiting = Task { try await device.session.wait(for: .upload) }
        let following = Task {
            for await _ in device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork) {}
        }
        await device.line.requestsReach(before + 1)
        while device.session.running.withLock({ $0.watchers.isEmpty || $0.machine.waits.count < 2 }) {
            try await nextTurn()
        }
        if isSent {
            _ = try await device.context.push()
        } else {
            try await device.context.discard(try #require(try await device.context.operations().first))
        }
        device.line.set { $0.method == "GET" ? .status(500) : .answered }
        try await waiting.value
        await following.value
        #expect(emulator.texts() == (isSent ? ["milk"] : []))
        await device.session.close()
    }

    @Test("and fail for long: what is given up as somebody begins to wait for it is told to that one")
    func givenUpBefore() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        device.session.start(keeping: [SessionPull(device.table, options: PullOptions(order: .pullFirst))])
        try await device.session.wait(for: .both)
        device.line.set { $0.method == "GET" ? .status(500) : .answered }
        device.session.sync(.download)
        await device.backsOff()
        try await device.add("milk")
        // Behind the look for what there is to wait for.
        store.interrupt {
            try await device.context.discard(try #require(try await device.context.operations().first))
            return true
        }
        try await device.session.wait(for: .upload)
        #expect(emulator.texts().isEmpty)
        await device.session.close()
    }

    @Test("are made before anything is sent in one sync, too, wholly where there is time")
    func background() async throws {
        let device = try SessionDevice(emulator, options: SyncOptions(order: .pullFirst))
        let note = try device.context.table("Note")
        device.session.start(keeping: [
            SessionPull(note, options: PullOptions(order: .pullOnly)),
            SessionPull(device.table, options: PullOptions(maximumRows: 1)),
        ])
        try await device.session.wait(for: .download)
        try emulator.seed(Self.rows, in: "TodoItem")
        try await device.add("milk")
        let before = device.line.requests.count
        #expect(try await device.session.sync(within: .seconds(20)).isComplete)
        let requests = device.line.requests.dropFirst(before)
        #expect(requests.filter { $0.hasPrefix("POST") }.count == 1)
        let sent = try #require(requests.firstIndex { $0.hasPrefix("POST") })
        #expect(!requests[..<sent].contains { $0.contains("Note") })
        #expect(!requests[sent...].dropFirst().contains { $0.contains("TodoItem") })
        #expect(try await device.store.read(Query("TodoItem")).records.count == 4)
        await device.session.close()
    }

    @Test("have one sync send nothing when one of them fails", arguments: [.status(500), .unreachable] as [Line.Fate])
    func backgroundFailure(_ fate: Line.Fate) async throws {
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator, options: SyncOptions(order: .pullFirst))
        try await device.add("milk")
        device.line.set { $0.method == "GET" && $0.path.contains("TodoItem") ? fate : .answered }
        let error = await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(20)) }
        #expect(error?.code == .pullAborted)
        #expect(emulator.texts().isEmpty)
        #expect(try await device.store.read(table: "Note", itemID: "n") != nil)
        await device.session.close()
    }

    @Test(
        "become complete whatever bounds they have, and let pushes in",
        arguments: [
            PullOptions(order: .pullFirst, reconciles: true, maximumTime: .zero),
            PullOptions(order: .pullOnly, reconciles: true, maximumTime: .zero),
            PullOptions(order: .pullFirst, reconciles: true, maximumRows: 1),
            PullOptions(order: .pullFirst, maximumRows: 0), PullOptions(order: .pullFirst, maximumTime: .zero),
        ]
    )
    func bounds(_ options: PullOptions) async throws {
        try emulator.seed(Self.rows, in: "TodoItem")
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        device.session.start(keeping: [SessionPull(device.table, options: options)])
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["1", "2", "3", "milk"])
        #expect(try await device.store.read(Query("TodoItem")).records.count == 4)
        await device.session.close()
    }
}
