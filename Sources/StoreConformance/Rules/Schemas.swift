internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let schemas: [StoreRule] = declarations + schemaAttributes + migrations + redeclarations

    private static let declarations: [StoreRule] = [
        rule(
            "schema.is-as-declared",
            "The declared tables. Constant for the life of the store.",
            in: "SyncContextDataSource",
            "Compares the schema of the store with the one it was made with; every table is there, and empty."
        ) { trial in
            let store = try await trial.makeStore()
            let schema = try StoreSchema(TableDefinition.standard)
            trial.expect(store.schema == schema, "the store's schema", expected: "the declared one", got: "another")
            for table in schema.allTables {
                let count = try await store.read { try $0.count(Query(table.name)) }
                trial.expect(count, equals: 0, "rows of '\(table.name)' in a new store")
            }
        },
        rule(
            "schema.awkward-names",
            "A letter or underscore, then letters, digits and underscores; at most 127 in all;",
            in: "TableDefinition",
            "Declares tables and columns named like words of SQL and with 127 letters, and uses them in everything."
        ) { trial in
            let long = String(repeating: "n", count: 127)
            for name in ["order", "Select", "_", "group", "table", "rowid", "oid", "values", long] {
                let column = name == "rowid" ? "_rowid_" : name
                let table = TableDefinition(
                    name,
                    columns: [.init(column, .string), .init("limit", .int64)],
                    indexes: [[column]]
                )
                let store = try await trial.makeStore([table])
                try await trial.expectStored([Record(id: "a", [column: "x", "limit": 5])], in: table, store)
                let query = Query(name).filtered(by: Column(column) == "x" && Column("limit") > 1)
                    .ordered(by: column, .descending).selecting([column])
                trial.expectIDs(try await store.read(query).records, ["a"], "query \(shown(query))")
                try await store.delete(query)
                trial.expectIDs(try await store.read(Query(name)).records, [], "delete \(shown(query))")
            }
        },
        rule(
            "schema.many-columns",
            "The app's own columns, in declaration order.",
            in: "TableDefinition",
            "Declares a table with 300 columns and one with none, and 60 tables in one store."
        ) { trial in
            let wide = TableDefinition("wide", columns: (0..<300).map { .init("c\($0)", ColumnType.allCases[$0 % 8]) })
            let empty = TableDefinition("empty", columns: [], systemProperties: [])
            let many = (0..<60).map { TableDefinition("t\($0)", columns: [.init("c", .int64)]) }
            let store = try await trial.makeStore([wide, empty] + many)
            var row = Record(id: "a")
            var random = RandomRows(trial.random())
            for column in wide.columns { row[column.name] = random.value(column.type) }
            try await trial.expectStored([row, Record(id: "b", ["c299": .null])], in: wide, store)
            try await trial.expectStored([Record(id: "a")], in: empty, store)
            for table in many { try await store.upsert([Record(id: .string(table.name))], table: table.name) }
            for table in many {
                trial.expectIDs(
                    try await store.read(Query(table.name)).records,
                    [.string(table.name)],
                    "rows of \(table.name)"
                )
            }
        },
        rule(
            "schema.literal-is-checked",
            "Throws what is wrong with a schema that was written as a literal. Whoever opens a store calls this first.",
            in: "StoreSchema",
            "Makes a store with a literal whose index names a column that is not declared, and reads: one of both throws"
                + " invalidSchema."
        ) { trial in
            let table = TableDefinition("items", columns: [.init("text", .string)], indexes: [["missing"]])
            try await trial.expectError(.invalidSchema, from: "an index over a column that is not declared") {
                let store = try await trial.makeStore([table] as StoreSchema)
                _ = try await store.read(Query("items"))
            }
        },
        rule(
            "schema.indexes-change-nothing",
            "Lists of column names that the store should find rows by, each once; the order of names counts.",
            in: "TableDefinition",
            "Runs 100 random queries over a table with five indexes, looks up zeros and other numbers of each type as numbers of"
                + " the others, and compares with QueryEvaluator."
        ) { trial in
            let table = TableDefinition(
                "items",
                columns: TableDefinition.items.columns,
                systemProperties: .all,
                indexes: [["text"], ["int", "text"], ["decimal"], ["id", "bool"], ["double"]]
            )
            let store = try await trial.makeStore([table])
            var random = RandomRows(trial.random(), table)
            let rows = (0..<60).map { table.filled(random.record(.string("\($0)"))) }
            try await store.upsert(rows, table: "items")
            for _ in 0..<100 {
                let query = random.query(over: rows)
                let expected = try QueryEvaluator(table).evaluate(query, over: rows)
                trial.expectRows(try await store.read(query).records, expected, "query \(shown(query)) with indexes")
            }
            try await expectIndexedNumbers(trial, table)
        },
        rule(
            "schema.column-names-are-exact",
            "Names of tables and columns are compared exactly.",
            in: "StoreSchema",
            "Writes, where a column 'text' is declared, a value under 'Text': the column stays as it was."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["text": "declared"])], table: "items")
            try await store.upsert([Record(id: "a", ["Text": 5])], table: "items")
            let got = try await store.read(table: "items", itemID: "a")?["text"]
            trial.expect(
                got == "declared",
                "upsert {Text: 5} where text is \"declared\"",
                expected: "\"declared\"",
                got: shown(got)
            )
        },
    ]

    /// Looks up numbers of each type as numbers of the others, alone and in lists, in a table with indexes of all three.
    private static func expectIndexedNumbers(_ trial: StoreTrial, _ table: TableDefinition) async throws {
        let numbers: [(FieldValue, FieldValue, FieldValue)] = [
            (0, 0.0, .decimal("-0.0")), (0, -0.0, .decimal("0e5")), (10, 10.0, .decimal("1e+1")),
            (-10, 0.1, .decimal("0.10")), (.null, .double(.infinity), .decimal("1e400")),
        ]
        let rows = numbers.enumerated()
            .map { Record(id: .string("\($0)"), ["int": $1.0, "double": $1.1, "decimal": $1.2]) }
            .map { table.filled($0) }
        let store = try await trial.makeStore([table])
        try await store.upsert(rows, table: "items")
        let values = numbers.flatMap { [$0.0, $0.1, $0.2] }.filter { !$0.isNull }
        let conditions = ["int", "double", "decimal"]
            .flatMap { column in
                [Column(column).isAny(of: values)]
                    + values.flatMap { [Column(column) == $0, Column(column).isAny(of: [$0, 77])] }
            }
        let queries = conditions.map { Query("items").filtered(by: $0) }
        let got = try await store.read { reader in try queries.map { try reader.records($0) } }
        for (query, got) in zip(queries, got) {
            let expected = try QueryEvaluator(table).evaluate(query, over: rows)
            trial.expectRows(got, expected, "query \(shown(query)) with indexes")
        }
        let zeros = Query("items").filtered(by: Column("double").isAny(of: [0, 10]))
        trial.expectIDs(try await store.read(zeros).records, ["0", "1", "2"], "query \(shown(zeros)) with indexes")
    }

    private static let migrations: [StoreRule] = [
        rule(
            "schema.adds-tables",
            "Missing tables and columns are added, and the rows that are there have null in a new column.",
            in: "SyncContextDataSource",
            "Opens the store again with a further table: it is empty and works, the others have their rows.",
            needs: "durable"
        ) { trial in
            try await trial.writeAndClose([.items], [fullRow("a")])
            let store = try await trial.reopen([.other, .items])
            trial.expectIDs(try await store.read(Query("other")).records, [], "rows of the new table")
            try await trial.expectStored([Record(id: "o", ["int": 1])], in: .other, store)
            let row = try await store.read(table: "items", itemID: "a")
            trial.expectRow(row, TableDefinition.items.filled(fullRow("a")), "the row of the old table")
        },
        rule(
            "schema.adds-columns",
            "Missing tables and columns are added, and the rows that are there have null in a new column.",
            in: "SyncContextDataSource",
            "Opens the store again with further columns of every type: old rows have nulls there, new rows values.",
            needs: "durable"
        ) { trial in
            let small = TableDefinition("items", columns: [.init("text", .string)], systemProperties: [])
            try await trial.writeAndClose([small], [Record(id: "a", ["text": "x"])])
            let store = try await trial.reopen([.items])
            let row = try await store.read(table: "items", itemID: "a")
            let expected = TableDefinition.items.filled(Record(id: "a", ["text": "x"]))
            trial.expectRow(row, expected, "a row from before")
            try await trial.expectStored([fullRow("b")], in: .items, store)
            let query = Query("items").filtered(by: Column("int") == .null)
            trial.expectIDs(try await store.read(query).records, ["a"], "query \(shown(query))")
        },
        rule(
            "schema.adds-indexes",
            "The index is made when the store is opened",
            in: "ColumnDefinition",
            "Opens the store again with a column that has become searchable and with indexes: searches and queries find"
                + " the rows from before, and those written since.",
            needs: "durable"
        ) { trial in
            func table(_ isIndexed: Bool) -> TableDefinition {
                TableDefinition(
                    "items",
                    columns: [.init("text", .string, isSearchable: isIndexed), .init("int", .int64)],
                    indexes: isIndexed ? [["int", "text"]] : []
                )
            }
            let rows = [("a", "fresh milk", 3), ("b", "bread", 1), ("c", "Milk", 2)]
                .map { Record(id: .string($0.0), ["text": .string($0.1), "int": .int64(Int64($0.2))]) }
            try await trial.writeAndClose([table(false)], rows)
            for isIndexed in [true, false, true] {
                let store = try await trial.reopen([table(isIndexed)])
                let found = Query("items").filtered(by: Column("text").matches(words: "MILK"))
                trial.expectIDs(try await store.read(found).records, ["a", "c"], "query \(shown(found)) after opening")
                let folded = Query("items").ordered(by: "text", folded: true)
                trial.expectIDs(try await store.read(folded).records, ["b", "a", "c"], "query \(shown(folded))")
                let numbers = Query("items").filtered(by: Column("int") > 1).ordered(by: "int")
                trial.expectIDs(try await store.read(numbers).records, ["c", "a"], "query \(shown(numbers))")
                try await store.upsert([Record(id: "d", ["text": "milk", "int": 0])], table: "items")
                trial.expectIDs(
                    try await store.read(found).records,
                    ["a", "c", "d"],
                    "the same with a row written since"
                )
                try await store.deleteItems(withIDs: ["d"], table: "items")
                try await trial.close(store)
            }
        },
        rule(
            "schema.undeclared-column",
            "A column that is no longer declared is no error.",
            in: "SyncContextDataSource",
            "Opens the store again with fewer columns: the other values are as they were, the column cannot be"
                + " queried.",
            needs: "durable"
        ) { trial in
            let small = TableDefinition("items", columns: [.init("text", .string)], systemProperties: [])
            let large = TableDefinition(
                "items",
                columns: [.init("text", .string), .init("int", .int64)],
                systemProperties: []
            )
            try await trial.writeAndClose([large], [Record(id: "a", ["text": "x", "int": 5])])
            let store = try await trial.reopen([small])
            let row = try await store.read(table: "items", itemID: "a")
            trial.expect(row?["text"] == "x", "the declared column", expected: "\"x\"", got: shown(row?["text"]))
            if store.capabilities.contains(.unknownColumns) {
                trial.expect(
                    row?["int"] == 5,
                    "the column no longer declared",
                    expected: "int64 5",
                    got: shown(row?["int"])
                )
            }
            try await trial.expectError(.invalidQuery, from: "query a column that is no longer declared") {
                _ = try await store.read(Query("items").filtered(by: Column("int") == 5))
            }
            try await store.upsert([Record(id: "a", ["text": "y"])], table: "items")
            try await trial.close(store)
            let again = try await trial.reopen([large])
            let expected = Record(id: "a", ["text": "y", "int": 5])
            if again.capabilities.contains(.unknownColumns) {
                trial.expectRow(
                    try await again.read(table: "items", itemID: "a"),
                    expected,
                    "the column declared again"
                )
            }
        },
        rule(
            "schema.undeclared-table",
            "A table that is no longer declared keeps its rows until it is declared again.",
            in: "SyncContextDataSource",
            "Opens the store again without two tables, which are unknown then, writes to another, and opens with all: every"
                + " row is there, with dates finer than milliseconds, ids in their casing, and undeclared keys where the store"
                + " keeps those.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore([.items, .other, .folding])
            var row = fullRow("a")
            row["date"] = .date(text: "2024-02-29T12:34:56.7891234Z")
            if store.capabilities.contains(.unknownColumns) {
                row.merge(Record(id: "a", ["x": 1.0, "y": .date(text: "1969-12-31T23:59:59.9999999Z"), "z": .null]))
            }
            try await store.upsert([row], table: "items")
            try await store.upsert([Record(id: "aB")], table: "folding")
            try await store.upsert([Record(id: "o", ["int": 1])], table: "other")
            try await trial.close(store)
            let without = try await trial.reopen([.other])
            try await trial.expectError(.tableNotFound, from: "query a table that is no longer declared") {
                _ = try await without.read(Query("items"))
            }
            try await without.upsert([Record(id: "p")], table: "other")
            try await trial.close(without)
            let again = try await trial.reopen([.items, .other, .folding])
            trial.expectRows(try await again.read(Query("items")).records, [row], "the table declared again")
            trial.expectIDs(try await again.read(Query("folding")).records, ["aB"], "another table declared again")
            trial.expectIDs(try await again.read(Query("other")).records, ["o", "p"], "the other table")
        },
        rule(
            "schema.retyped-empty-column",
            "A column or id that is declared with another type than the stored one is `schemaMismatch`, before"
                + " anything is touched.",
            in: "SyncContextDataSource",
            "Opens a store without rows again with a column of each type declared as each other one: refused as if there were rows.",
            needs: "durable"
        ) { trial in
            let types = ColumnType.allCases
            let columns = types.enumerated().map { ColumnDefinition($1 == .int64 ? "number" : "column\($0)", $1) }
            let table = TableDefinition("items", columns: columns)
            try await trial.writeAndClose([table], [])
            for column in columns {
                for type in types where type != column.type {
                    let retyped = TableDefinition(
                        "items",
                        columns: columns.map { $0 == column ? ColumnDefinition($0.name, type) : $0 }
                    )
                    let input = "open without rows and a \(column.type.rawValue) column declared as \(type.rawValue)"
                    try await trial.expectError(.schemaMismatch, from: input) {
                        try await trial.close(try await trial.reopen([retyped]))
                    }
                }
            }
            let store = try await trial.reopen([table])
            try await trial.expectStored([Record(id: "a", ["number": 5])], in: table, store)
        },
        rule(
            "schema.retyped-column",
            "A column or id that is declared with another type than the stored one is `schemaMismatch`, before"
                + " anything is touched.",
            in: "SyncContextDataSource",
            "Opens the store again with a column of another type beside a new table: refused; then with the old"
                + " schema.",
            needs: "durable"
        ) { trial in
            try await trial.writeAndClose([.items], [fullRow("a")])
            let columns = TableDefinition.items.columns.map {
                ColumnDefinition($0.name, $0.name == "int" ? .string : $0.type)
            }
            let retyped = TableDefinition("items", columns: columns, systemProperties: .all)
            try await trial.expectError(.schemaMismatch, from: "open with the int64 column 'int' declared as string") {
                _ = try await trial.reopen([.other, retyped])
            }
            let store = try await trial.reopen([.items])
            let row = try await store.read(table: "items", itemID: "a")
            trial.expectRow(row, TableDefinition.items.filled(fullRow("a")), "the row after the refusal")
            try await trial.close(store)
            // A table that the refused schema declared with the same name and other types must not be there.
            let other = TableDefinition("other", columns: [.init("text", .int64)])
            _ = try await trial.reopen([.items, other])
        },
        rule(
            "schema.changed-id-comparison",
            "A column or id that is declared with another type than the stored one is `schemaMismatch`, before"
                + " anything is touched.",
            in: "SyncContextDataSource",
            "Opens the store again with ids that ignore case where they did not.",
            needs: "durable"
        ) { trial in
            try await trial.writeAndClose([.items], [Record(id: "a"), Record(id: "A")])
            let folding = TableDefinition(
                "items",
                columns: TableDefinition.items.columns,
                idComparison: .asciiCaseInsensitive,
                systemProperties: .all
            )
            try await trial.expectError(.schemaMismatch, from: "open with ids that ignore case where 'a' and 'A' are") {
                _ = try await trial.reopen([folding])
            }
            let store = try await trial.reopen([.items])
            trial.expectIDs(try await store.read(Query("items")).records, ["A", "a"], "rows after the refusal")
        },
    ]
}

extension Trial where Subject == StoreSubject {
    /// Makes a store with rows of `items` and closes it.
    func writeAndClose(_ tables: [TableDefinition], _ records: [Record]) async throws {
        let store = try await makeStore(tables)
        try await store.upsert(records, table: "items")
        try await close(store)
    }
}
