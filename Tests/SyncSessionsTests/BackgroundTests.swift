import DatasyncEmulator
import OfflineSync
import RemoteContract
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

    @Test("adds up what its pulls have done, in all tables")
    func sums() async throws {
        let tables = ["TodoItem", "Note"]
        for table in tables {
            try emulator.seed(["gone", "waiting"].map { ["id": .string($0), "text": "before"] }, in: table)
        }
        let device = try SessionDevice(emulator)
        #expect(try await device.session.sync(within: .seconds(25)).pull.received == 4)
        device.session.suspend(.upload)
        for table in tables {
            try await device.context.table(table).update(Record(id: "waiting", ["text": "mine"]))
            let rows: [[String: JSONValue]] = [
                ["id": "gone", "deleted": true], ["id": "waiting", "text": "theirs"], ["id": "new", "text": "new"],
                // No page brings it.
                ["id": "unfit", "text": 7, "updatedAt": "2020-01-01T00:00:00Z"],
            ]
            try emulator.seed(rows, in: table)
            // As when a page was overtaken by an answer: the row is asked for by its id.
            let fields: [String: FieldValue] = ["table": .string(table), "keyType": 1_000, "key": "unfit"]
            let mark = Record(id: .string("mark \(table)"), fields)
            try await device.store.write { try $0.upsert([mark], into: SystemTables.configuration.name) }
        }
        let before = device.line.requests.count
        let report = try await device.session.sync(within: .seconds(25)).pull
        #expect(report.received == 2 && report.deleted == 2 && report.skipped == 2 && report.notFetched == 2)
        #expect(
            Set(report.setAside.map(\.table)) == Set(tables) && report.setAside.map(\.itemID) == ["unfit", "unfit"]
        )
        #expect(report.requests == device.line.requests.count - before, "nothing else was sent")
        await device.session.close()
    }

    @Test("adds up the changes that its pulls have made pointless")
    func pruned() async throws {
        let tables = ["TodoItem", "Note"]
        for table in tables { try emulator.seed([["id": "a", "text": "before"]], in: table) }
        let device = try SessionDevice(emulator, options: SyncOptions(order: .pullFirst))
        #expect(try await device.session.sync(within: .seconds(25)).pull.received == 2)
        for table in tables {
            try await device.context.table(table).update(Record(id: "a", ["text": "same"]))
            try emulator.seed([["id": "a", "text": "same"]], in: table)
        }
        let report = try await device.session.sync(within: .seconds(25))
        #expect(report.pull.pruned == 2 && report.push.pushed == 0)
        await device.session.close()
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

    @Test("throws also when its task is cancelled while the time is over and something is under way still")
    func cancelledAtTheEnd() async throws {
        let store = InterruptedReads(try StoreSchema([todoTable, noteTable]))
        let device = try SessionDevice(emulator, store)
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let (endings, ending) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        // A wait for a task is not ended by being cancelled.
        let released = Task { for await _ in releases {} }
        store.interrupt {
            hold.finish()
            await withTaskCancellationHandler {
                await released.value
            } onCancel: {
                ending.finish()
            }
            return true
        }
        let syncing = Task { try await device.session.sync(within: .seconds(25)) }
        for await _ in held {}
        await device.clock.sleeperComes { $0 == .seconds(25) }
        device.clock.advance(by: .seconds(25))
        for await _ in endings {}
        syncing.cancel()
        release.finish()
        await #expect(throws: CancellationError.self) { _ = try await syncing.value }
        await device.session.close()
    }
}
