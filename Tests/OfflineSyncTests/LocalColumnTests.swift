import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Columns that stay on the device")
struct LocalColumnTests {
    private static let columns = [ColumnDefinition("pinned", .bool, isLocal: true)]

    /// Lends a world in which the laptop has a row and has set its local column.
    private func world(
        _ dialect: DatasyncDialect,
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect, laptopColumns: Self.columns) { world in
            try await world.shareItem()
            try await world.laptop.table.update(Record(id: "a", ["pinned": true]))
            try await body(world, world.laptop)
        }
    }

    @Test("a change of nothing else is not queued", arguments: DatasyncDialect.allCases)
    func notQueued(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { _, laptop in
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.table.read("a")?["pinned"] == true)
            try await laptop.table.update(Record(id: "a", ["pinned": false, "text": "milk"]))
            #expect(try await laptop.context.operations().isEmpty, "the text is what it was")
        }
    }

    @Test("a pull cannot ask by them")
    func notAskedFor() async throws {
        try await world(.datasync) { world, laptop in
            let before = world.emulator.requests.count
            let code = try await syncErrorCode {
                try await laptop.table.pull(queryID: "q", where: !(Column("pinned") == true))
            }
            #expect(code == .invalidParameter && world.emulator.requests.count == before)
        }
    }

    @Test("they are never sent", arguments: DatasyncDialect.allCases)
    func notSent(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine", "pinned": false]))
            try await laptop.table.insert(["text": "new", "pinned": true], id: "b")
            world.emulator.clearRequests()
            #expect(try await laptop.context.push().pushed == 2)
            for request in world.emulator.requests {
                #expect(!String(decoding: request.request.body, as: UTF8.self).contains("pinned"))
            }
            #expect(try await laptop.table.read("a")?["pinned"] == false)
            #expect(try await laptop.table.read("b")?["pinned"] == true)
            #expect(try await laptop.context.status().unshownColumns["TodoItem"]?.contains("pinned") != true)
        }
    }

    @Test(
        "no row of the server touches them, even one that has a column of that name",
        arguments: DatasyncDialect.allCases
    )
    func notTouched(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { world, laptop in
            try world.emulator.seed([["id": "a", "text": "theirs", "pinned": .bool(false)]], in: "TodoItem")
            try await laptop.pull()
            #expect(try await laptop.text("a") == "theirs")
            #expect(try await laptop.table.read("a")?["pinned"] == true)
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs 2"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            #expect(try await laptop.text("a") == "theirs 2")
            #expect(try await laptop.table.read("a")?["pinned"] == true)
        }
    }

    @Test(
        "a row that takes the place of a deletion has them as they were, the server's or one of both",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func takenInsteadOfDeletion(_ dialect: DatasyncDialect, isMerged: Bool) async throws {
        try await world(dialect) { world, laptop in
            try await laptop.table.delete("a")
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.context.push().conflicts.count == 1)
            let merged = Record(id: "a", ["text": "both"])
            let resolution: ConflictResolution<Record> = isMerged ? .keepMerged(merged) : .takeServer
            try await laptop.context.resolve(try await laptop.onlyError(), with: resolution)
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(try await laptop.text("a") == (isMerged ? "both" : "theirs"))
            #expect(world.onServer() == ["a": isMerged ? "both" : "theirs"])
            #expect(try await laptop.table.read("a")?["pinned"] == true)
        }
    }
}
