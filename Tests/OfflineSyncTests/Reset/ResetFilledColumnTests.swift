import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("Changes of rows in which a migration has filled a column, when the server has lost its history")
struct ResetFilledColumnTests {
    /// What the server has afterwards.
    enum Server: CaseIterable {
        case sameRow, sameRowFilled, otherValue, otherText, otherVersion
    }

    @Test(
        "are held against the row as it came, whether or not the server has filled it",
        arguments: Server.allCases,
        [true, false]
    )
    func filled(_ afterwards: Server, _ isBrought: Bool) async throws {
        let server = HistoryServer()
        let task = TableDefinition("Task", columns: [.init("text", .string)])
        let note = TableDefinition("Note", columns: [.init("text", .string)])
        let store = MemoryStore(try StoreSchema([task, note]))
        var context = SyncContext(store: store, remote: server)
        server.reset(to: ["a": "a", "b": "b"])
        try await context.table("Task").pull()

        let wider = TableDefinition("Task", columns: [.init("text", .string), .init("parent", .string)])
        let schema = try StoreSchema(
            version: 2,
            [wider, note],
            migrations: [Migration(to: 2, .fillColumn("parent", in: "Task", with: .string("none")))]
        )
        let migrated = try await store.reopened(with: schema, translating: .operations)
        context = SyncContext(store: migrated, remote: server)
        // From here on a row that does not have the column has no value in it.
        try await context.table("Task").update(Record(id: "b", ["text": "b2"]))
        #expect(try await context.push().pushed == 1)
        #expect(server.values("parent") == ["b": "none"])

        try await context.table("Task").update(Record(id: "a", ["text": "mine"]))
        let parent: String? =
            switch afterwards {
            case .sameRowFilled: "none"
            case .otherValue: "theirs"
            case .sameRow, .otherText, .otherVersion: nil
            }
        server.reset(
            to: ["a": afterwards == .otherText ? "theirs" : "a", "b": "b2"],
            versions: afterwards == .otherVersion ? 2 : 1,
            parents: parent.map { ["a": $0] } ?? [:]
        )
        let fresh = FreshPull(Query(isBrought ? "Task" : "Note"))
        let report = try await context.reset(onto: [fresh], discardsChanges: false)
        try await context.endReset()
        let isSame = afterwards == .sameRow || afterwards == .sameRowFilled
        #expect(report.waiting == 1 && report.conflicts == (isSame || !isBrought ? 0 : 1))
        let pushed = try await context.push()
        #expect(pushed.pushed == (isSame ? 1 : 0) && pushed.conflicts.count == (isSame ? 0 : 1))
        #expect(server.texts["a"] == (isSame ? "mine" : afterwards == .otherText ? "theirs" : "a"))
        #expect(try await migrated.verifyQueue().isEmpty)
    }

    @Test("are held against it as well when a second migration has filled another one")
    func filledTwice() async throws {
        let server = HistoryServer()
        let columns = ["text", "parent", "color"].map { ColumnDefinition($0, .string) }
        let schemas = try (1...3)
            .map { version in
                try StoreSchema(
                    version: version,
                    [TableDefinition("Task", columns: Array(columns.prefix(version)))],
                    migrations: columns.prefix(version).enumerated().dropFirst()
                        .map { Migration(to: $0 + 1, .fillColumn($1.name, in: "Task", with: .string("none"))) }
                )
            }
        var store = MemoryStore(schemas[0])
        server.reset(to: ["a": "a", "b": "b"])
        try await SyncContext(store: store, remote: server).table("Task").pull()
        for schema in schemas.dropFirst() { store = try await store.reopened(with: schema, translating: .operations) }
        let context = SyncContext(store: store, remote: server)
        // From here on a row that does not have the columns has no values in them.
        try await context.table("Task").update(Record(id: "b", ["text": "b2"]))
        #expect(try await context.push().pushed == 1)
        try await context.table("Task").update(Record(id: "a", ["text": "mine"]))
        server.reset(to: ["a": "a", "b": "b2"])
        let report = try await context.reset(onto: [FreshPull(Query("Task"))], discardsChanges: false)
        try await context.endReset()
        #expect(report.waiting == 1 && report.conflicts == 0)
        #expect(try await context.push().pushed == 1)
        #expect(server.texts["a"] == "mine")
    }

    @Test(
        "are known by the names that they have on the server after another migration",
        arguments: [("owner", nil, "owner"), ("owner", "parent", "parent"), (nil, nil, nil)]
            as [(String?, String?, String?)]
    )
    func renamed(_ name: String?, _ wireName: String?, _ known: String?) async throws {
        let text = ColumnDefinition("text", .string)
        let filled = Migration(to: 2, .fillColumn("parent", in: "Task", with: .string("none")))
        let then =
            name.map { MigrationStep.renameColumn("parent", to: $0, in: "Task") } ?? .dropColumn("parent", in: "Task")
        let last = [text] + (name.map { [ColumnDefinition($0, .string, wireName: wireName)] } ?? [])
        var store = MemoryStore(try StoreSchema([TableDefinition("Task", columns: [text])]))
        for (version, columns) in [(2, [text, .init("parent", .string)]), (3, last)] {
            let schema = try StoreSchema(
                version: version,
                [TableDefinition("Task", columns: columns)],
                migrations: [filled, Migration(to: 3, then)].filter { $0.version <= version }
            )
            store = try await store.reopened(with: schema, translating: .operations)
        }
        let settings = Query("MS_TableConfig").filtered(by: Column("keyType") == 1_007)
        #expect(try await store.read(settings).records.map { $0["value"]?.stringValue } == (known.map { [$0] } ?? []))
    }

    @Test("are of no interest any more when all rows were purged by force")
    func purged() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition("Task", columns: [.init("text", .string)])]))
        let schema = try StoreSchema(
            version: 2,
            [TableDefinition("Task", columns: [.init("text", .string), .init("parent", .string)])],
            migrations: [Migration(to: 2, .fillColumn("parent", in: "Task", with: .string("none")))]
        )
        let migrated = try await store.reopened(with: schema, translating: .operations)
        let settings = Query("MS_TableConfig").filtered(by: Column("keyType") == 1_007)
        #expect(try await migrated.read(settings).records.compactMap { $0["value"]?.stringValue } == ["parent"])
        _ = try await SyncContext(store: migrated, remote: HistoryServer()).forcePurge("Task")
        #expect(try await migrated.read(settings).records.isEmpty)
    }
}
