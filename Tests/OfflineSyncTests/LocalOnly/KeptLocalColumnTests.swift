import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("What becomes of columns that stay on the device")
struct KeptLocalColumnTests {
    private static let columns = [ColumnDefinition("pinned", .bool, isLocal: true)]

    /// Lends a world in which the laptop has a row, has set its local column, and both have changed the text.
    private func world(
        _ dialect: DatasyncDialect = .datasync,
        theirs: Bool = true,
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect, laptopColumns: Self.columns) { world in
            try await world.shareItem()
            try await world.laptop.table.update(Record(id: "a", ["pinned": true]))
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            if theirs {
                try await world.phone.table.update(Record(id: "a", ["complete": true]))
                _ = try await world.phone.context.push()
            }
            try await body(world, world.laptop)
        }
    }

    private func pinned(_ device: SyncWorld.Device) async throws -> FieldValue? {
        try await device.table.read("a")?["pinned"]
    }

    @Test("what is given up, taken from the server or put together keeps them", arguments: DatasyncDialect.allCases)
    func settled(_ dialect: DatasyncDialect) async throws {
        let resolutions: [ConflictResolution<Record>] = [
            .takeServer, .discard, .keepMine, .keepMerged(Record(id: "a", ["text": "both"])),
            .keepLocal(Record(id: "a", ["text": "both"])),
        ]
        for resolution in resolutions {
            try await world(dialect) { _, laptop in
                #expect(try await laptop.context.push().conflicts.count == 1)
                try await laptop.context.resolve(try await laptop.onlyError(), with: resolution)
                #expect(try await pinned(laptop) == true, "\(resolution)")
                _ = try await laptop.context.push()
                try await laptop.pull()
                #expect(try await pinned(laptop) == true, "\(resolution)")
            }
        }
    }

    @Test("a merge by a policy sees them in nothing that it compares, and keeps them")
    func merged() async throws {
        try await world { world, laptop in
            laptop.context.conflictPolicy = .merge { conflict in
                #expect(conflict.baseItem?["pinned"] == nil && conflict.serverItem?["pinned"] == nil)
                var merged = conflict.serverItem ?? Record(id: "a")
                merged["text"] = conflict.item?["text"]
                return .keepMerged(merged)
            }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["pinned"] == true && row["text"] == "mine" && row["complete"] == true)
        }
    }

    @Test("a change that is taken back keeps what they are now; a deletion that is taken back, what they were")
    func undone() async throws {
        try await world(theirs: false) { _, laptop in
            try await laptop.table.update(Record(id: "a", ["pinned": false]))
            #expect(try await laptop.context.operations().count == 1)
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "milk")
            #expect(try await pinned(laptop) == false)
            try await laptop.table.delete("a")
            try await laptop.table.undoDelete("a")
            #expect(try await pinned(laptop) == false)
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("an edit of nothing else leaves a row in its state, also one with a version that is long gone")
    func states() async throws {
        try await world { world, laptop in
            #expect(try await laptop.table.syncStates() == ["a": .pending])
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.table.update(Record(id: "a", ["pinned": false]))
            #expect(try await laptop.table.syncStates() == ["a": .conflicted])
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.table.update(Record(id: "a", ["pinned": true, "version": "old"]))
            #expect(try await laptop.table.syncStates().isEmpty)
            world.emulator.clearRequests()
            #expect(try await laptop.context.push().requests == 0)
        }
    }

    @Test("a row that comes anew has none, and one that the server removes takes them along")
    func removed() async throws {
        try await world(theirs: false) { world, laptop in
            #expect(try await laptop.context.push().pushed == 1)
            try await world.phone.pull()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await laptop.pull()
            #expect(try await laptop.table.read("a") == nil)
            try world.emulator.seed([["id": "a", "text": "again"]], in: "TodoItem")
            try await laptop.pull()
            #expect(try await laptop.text("a") == "again")
            #expect(try await pinned(laptop)?.isNull ?? true)
        }
    }

    @Test("what is brought anew comes beside them")
    func reset() async throws {
        let server = HistoryServer()
        let table = TableDefinition("TodoItem", columns: todoTable.columns + Self.columns)
        let context = SyncContext(store: try makeStore(table), remote: server)
        let todos = try context.table("TodoItem")
        for id in ["a", "b", "c"] { server.write(id, id) }
        try await todos.pull()
        for id in ["a", "b", "c"] { try await todos.update(Record(id: .string(id), ["pinned": true])) }
        try await todos.update(Record(id: "b", ["text": "mine"]))
        server.reset(to: ["a": "other", "b": "b"])
        _ = try await context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: true)
        try await context.endReset()
        let rows = try await todos.read(todos.query).records
        #expect(rows.map { $0["text"] } == ["other", "b"] && rows.map { $0["pinned"] } == [true, true])
    }

    @Test("a column of the server that has such a name keeps what it has there", arguments: DatasyncDialect.allCases)
    func sameName(_ dialect: DatasyncDialect) async throws {
        try await world(dialect, theirs: false) { world, laptop in
            #expect(try await laptop.context.push().pushed == 1)
            let seeded: [String: JSONValue] = ["id": "a", "text": "theirs", "pinned": "there"]
            try world.emulator.seed([seeded], in: "TodoItem")
            try await laptop.pull()
            #expect(try await pinned(laptop) == true)
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.push().pushed == 1)
            let row = world.emulator.rows(in: "TodoItem").first
            #expect(row?["pinned"] == "there" && row?["text"] == "mine")
        }
    }
}
