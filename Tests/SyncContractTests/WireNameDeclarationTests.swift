import SyncContract
import Testing

@Suite("Names on the wire, and what stays on the device")
struct WireNameDeclarationTests {
    private func problem(_ tables: TableDefinition...) -> String? {
        do throws(StoreError) {
            _ = try StoreSchema(tables)
            return nil
        } catch {
            #expect(error.code == .invalidSchema)
            return error.message
        }
    }

    @Test("are those of here unless another one is declared")
    func names() throws {
        let table = TableDefinition(
            "Invoice",
            columns: [.init("amount", .decimal, wireName: "total"), .init("total", .decimal, wireName: "amount")],
            wireName: "v2.bills-all"
        )
        #expect(problem(table) == nil)
        #expect(table.columns.map(\.wireName) == ["total", "amount"] && table.wireName == "v2.bills-all")
        let plain = TableDefinition("Invoice", columns: [.init("amount", .decimal)])
        #expect(plain.wireName == "Invoice" && plain.columns[0].wireName == "amount" && plain != table)
    }

    @Test(
        "of columns differ in more than case, are names, and none of the server's own",
        arguments: [
            [ColumnDefinition("a", .string, wireName: "total"), .init("b", .string, wireName: "Total")],
            [.init("a", .string, wireName: "b"), .init("b", .string)], [.init("a", .string, wireName: "version")],
            [.init("a", .string, wireName: "ID")], [.init("a", .string, wireName: "UpdatedAt")],
            [.init("a", .string, wireName: "a b")], [.init("a", .string, wireName: "__total")],
            [.init("a", .string, wireName: "")], [.init("a", .string, isLocal: true, wireName: "total")],
        ]
    )
    func columns(_ columns: [ColumnDefinition]) throws {
        let message = try #require(problem(TableDefinition("Invoice", columns: columns)))
        #expect(message.contains("'a'") && message.contains("'Invoice'"))
    }

    @Test("of tables differ as well, and tables that stay here have none")
    func tables() {
        let bill = TableDefinition("Bill", columns: [])
        #expect(problem(bill, TableDefinition("Invoice", columns: [], wireName: "bill"))?.contains("'Invoice'") == true)
        for name in ["", "a/b", "..", "ä"] {
            #expect(problem(TableDefinition("Invoice", columns: [], wireName: name)) != nil, "\(name)")
        }
        #expect(problem(TableDefinition("Note", columns: [], wireName: "notes", isLocalOnly: true)) != nil)
        #expect(problem(TableDefinition("Note", columns: [], assignsIDs: true, isLocalOnly: true)) != nil)
        let column = ColumnDefinition("text", .string, wireName: "title")
        #expect(problem(TableDefinition("Note", columns: [column], isLocalOnly: true)) != nil)
        let local = TableDefinition("Bills", columns: [.init("text", .string)], isLocalOnly: true)
        #expect(problem(TableDefinition("Invoice", columns: [], wireName: "Bills"), local) == nil)
        #expect(local.systemProperties == [] && local.allColumns.map(\.name) == ["text"])
    }

    @Test("A schema that is a literal says what is wrong with it when it is checked")
    func literal() throws {
        let right: StoreSchema = [TableDefinition("Bill", columns: []), TableDefinition("Note", columns: [])]
        try right.check()
        #expect(try StoreSchema(right.tables) == right)
        let wrong: StoreSchema = [TableDefinition("Bill", columns: []), TableDefinition("bill", columns: [])]
        let error = #expect(throws: StoreError.self) { try wrong.check() }
        #expect(error?.code == .invalidSchema && error?.message.contains("'bill'") == true)
    }
}
