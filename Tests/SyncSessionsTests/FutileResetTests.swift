import DatasyncEmulator
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

@Suite(
    "A session that was away for too long, and of which one pull fails behind its first row",
    .timeLimit(.minutes(1))
)
struct FutileResetTests {
    let emulator = SessionDevice.emulator()

    private static let fates: [Line.Fate] = [.status(400), .status(500), .status(504), .unreachable]
    private static let options = SessionOptions(maximumOfflineTime: .seconds(3_600))

    /// A device that has everything, and was away for too long since.
    private func device(isAlone: Bool = false) async throws -> (SessionDevice, [SessionPull]) {
        try emulator.seed((0..<5).map { ["id": .string("r\($0)"), "text": .string("r\($0)")] }, in: "TodoItem")
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
        let device = try SessionDevice(emulator)
        var pulls = [SessionPull(device.table, options: PullOptions(pageSize: 2))]
        if !isAlone { pulls.append(SessionPull(try device.context.table("Note"))) }
        device.session.start(keeping: pulls, options: Self.options)
        try await device.session.wait(for: .both)
        device.session.suspend()
        device.clock.advance(by: .seconds(3_601))
        try await device.add("milk", id: "m")
        return (device, pulls)
    }

    /// One that has begun to bring everything anew, and has met a failure behind the first page.
    private func begunDevice(isAlone: Bool = false) async throws -> SessionDevice {
        let (device, _) = try await device(isAlone: isAlone)
        Self.refuse(device, .status(500))
        device.session.resume()
        device.session.sync()
        await device.backsOff()
        #expect(try await device.context.resetStage() == .begunForAge)
        return device
    }

    /// Has every page of the items fail but the first.
    private static func refuse(_ device: SessionDevice, _ fate: Line.Fate) {
        device.line.set { request in
            guard request.method == "GET", request.path.contains("TodoItem") else { return .answered }
            return ["updatedAt%20g", "id%20gt"].contains(where: request.query.contains) ? fate : .answered
        }
    }

    /// Has another attempt made, and waits until it has ended.
    private func attempt(_ device: SessionDevice) async {
        await device.clock.sleeperComes { $0 >= .seconds(1) }
        let count = device.line.requests.count
        device.clock.advance(by: .seconds(300))
        await device.line.requestsReach(count + 1)
        await device.session.workEnds()
        await device.backsOff()
    }

    /// What was forgotten by the server is found when the pull succeeds again.
    private func succeedsInTheEnd(_ device: SessionDevice) async throws {
        let other = SessionDevice.emulator()
        try other.seed([["id": "r1", "text": "r1"], ["id": "m", "text": "milk"]], in: "TodoItem")
        device.line.divert(to: other)
        device.line.set(.answered)
        await device.session.reconnect()
        device.session.sync(.download)
        try await device.session.wait(for: .both)
        #expect(try await device.store.read(Query("TodoItem")).records.map(\.id) == ["m", "r1"])
        #expect(try await device.context.resetStage() == .none)
        await device.session.close()
    }

    @Test(
        "does not bring everything anew for ever: changes are sent, and the others are pulled",
        arguments: fates,
        [false, true]
    )
    func started(_ fate: Line.Fate, restarts: Bool) async throws {
        var (device, pulls) = try await device()
        Self.refuse(device, fate)
        try emulator.seed([["id": "o", "text": "other"]], in: "Note")
        device.session.resume()
        device.session.sync()
        if restarts {
            // The process ends while everything is brought anew; what is refused has been given up by then.
            if case .status(400, _) = fate { await device.session.workEnds() } else { await device.backsOff() }
            await device.session.close()
            device = try SessionDevice(emulator, device.store)
            Self.refuse(device, fate)
            device.clock.advance(by: .seconds(3_700))
            pulls = [pulls[0], SessionPull(try device.context.table("Note"))]
            device.session.start(keeping: pulls, options: Self.options)
        }
        let uploading = Task { [session = device.session] in try await session.wait(for: .upload) }
        while try await device.context.status().pending > 0 {
            if case .backingOff = device.session.state { device.clock.advance(by: .seconds(30)) }
            try await nextTurn()
        }
        try await uploading.value
        #expect(emulator.texts().contains("milk"))
        while try await device.store.read(table: "Note", itemID: "o") == nil { try await nextTurn() }
        await device.session.workEnds()
        #expect(try await device.context.resetStage() == .none)
        #expect((device.session.error as? SyncError)?.code == .pullAborted)
        #expect(try await device.store.read(Query("TodoItem")).records.count == 6, "nothing was taken away")
        try await succeedsInTheEnd(device)
    }

    @Test("nor do single syncs", arguments: fates)
    func single(_ fate: Line.Fate) async throws {
        try emulator.seed((0..<5).map { ["id": .string("r\($0)"), "text": .string("r\($0)")] }, in: "TodoItem")
        let device = try SessionDevice(emulator)
        let pulls = [
            SessionPull(device.table, options: PullOptions(pageSize: 2)), SessionPull(try device.context.table("Note")),
        ]
        var options = Self.options
        options.pullInterval = nil
        options.pushDelay = .seconds(1_000_000)
        device.session.start(keeping: pulls, options: options)
        try await device.session.wait(for: .both)
        device.clock.advance(by: .seconds(3_601))
        try await device.add("milk", id: "m")
        Self.refuse(device, fate)
        for _ in 0..<3 {
            let error = await #expect(throws: SyncError.self) {
                _ = try await device.session.sync(within: .seconds(25))
            }
            #expect(error?.code == .pullAborted)
        }
        #expect(try await device.context.resetStage() == .none)
        #expect(emulator.texts().contains("milk"))
        try await succeedsInTheEnd(device)
    }

    @Test("nor are all rows said to be here by a single sync that could not find what was deleted long ago")
    func newsAlone() async throws {
        let device = try SessionDevice(emulator)
        // With parameters, rows that one pull lacks are not gone.
        let news = SessionPull(device.table, options: PullOptions(parameters: ["of": "mine"]))
        var options = Self.options
        options.pullInterval = nil
        device.session.start(keeping: [news, SessionPull(try device.context.table("Note"))], options: options)
        try await device.session.wait(for: .both)
        let before = try await device.context.lastCompletePull(of: news.source, news.name)
        device.clock.advance(by: .seconds(3_601))
        try emulator.seed([["id": "r", "text": "new"]], in: "TodoItem")
        device.line.set { $0.path.contains("Note") ? .status(400) : .answered }
        for _ in 0..<2 {
            let error = await #expect(throws: SyncError.self) {
                _ = try await device.session.sync(within: .seconds(25))
            }
            #expect(error?.code == .pullAborted)
        }
        #expect(try await device.store.read(table: "TodoItem", itemID: "r")?["text"] == "new")
        #expect(try await device.context.lastCompletePull(of: news.source, news.name) == before)
        await device.session.close()
    }

    @Test(
        "gives it up as well where the pull fails from its first page on, once it has begun",
        arguments: [Line.Fate.status(400), .status(500), .status(504)]
    )
    func failingWhollySince(_ fate: Line.Fate) async throws {
        let device = try await begunDevice()
        device.line.set { $0.method == "GET" && $0.path.contains("TodoItem") ? fate : .answered }
        try await isGivenUp(device)
    }

    @Test("gives it up as well where that pull is the only one, while its table is answered")
    func failingAlone() async throws {
        let device = try await begunDevice(isAlone: true)
        device.line.set { $0.method != "GET" || $0.query.contains("top=0") ? .answered : .status(500) }
        try await isGivenUp(device)
    }

    /// Waits until it is given up to bring everything anew, and changes are sent.
    private func isGivenUp(_ device: SessionDevice) async throws {
        while !emulator.texts().contains("milk") {
            if case .backingOff = device.session.state { device.clock.advance(by: .seconds(30)) }
            try await nextTurn()
        }
        await device.session.workEnds()
        #expect(try await device.context.resetStage() == .none)
        #expect(device.session.state != .failed)
        try await succeedsInTheEnd(device)
    }

    @Test("goes on where it was after one failure, and gives nothing up while the network is gone")
    func goesOn() async throws {
        let device = try await begunDevice()
        device.line.set(.unreachable)
        for _ in 0..<3 {
            await attempt(device)
        }
        #expect(try await device.context.resetStage() == .begunForAge)
        #expect(emulator.texts().contains("milk") == false)
        try await succeedsInTheEnd(device)
    }

    @Test("gives nothing up while the server fails on everything")
    func outage() async throws {
        let device = try await begunDevice()
        device.line.set(.status(500))
        for _ in 0..<4 {
            await attempt(device)
        }
        #expect(try await device.context.resetStage() == .begunForAge)
        try await succeedsInTheEnd(device)
    }

    @Test("does not begin it anew with every network")
    func otherNetwork() async throws {
        let (device, _) = try await device()
        Self.refuse(device, .status(400))
        device.session.resume()
        device.session.sync()
        while !emulator.texts().contains("milk") { try await nextTurn() }
        await device.session.workEnds()
        let cycle = device.session.running.withLock { $0.machine.list }
        for _ in 0..<3 {
            device.session.networkChanged(true)
            #expect(!device.session.running.withLock { $0.machine.work?.resets ?? false })
            await device.session.workEnds()
            #expect(try await device.context.resetStage() == .none)
        }
        #expect(device.session.running.withLock { $0.machine.list } == cycle)
        try await succeedsInTheEnd(device)
    }

    @Test("brings everything anew all the same when the server has lost its history")
    func needed() async throws {
        let (device, _) = try await device()
        Self.refuse(device, .status(500))
        // Otherwise the one for the age may have failed before.
        device.session.serverWasReset()
        device.session.resume()
        for _ in 0..<4 {
            await device.backsOff()
            #expect(try await device.context.resetStage() == .begun)
            await attempt(device)
        }
        #expect(emulator.texts().contains("milk") == false)
        try await succeedsInTheEnd(device)
    }
}
