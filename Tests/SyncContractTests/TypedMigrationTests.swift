import Foundation
import SyncContract
import Testing

@Suite("Migration steps with Swift types")
struct TypedMigrationTests {
    private enum Status: String, ColumnValue { case sent, paid }
    private struct Refused: Error {}

    private static let old = TableDefinition(
        "Invoice",
        columns: [.init("amount", .double), .init("paidAt", .date), .init("count", .string)]
    )

    /// What the steps make of a row.
    private func row(_ values: [String: FieldValue], _ steps: MigrationStep...) throws -> Record {
        let new = TableDefinition(
            "Invoice",
            columns: [.init("amount", .decimal), .init("status", .string), .init("count", .int64)]
        )
        let schema = try StoreSchema(version: 2, [new], migrations: [Migration(to: 2, steps: steps)])
        let migration = try #require(try SchemaMigration(from: 1, of: [Self.old], to: schema))
        return try migration.tables[0].row(Record(id: "1", values))
    }

    @Test("convert values of the old type into the new one, and leave nulls")
    func converts() throws {
        let step = MigrationStep.convertColumn("amount", in: "Invoice") { (old: Double) in Decimal(old) }
        #expect(try row(["amount": 2.5], step)["amount"] == .decimal(try #require(DecimalText("2.5"))))
        #expect(try row(["amount": 2], step)["amount"] == .decimal(DecimalText(2)))
        #expect(try row(["amount": .null], step)["amount"] == .some(.null))
        #expect(try row([:], step)["amount"] == nil)
    }

    @Test("a conversion to an optional may give null")
    func gaps() throws {
        let step = MigrationStep.convertColumn("count", in: "Invoice") { (old: String) in Int(old) }
        #expect(try row(["count": "12"], step)["count"] == 12)
        #expect(try row(["count": "many"], step)["count"] == .some(.null))
    }

    @Test("fill a column with values of several types, or none")
    func fillsWithAny() throws {
        let step = MigrationStep.fillColumn("status", in: "Invoice") { row in
            if row["paidAt"] == .null { return nil }
            if row["count"] == "1" { return "one" }
            return Status.paid
        }
        #expect(try row(["paidAt": .null], step)["status"] == .some(.null))
        #expect(try row(["paidAt": .date(Timestamp(milliseconds: 0)), "count": "1"], step)["status"] == "one")
        #expect(try row(["paidAt": .date(Timestamp(milliseconds: 0))], step)["status"] == "paid")
    }

    @Test("fill a column from the row, from a value, and with nothing")
    func fills() throws {
        let step = MigrationStep.fillColumn("status", in: "Invoice") { row in
            row["paidAt"] == .null ? Status.sent : Status.paid
        }
        #expect(try row(["paidAt": .null], step)["status"] == "sent")
        #expect(try row(["paidAt": .date(Timestamp(milliseconds: 1))], step)["status"] == "paid")
        #expect(try row([:], .fillColumn("status", in: "Invoice", with: Status.paid))["status"] == "paid")
        let gap = MigrationStep.fillColumn("status", in: "Invoice") { row in
            row["paidAt"]?.dateValue == nil ? Status?.none : .paid
        }
        #expect(try row(["paidAt": .null], gap)["status"] == .some(.null))
    }

    @Test("what a closure throws, and a value that is none of the old type, names the row and not the value")
    func refuses() throws {
        let throwing: [MigrationStep] = [
            .convertColumn("amount", in: "Invoice") { (old: Double) throws -> Decimal in throw Refused() },
            .convertColumn("amount", in: "Invoice") { (old: Bool) in old ? 1 : 0 },
            .fillColumn("status", in: "Invoice") { _ throws -> Status in throw Refused() },
        ]
        for step in throwing {
            let error = #expect(throws: StoreError.self) { try row(["amount": 47.11], step) }
            #expect(error?.code == .schemaMismatch && error?.message.contains("Row '1' ") == true)
            #expect(error?.message.contains("47") == false)
        }
    }

    @Test("drop columns and tables")
    func drops() throws {
        #expect(
            try row(["paidAt": .null, "amount": 1], .dropColumn("paidAt", in: "Invoice"))
                == Record(id: "1", ["amount": 1])
        )
        let schema = try StoreSchema(version: 2, [], migrations: [Migration(to: 2, .dropTable("Invoice"))])
        #expect(try SchemaMigration(from: 1, of: [Self.old], to: schema)?.tables.map { $0.new?.name } == [nil])
    }
}
