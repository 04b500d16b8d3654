import SyncContract
import Testing

@Suite("Migrations of a schema")
struct MigrationTests {
    private let invoice = TableDefinition("Invoice", columns: [.init("amount", .decimal), .init("status", .string)])

    private func message(_ version: Int, _ migrations: Migration...) -> String? {
        do {
            _ = try StoreSchema(version: version, [invoice], migrations: migrations)
            return nil
        } catch {
            return error.code == .invalidSchema ? error.message : "another error"
        }
    }

    @Test("lead to every version from 2 on, without a gap and in order")
    func versions() {
        #expect(message(1) == nil)
        #expect(message(3, Migration(to: 2), Migration(to: 3)) == nil)
        #expect(message(0) != nil)
        for migrations in [[], [3], [2], [3, 2], [2, 2, 3], [2, 3, 4], [1, 2, 3]] as [[Int]] {
            let schema = Result {
                try StoreSchema(version: 3, [invoice], migrations: migrations.map { Migration(to: $0) })
            }
            #expect(throws: StoreError.self, "\(migrations)") { try schema.get() }
        }
        #expect(message(1, Migration(to: 2)) != nil)
    }

    @Test("speak of tables and columns that there are when their turn comes")
    func names() {
        let rename = MigrationStep.renameTable("Bill", to: "Invoice")
        #expect(message(2, Migration(to: 2, rename, .renameColumn("price", to: "amount", in: "Invoice"))) == nil)
        #expect(message(2, Migration(to: 2, .renameColumn("price", to: "amount", in: "Bill"), rename)) == nil)
        #expect(message(2, Migration(to: 2, .dropColumn("paidAt", in: "Invoice"))) == nil)
        #expect(
            message(2, Migration(to: 2, .convertColumn("x", in: "Old") { $0 }, .dropTable("Old"))) == nil,
            "the columns of a table that goes are not known"
        )
        let wrong: [(MigrationStep, String)] = [
            (.renameTable("Bill", to: "Invoices"), "'Invoices'"), (.renameTable("Invoice", to: "Invoice"), "'Invoice'"),
            (.renameColumn("price", to: "amuont", in: "Invoice"), "'amuont'"),
            (.renameColumn("price", to: "amount", in: "Bill"), "'Bill'"),
            (.convertColumn("price", in: "Invoice") { $0 }, "'price'"),
            (.fillColumn("stauts", in: "Invoice", with: "open"), "'stauts'"),
            (.dropColumn("version", in: "Invoice"), "'version'"), (.dropColumn("x", in: "Bill"), "'Bill'"),
        ]
        for (step, name) in wrong {
            let found = message(2, Migration(to: 2, step))
            #expect(found?.contains(name) == true && found?.contains("version 2") == true, "\(found ?? "no error")")
        }
        let twice = message(
            2,
            Migration(
                to: 2,
                .renameColumn("a", to: "amount", in: "Invoice"),
                .renameColumn("b", to: "amount", in: "Invoice")
            )
        )
        #expect(twice?.contains("'amount'") == true)
    }

    @Test("begin at the version that a store has, and pass over what it never had")
    func lineage() throws {
        let schema = try StoreSchema(
            version: 3,
            [invoice],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("Bill", to: "Invoice"),
                    .fillColumn("status", in: "Invoice", with: "old")
                ),
                Migration(to: 3, .fillColumn("amount", in: "Invoice", with: 1), .dropTable("Draft")),
            ]
        )
        let bill = TableDefinition("Bill", columns: [.init("amount", .decimal)])
        let draft = TableDefinition("Draft", columns: [])
        var migration = try #require(try SchemaMigration(from: 1, of: [bill, draft], to: schema))
        #expect(migration.tables.map(\.old.name) == ["Bill", "Draft"])
        #expect(migration.tables.map { $0.new?.name } == ["Invoice", nil])
        #expect(try migration.tables[0].row(Record(id: "a")) == Record(id: "a", ["status": "old", "amount": 1]))
        migration = try #require(try SchemaMigration(from: 2, of: [invoice], to: schema))
        #expect(try migration.tables.map { try $0.row(Record(id: "a")) } == [Record(id: "a", ["amount": 1])])
        #expect(try SchemaMigration(from: 1, of: [], to: schema)?.tables.isEmpty == true)
        #expect(try SchemaMigration(from: 3, of: [invoice], to: schema) == nil)
        #expect(throws: StoreError.self) { try SchemaMigration(from: 4, of: [invoice], to: schema) }
        #expect(throws: StoreError.self, "both names are stored") {
            try SchemaMigration(from: 1, of: [bill, invoice], to: schema)
        }
        #expect(throws: StoreError.self, "also in another case: SQLite takes them for one") {
            try SchemaMigration(from: 1, of: [bill, TableDefinition("INVOICE", columns: [])], to: schema)
        }
    }
}

@Suite("Steps that misspell a name")
struct MisspeltStepTests {
    private let invoice = TableDefinition("Invoice", columns: [.init("amount", .decimal)])
    private let bill = TableDefinition("Bill", columns: [.init("price", .decimal)])

    private func failure(_ steps: MigrationStep..., of stored: TableDefinition...) throws -> String? {
        let schema = try StoreSchema(version: 2, [invoice], migrations: [Migration(to: 2, steps: steps)])
        do throws(StoreError) {
            _ = try SchemaMigration(from: 1, of: stored, to: schema)
            return nil
        } catch {
            #expect(error.code == .schemaMismatch)
            return error.message
        }
    }

    @Test("are told with what the store has in its place, before anything is touched")
    func told() throws {
        let table = try failure(.renameTable("Bil", to: "Invoice"), of: bill)
        #expect(table?.contains("'Bil'") == true && table?.contains("'Bill'") == true)
        #expect(try failure(.dropTable("Bil"), of: bill)?.contains("'Bill'") == true)
        let rename: [MigrationStep] = [.renameTable("Bill", to: "Invoice")]
        let column = try failure(rename[0], .renameColumn("prise", to: "amount", in: "Invoice"), of: bill)
        #expect(column?.contains("'prise'") == true && column?.contains("'price'") == true)
        #expect(try failure(rename[0], .dropColumn("prize", in: "Invoice"), of: bill)?.contains("'price'") == true)
        #expect(try failure(rename[0], .renameColumn("price", to: "amount", in: "Invoice"), of: bill) == nil)
    }

    @Test("are not what a store misses that is older than a table or column")
    func older() throws {
        #expect(try failure(.renameTable("Bill", to: "Invoice")) == nil)
        #expect(try failure(.dropTable("Draft"), of: invoice) == nil)
        let empty = TableDefinition("Invoice", columns: [])
        #expect(try failure(.renameColumn("price", to: "amount", in: "Invoice"), of: empty) == nil)
        // What the versions between have left out is not known.
        let schema = try StoreSchema(
            version: 3,
            [invoice],
            migrations: [Migration(to: 2), Migration(to: 3, .renameTable("Draft", to: "Invoice"))]
        )
        #expect(try SchemaMigration(from: 1, of: [bill], to: schema)?.tables.isEmpty == true)
        #expect(throws: StoreError.self) { try SchemaMigration(from: 2, of: [bill], to: schema) }
    }
}
