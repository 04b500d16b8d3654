import DatasyncEmulator
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("Changes that wait while a store is migrated")
struct MigrationTests {
    @Test("are sent in the new shape, and can be taken back in it", arguments: MigrationWorld.Kind.allCases)
    func waiting(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        for id in ["updated", "deleted", "reverted", "kept"] {
            try await table.insert(["text": "before", "price": 5.1, "paid": true], id: id)
        }
        #expect(try await app.context.push().pushed == 4)
        try await table.update(Record(id: "updated", ["text": "after", "memo": "mine"]))
        try await table.update(Record(id: "reverted", ["text": "after"]))
        try await table.delete("deleted")
        try await table.delete("kept")
        try await table.insert(["text": "new", "price": 5.1], id: "inserted")
        try await table.insert(["text": "cancelled", "price": 5.1], id: "cancelled")
        try await table.delete("cancelled")
        try world.migrateServer()

        app = try await world.update(app, to: MigrationWorld.schema(3))
        table = try app.table("Invoice")
        #expect(try await app.store.verifyQueue().isEmpty)
        let amount = FieldValue.decimal(DecimalText("5.0999999999999996")!)
        let operations = try await app.context.operations()
        #expect(operations.map(\.itemID) == ["updated", "reverted", "deleted", "kept", "inserted"])
        #expect(operations.allSatisfy { $0.table == "Invoice" })
        let base = try #require(operations[0].baseItem)
        #expect(base["title"] == "before" && base["amount"] == amount && base["status"] == "paid")
        #expect(base["text"] == nil && base["price"] == nil && base["paid"] == nil)
        #expect(operations[2].deletedItem?["title"] == "before" && operations[2].deletedItem?["amount"] == amount)

        try await table.revert("reverted")
        try await table.undoDelete("kept")
        try await table.undoDelete("cancelled")
        #expect(try await table.read("reverted")?["title"] == "before")
        #expect(try await table.read("kept")?["amount"] == amount)
        let cancelled = try #require(try await table.read("cancelled"))
        #expect(cancelled["title"] == "cancelled" && cancelled["status"] == "open" && cancelled["text"] == nil)
        #expect(try await table.read("updated")?["memo"] == "mine")

        let report = try await app.context.push()
        #expect(report.pushed == 4 && report.notTaken.isEmpty)
        let rows = world.onServer("Invoice")
        #expect(
            rows.mapValues { $0["title"]?.string } == [
                "updated": "after", "reverted": "before", "kept": "before", "inserted": "new", "cancelled": "cancelled",
            ]
        )
        #expect(rows["inserted"]?["status"]?.string == "open")
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    enum Server: CaseIterable {
        case migrated
        case same
    }

    @Test(
        "and whose answer was lost are recognised: no conflict with oneself, and nothing is lost",
        arguments: MigrationWorld.Kind.allCases,
        [(Server.migrated, true), (.migrated, false), (.same, true), (.same, false)]
    )
    func lostAnswer(_ kind: MigrationWorld.Kind, _ other: (server: Server, isInsert: Bool)) async throws {
        let (server, isInsert) = other
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        if isInsert {
            try await table.insert(["text": "sent", "price": 5.1], id: "a")
        } else {
            try await table.insert(["text": "before", "price": 5.1], id: "a")
            #expect(try await app.context.push().pushed == 1)
            try await table.update(Record(id: "a", ["text": "sent"]))
        }
        app.server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await app.context.push() }
        #expect(world.onServer("Bill")["a"]?["text"]?.string == "sent")
        try await table.update(Record(id: "a", ["text": "edited"]))
        if server == .migrated { try world.migrateServer() }

        // The app keeps the table's name, where the server does.
        let converted = try StoreSchema(
            version: 2,
            [
                TableDefinition(
                    "Bill",
                    columns: [.init("text", .string), .init("price", .decimal), .init("paid", .bool)]
                )
            ],
            migrations: [
                Migration(
                    to: 2,
                    .convertColumn("price", in: "Bill") { _ in .decimal(DecimalText("5.0999999999999996")!) }
                )
            ]
        )
        app = try await world.update(app, to: server == .migrated ? MigrationWorld.schema(3) : converted)
        let name = server == .migrated ? "Invoice" : "Bill"
        table = try app.table(name)
        #expect(try await app.context.operations().map(\.isAttempted) == [true])
        let report = try await app.context.push()
        #expect(report.conflicts.isEmpty && report.notTaken.isEmpty)
        let column = server == .migrated ? "title" : "text"
        #expect(world.onServer(name).mapValues { $0[column]?.string } == ["a": "edited"])
        #expect(try await app.context.operations().isEmpty)
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test(
        "and that were dropped are recognised when they arrive",
        arguments: MigrationWorld.Kind.allCases,
        [true, false]
    )
    func dropped(_ kind: MigrationWorld.Kind, _ isInsert: Bool) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        if isInsert {
            try await table.insert(["text": "sent", "price": 5.1], id: "a")
        } else {
            try await table.insert(["text": "before", "price": 5.1], id: "a")
            #expect(try await app.context.push().pushed == 1)
            try await table.update(Record(id: "a", ["text": "sent"]))
        }
        app.server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await app.context.push() }
        world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method != "GET" })
        let failed = try #require(try await app.context.push().failures.first)
        try await app.context.resolve(failed, with: .keepLocal())
        #expect(try await app.context.operations().isEmpty)
        try world.migrateServer()
        app = try await world.update(app, to: MigrationWorld.schema(3))
        table = try app.table("Invoice")
        try await table.update(Record(id: "a", ["title": "edited"]))
        #expect(try await app.context.push().notTaken.isEmpty)
        #expect(world.onServer("Invoice").mapValues { $0["title"]?.string } == ["a": "edited"])
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test(
        "and the server's row over which one was kept is known in its new shape",
        arguments: MigrationWorld.Kind.allCases
    )
    func kept(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        try await table.insert(["text": "before"], id: "a")
        #expect(try await app.context.push().pushed == 1)
        var row = try #require(world.onServer("Bill")["a"])
        row["text"] = "theirs"
        row["version"] = "b3RoZXI="
        try world.emulator.seed([row], in: "Bill")
        try await table.update(Record(id: "a", ["text": "mine"]))
        let conflict = try #require(try await app.context.push().conflicts.first)
        try await app.context.resolve(conflict, with: .keepLocal())
        try world.migrateServer()
        app = try await world.update(app, to: MigrationWorld.schema(3))
        table = try app.table("Invoice")
        // A pull brings no news: the row that was seen.
        _ = try await table.pull(queryID: "all")
        #expect(try await table.read("a")?["title"] == "mine")
        // The same content in another version is nobody's change.
        row = try #require(world.onServer("Invoice")["a"])
        row["version"] = "YWdhaW4="
        try world.emulator.seed([row], in: "Invoice")
        try await table.update(Record(id: "a", ["title": "later"]))
        #expect(try await app.context.push().notTaken.isEmpty)
        #expect(world.onServer("Invoice")["a"]?["title"]?.string == "later")
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("can be given up for a row that a pull has brought beside them", arguments: MigrationWorld.Kind.allCases)
    func besideARow(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        try await table.insert(["text": "before", "price": 5.1], id: "a")
        #expect(try await app.context.push().pushed == 1)
        try await table.update(Record(id: "a", ["text": "mine"]))
        var row = try #require(world.onServer("Bill")["a"])
        row["text"] = "theirs"
        row["version"] = "b3RoZXI="
        try world.emulator.seed([row], in: "Bill")
        #expect(try await table.pull(options: PullOptions(order: .pullOnly)).skipped == 1)
        app = try await world.update(app, to: MigrationWorld.schema(3))
        table = try app.table("Invoice")
        try await table.revert("a")
        let reverted = try #require(try await table.read("a"))
        #expect(reverted["title"] == "theirs" && reverted["text"] == nil)
        #expect(reverted["amount"] == .decimal(DecimalText("5.0999999999999996")!))
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("and that somebody else's change has overtaken are a conflict still", arguments: MigrationWorld.Kind.allCases)
    func conflict(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        let table = try app.table("Bill")
        try await table.insert(["text": "sent", "price": 5.1], id: "a")
        app.server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await app.context.push() }
        try world.migrateServer()
        var row = try #require(world.onServer("Invoice")["a"])
        row["title"] = "theirs"
        row["version"] = "b3RoZXI="
        try world.emulator.seed([row], in: "Invoice")
        app = try await world.update(app, to: MigrationWorld.schema(3))
        let report = try await app.context.push()
        #expect(report.conflicts.count == 1)
        let error = try #require(try await app.context.operationErrors().first)
        #expect(error.item?["title"] == "sent" && error.serverItem?["title"] == "theirs")
    }

    @Test("take what the server said about them along, and the journal", arguments: MigrationWorld.Kind.allCases)
    func errors(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        let table = try app.table("Bill")
        let ids = ["deleted", "decided", "conflicted"]
        for id in ids { try await table.insert(["text": "before", "price": 5.1], id: id) }
        #expect(try await app.context.push().pushed == 3)
        for id in ids {
            try await table.update(Record(id: .string(id), ["text": "mine"]))
            var row = try #require(world.onServer("Bill")[id])
            row["text"] = "theirs"
            row["version"] = "b3RoZXI="
            try world.emulator.seed([row], in: "Bill")
            app.context.conflictPolicy =
                switch id {
                case "deleted": .merge { _ in .deleteInstead }
                case "decided": .serverWins
                default: .store
                }
            _ = try await app.context.push()
        }
        app = try await world.update(app, to: MigrationWorld.schema(3))
        let entry = try #require(try await app.context.journal().first)
        #expect(entry.table == "Invoice" && entry.itemID == "decided" && entry.givenUp?["title"] == "mine")
        let earlier = try #require(try await app.context.journal().last)
        #expect(earlier.itemID == "deleted" && earlier.givenUp?["title"] == "theirs")
        #expect(earlier.givenUpChange?["title"] == "mine")
        let error = try #require(try await app.context.operationErrors().first { $0.itemID == "conflicted" })
        #expect(error.table == "Invoice" && error.item?["title"] == "mine" && error.serverItem?["title"] == "theirs")
        #expect(error.baseItem?["title"] == "before")
        #expect(error.serverItem?["amount"] == .decimal(DecimalText("5.0999999999999996")!))
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    private static func withoutPaid() throws -> StoreSchema {
        try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: [.init("text", .string)])],
            migrations: [Migration(to: 2, .dropColumn("paid", in: "Bill"))]
        )
    }

    @Test("and are inserts stop one that drops a column in which they have a value")
    func refusedInsert() async throws {
        let world = try MigrationWorld(.memory)
        let app = try await world.start(MigrationWorld.schema(1))
        try await app.table("Bill").insert(["text": "a"], id: "a")
        try await app.table("Bill").insert(["text": "b", "paid": true], id: "b")
        let error = await #expect(throws: StoreError.self) { _ = try await world.update(app, to: Self.withoutPaid()) }
        #expect(error?.code == .migrationRefused)
        #expect(error?.message.contains("'b'") == true && error?.message.contains("'a'") == false)
    }

    @Test(
        "and that would lose their table or column stop the migration, with the rows and the remedy",
        arguments: MigrationWorld.Kind.allCases
    )
    func refused(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        var table = try app.table("Bill")
        try await table.insert(["text": "a", "paid": true], id: "a")
        try await table.insert(["text": "b", "paid": true], id: "b")
        #expect(try await app.context.push().pushed == 2)
        let withoutPaid = try Self.withoutPaid()
        let withoutTable = try StoreSchema(version: 2, [], migrations: [Migration(to: 2, .dropTable("Bill"))])

        try await table.update(Record(id: "a", ["text": "changed"]))
        try await table.update(Record(id: "b", ["paid": false]))
        for schema in [withoutPaid, withoutTable] {
            do {
                _ = try await world.update(app, to: schema)
                Issue.record("the migration was not refused")
            } catch let error as StoreError {
                #expect(error.code == .migrationRefused)
                #expect(error.message.contains("'Bill'") && error.message.contains("'b'"))
                #expect(error.message.contains("push") && error.message.contains("version 1"))
                #expect(error.message.contains("'a'") == (schema == withoutTable))
            }
            app = try await world.update(app, to: MigrationWorld.schema(1))
            table = try app.table("Bill")
            #expect(try await table.read("b")?["paid"] == false)
            #expect(try await app.context.operations().count == 2)
        }
        #expect(try await app.context.push().pushed == 2)
        app = try await world.update(app, to: withoutPaid)
        #expect(try await app.table("Bill").read("a")?["text"] == "changed")
        #expect(try await app.table("Bill").read("a")?["paid"] == nil)
    }

    @Test(
        "leave how far the table was pulled as it is, and what is known of it",
        arguments: MigrationWorld.Kind.allCases
    )
    func progress(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        let before = try StoreSchema([
            TableDefinition("a", columns: [.init("x", .string)], assignsIDs: true),
            TableDefinition("b", columns: [.init("x", .string)], assignsIDs: true),
        ])
        // Both get the name of the other: what is known of one must not be taken for what is known of the other.
        let after = try StoreSchema(
            version: 2,
            before.tables,
            migrations: [
                Migration(to: 2, .renameTable("a", to: "c"), .renameTable("b", to: "a"), .renameTable("c", to: "b"))
            ]
        )
        var app = try await world.start(before)
        let rows = SystemTables.configuration.name
        func setting(_ table: String, _ kind: Int64, _ key: String, _ id: RecordID) -> Record {
            Record(
                id: id,
                [
                    "table": .string(table), "keyType": .int64(kind), "key": .string(key),
                    "value": .string("of " + table),
                ]
            )
        }
        var settings: [Record] = []
        for table in ["a", "b"] {
            settings += [
                setting(table, 0, "all", .string("cursor-\(table)")),
                setting(table, 1_020, "row", .string("set-aside-\(table)")),
                setting(table, 1_021, "row", .string("purged-\(table)")),
            ]
            for key in 0..<700 {
                settings += [1_040, 1_041, 1_042]
                    .map { setting(table, $0, "k\(key)", .string("\($0) \(table) k\(key)")) }
            }
        }
        try await app.store.upsert(settings, table: rows)
        app = try await world.update(app, to: after)
        let found = try await app.store.read(Query(rows).filtered(by: Column("table") != "")).records
        #expect(found.count == settings.count)
        for row in found {
            let (table, key) = (row["table"]?.stringValue ?? "", row["key"]?.stringValue ?? "")
            #expect(row["value"] == (table == "a" ? "of b" : "of a"))
            if row["keyType"] == 1_040 { #expect(row.id == .string("1040 \(table) \(key)")) }
        }
        #expect(try await app.store.read { try SchemaMigration.storedVersion(&$0) } == 2)
    }

    @Test("are not left behind by whoever opens a store without the engine", arguments: MigrationWorld.Kind.allCases)
    func untranslated(_ kind: MigrationWorld.Kind) async throws {
        let store = MemoryStore(try MigrationWorld.schema(1))
        let context = SyncContext(store: store)
        try await context.table("Bill").insert(["text": "a"], id: "a")
        await #expect(throws: StoreError.self) { try await store.reopened(with: MigrationWorld.schema(3)) }
        let moved = try await store.reopened(with: MigrationWorld.schema(3), translating: .operations)
        #expect(try await moved.read(table: "Invoice", itemID: "a")?["title"] == "a")
    }
}
