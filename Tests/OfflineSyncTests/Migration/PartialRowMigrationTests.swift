import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

@Suite("Rows that changes keep without all of their columns")
struct PartialRowMigrationTests {
    private struct MissingValue: Error {}

    private static func before() throws -> StoreSchema {
        try StoreSchema([
            TableDefinition("Bill", columns: [.init("text", .string), .init("isFavourite", .bool, isLocal: true)])
        ])
    }

    /// A column is filled from the local one, which may go then.
    private static func after(
        dropping: Bool,
        filling: @escaping @Sendable (Record) throws -> FieldValue
    ) throws -> StoreSchema {
        var columns: [ColumnDefinition] = [.init("text", .string), .init("favourite", .bool)]
        var steps: [MigrationStep] = [.fillColumn("favourite", in: "Bill", filling)]
        if dropping {
            steps.append(.dropColumn("isFavourite", in: "Bill"))
        } else {
            columns.append(.init("isFavourite", .bool, isLocal: true))
        }
        return try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: columns)],
            migrations: [Migration(to: 2, steps: steps)]
        )
    }

    @Test(
        "are filled from the local columns of the stored row, and have none afterwards",
        arguments: MigrationWorld.Kind.allCases,
        [true, false]
    )
    func filled(_ kind: MigrationWorld.Kind, _ dropping: Bool) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(Self.before())
        var table = try app.table("Bill")
        try await table.insert(["text": "before", "isFavourite": true], id: "a")
        #expect(try await app.context.push().pushed == 1)
        try await table.update(Record(id: "a", ["text": "after"]))

        let schema = try Self.after(dropping: dropping) { .bool($0["isFavourite"] == true) }
        app = try await world.update(app, to: schema)
        table = try app.table("Bill")
        let base = try #require(try await app.context.operations().first?.baseItem)
        #expect(base["text"] == "before" && base["favourite"] == true)
        #expect(base["isFavourite"] == nil)
        try await table.revert("a")
        let row = try #require(try await table.read("a"))
        #expect(row["text"] == "before" && row["favourite"] == true)
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test(
        "do not stop an opening with a step that gives a value for every stored row",
        arguments: MigrationWorld.Kind.allCases,
        [true, false]
    )
    func strict(_ kind: MigrationWorld.Kind, _ dropping: Bool) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(Self.before())
        var table = try app.table("Bill")
        for id in ["updated", "deleted", "sent"] {
            try await table.insert(["text": "before", "isFavourite": true], id: id)
        }
        #expect(try await app.context.push().pushed == 3)
        try await table.update(Record(id: "sent", ["text": "after"]))
        app.server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await app.context.push() }
        try await table.update(Record(id: "updated", ["text": "after"]))
        try await table.delete("deleted")

        let schema = try Self.after(dropping: dropping) { row in
            guard let value = row["isFavourite"], !value.isNull else { throw MissingValue() }
            return value
        }
        app = try await world.update(app, to: schema)
        table = try app.table("Bill")
        #expect(try await app.context.operations().count == 3)
        try await table.undoDelete("deleted")
        try await table.revert("updated")
        for id in ["updated", "deleted", "sent"] {
            #expect(try await table.read(id)?["favourite"] == true)
        }
        let report = try await app.context.push()
        #expect(report.conflicts.isEmpty && report.notTaken.isEmpty)
        #expect(world.onServer("Bill")["sent"]?["text"]?.string == "after")
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("are not filled where they are tombstones", arguments: MigrationWorld.Kind.allCases)
    func tombstone(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(Self.before())
        let table = try app.table("Bill")
        try await table.insert(["text": "before"], id: "a")
        #expect(try await app.context.push().pushed == 1)
        var row = try #require(world.onServer("Bill")["a"])
        row.removeValue(forKey: "text")
        row["deleted"] = .bool(true)
        row["version"] = "b3RoZXI="
        try world.emulator.seed([row], in: "Bill")
        try await table.update(Record(id: "a", ["text": "mine"]))
        #expect(try await app.context.push().conflicts.count == 1)

        let schema = try Self.after(dropping: true) { row in
            guard row["text"]?.stringValue != nil else { throw MissingValue() }
            return .bool(true)
        }
        app = try await world.update(app, to: schema)
        let error = try #require(try await app.context.operationErrors().first)
        #expect(error.item?["favourite"] == true)
        let tombstone = try #require(error.serverItem)
        #expect(tombstone.isDeleted && tombstone["favourite"] == nil)
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("are filled in new local columns where they are rows deleted here", arguments: MigrationWorld.Kind.allCases)
    func deletedRow(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(Self.before())
        try await app.table("Bill").insert(["text": "before", "isFavourite": true], id: "a")
        #expect(try await app.context.push().pushed == 1)
        try await app.table("Bill").delete("a")

        let columns: [ColumnDefinition] = [
            .init("text", .string), .init("isFavourite", .bool, isLocal: true), .init("mark", .string, isLocal: true),
        ]
        let fill = MigrationStep.fillColumn("mark", in: "Bill") { $0["isFavourite"] == true ? "star" : .null }
        let schema = try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: columns)],
            migrations: [Migration(to: 2, fill)]
        )
        app = try await world.update(app, to: schema)
        try await app.table("Bill").undoDelete("a")
        let row = try #require(try await app.table("Bill").read("a"))
        #expect(row["text"] == "before" && row["isFavourite"] == true && row["mark"] == "star")
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test(
        "are refused with a value in a dropped column that was left out of the declaration before",
        arguments: MigrationWorld.Kind.allCases
    )
    func leftOut(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        let with = TableDefinition("Bill", columns: [.init("text", .string), .init("note", .string)])
        let without = TableDefinition("Bill", columns: [.init("text", .string)])
        var app = try await world.start(StoreSchema([with]))
        let table = try app.table("Bill")
        for id in ["a", "b"] { try await table.insert(["text": "before", "note": "before"], id: id) }
        #expect(try await app.context.push().pushed == 2)
        try await table.update(Record(id: "a", ["text": "after"]))
        try await table.update(Record(id: "b", ["note": "after"]))

        let second = try StoreSchema(version: 2, [without], migrations: [Migration(to: 2)])
        let third = try StoreSchema(
            version: 3,
            [without],
            migrations: [Migration(to: 2), Migration(to: 3, .dropColumn("note", in: "Bill"))]
        )
        app = try await world.update(app, to: second)
        do {
            _ = try await world.update(app, to: third)
            Issue.record("the migration was not refused")
        } catch let error as StoreError {
            #expect(error.code == .migrationRefused)
            #expect(error.message.contains("'note'") && error.message.contains("'b'"))
            #expect(!error.message.contains("'a'"))
        }
        app = try await world.update(app, to: second)
        #expect(try await app.context.push().pushed == 2)
        #expect(world.onServer("Bill")["b"]?["note"]?.string == "after")
        app = try await world.update(app, to: third)
        #expect(try await app.table("Bill").read("b")?["note"] == nil)
    }
}
