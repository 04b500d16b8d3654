internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let systemTables: [StoreRule] = [
        rule(
            "system.tables-exist",
            "The tables a store keeps: the app's and the three system tables.",
            in: "StoreSchema",
            "Makes a store without any app table, and writes, reads and deletes a row in each system table."
        ) { trial in
            let store = try await trial.makeStore([])
            for table in SystemTables.all {
                let id: RecordID = table.idKind == .int64 ? 1 : "1"
                try await trial.expectStored([Record(id: id)], in: table, store)
                try await store.deleteItems(withIDs: [id], table: table.name)
                trial.expectRow(
                    try await store.read(table: table.name, itemID: id),
                    nil,
                    "read after deleting in \(table.name)"
                )
            }
        },
        rule(
            "system.operation-columns",
            "The queue of local changes, in the order of their numbers.",
            in: "SystemTables",
            "Writes an operation with a value in every column and reads it back."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectStored(
                [filled(SystemTables.operations, id: 1), filled(SystemTables.operations, id: .int64(.max))],
                in: SystemTables.operations,
                store
            )
        },
        rule(
            "system.error-columns",
            "What the server refused, until it is resolved.",
            in: "SystemTables",
            "Writes an operation error with a value in every column and reads it back."
        ) { trial in
            let store = try await trial.makeStore()
            let row = filled(SystemTables.operationErrors, id: "e1")
            try await trial.expectStored([row], in: SystemTables.operationErrors, store)
        },
        rule(
            "system.configuration-columns",
            "Settings of the engine: delta tokens and what has to be fetched again.",
            in: "SystemTables",
            "Writes a setting with a value in every column, reads it back, and finds it by its columns."
        ) { trial in
            let store = try await trial.makeStore()
            let row = filled(SystemTables.configuration, id: "c1")
            try await trial.expectStored([row], in: SystemTables.configuration, store)
            let query = Query(store.configTableName)
                .filtered(by: Column("table") == "text" && Column("keyType") == 77 && Column("key") == "text")
            trial.expectIDs(try await store.read(query).records, ["c1"], "query \(shown(query))")
        },
        rule(
            "system.operations-in-order",
            "A number; such ids are ordered numerically.",
            in: "RecordID",
            "Writes operations with numbers of one to nineteen digits and below zero, and reads them in order."
        ) { trial in
            let store = try await trial.makeStore()
            let numbers: [Int64] = [10, 2, 1, 100, -1, -10, 9, .max, .min, 1_000_000_000_000, 0]
            try await store.upsert(numbers.map { Record(id: .int64($0)) }, table: store.operationTableName)
            let ids = numbers.sorted().map { RecordID.int64($0) }
            let query = Query(store.operationTableName)
            trial.expectIDs(try await store.read(query).records, ids, "all operations")
            let last = try await store.read(query.ordered(by: "id", .descending).limited(to: 1)).records
            trial.expectIDs(last, [.int64(.max)], "the operation with the highest number")
            let later = try await store.read(query.filtered(by: Column("id") > 9)).records
            trial.expectIDs(later, ids.filter { ($0.int64Value ?? 0) > 9 }, "operations with numbers above 9")
        },
        rule(
            "system.ties-by-number",
            "A number; such ids are ordered numerically.",
            in: "RecordID",
            "Orders operations that are equal in a column, and cuts them: they come by their numbers, 9 before 10."
        ) { trial in
            let store = try await trial.makeStore()
            let numbers: [Int64] = [100, 9, 10, -2, 1]
            let rows = numbers.map { Record(id: .int64($0), ["state": 0]) } + [Record(id: 5, ["state": 1])]
            try await store.upsert(rows, table: store.operationTableName)
            let query = Query(store.operationTableName).ordered(by: "state", .descending)
            trial.expectIDs(try await store.read(query).records, [5, -2, 1, 9, 10, 100], "query \(shown(query))")
            let page = query.skipping(3).limited(to: 2)
            trial.expectIDs(try await store.read(page).records, [9, 10], "query \(shown(page))")
        },
        rule(
            "system.ids-are-exact",
            "By their bytes.",
            in: "IDComparison",
            "Writes settings and operation errors whose ids differ in case only: each is a row of its own."
        ) { trial in
            let store = try await trial.makeStore()
            for table in [store.configTableName, store.errorTableName] {
                try await store.upsert(["a", "A"].map { Record(id: $0) }, table: table)
                trial.expectIDs(try await store.read(Query(table)).records, ["A", "a"], "rows of \(table)")
            }
        },
        rule(
            "system.operation-by-item",
            "The item id in the form the table compares ids by, so that one lookup by index finds the operation.",
            in: "SystemTables",
            "Finds the operations of one item among 300, by table and item, and deletes one of them."
        ) { trial in
            let store = try await trial.makeStore()
            let rows = (0..<300)
                .map { index in
                    Record(
                        id: .int64(Int64(index)),
                        ["table": index % 2 == 0 ? "items" : "other", "itemKey": .string("\(index % 50)"), "state": 0]
                    )
                }
            try await store.upsert(rows, table: store.operationTableName)
            let query = Query(store.operationTableName)
                .filtered(by: Column("table") == "items" && Column("itemKey") == "8")
            let found = try await store.read(query).records
            trial.expectIDs(found, [8, 58, 108, 158, 208, 258], "query \(shown(query))")
            try await store.deleteItems(withIDs: [58], table: store.operationTableName)
            trial.expectIDs(try await store.read(query).records, [8, 108, 158, 208, 258], "the same after deleting 58")
        },
        rule(
            "system.one-transaction",
            "A local store: the app's tables and the sync system tables, under one kind of transaction.",
            in: "SyncContextDataSource",
            "Writes a row, its operation and a setting in one transaction, kept once and rolled back once."
        ) { trial in
            let store = try await trial.makeStore()
            let operations = store.operationTableName
            let configuration = store.configTableName
            for fails in [true, false] {
                do {
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: "a")], into: "items")
                        try transaction.upsert([Record(id: 1)], into: operations)
                        try transaction.upsert([Record(id: "t")], into: configuration)
                        if fails { throw OwnError(number: 1) }
                    }
                } catch is OwnError {
                    // This is what the closure throws.
                }
                let counts = try await store.read { reader in
                    try ["items", operations, configuration].map { try reader.count(Query($0)) }
                }
                trial.expect(
                    counts,
                    equals: fails ? [0, 0, 0] : [1, 1, 1],
                    "rows in three tables after a transaction that was \(fails ? "rolled back" : "kept")"
                )
            }
        },
        rule(
            "system.properties",
            "The server's columns that a table keeps; none for an unknown table.",
            in: "SyncContextDataSource",
            "Asks for the system properties of three tables and of one that is not declared."
        ) { trial in
            let none = TableDefinition("plain", columns: [.init("text", .string)], systemProperties: [])
            let store = try await trial.makeStore([.items, .other, none])
            trial.expect(store.systemProperties(for: "items"), equals: .all, "systemProperties(for: \"items\")")
            trial.expect(
                store.systemProperties(for: "other"),
                equals: [.createdAt, .updatedAt, .version],
                "systemProperties(for: \"other\")"
            )
            trial.expect(store.systemProperties(for: "plain"), equals: [], "systemProperties(for: \"plain\")")
            trial.expect(store.systemProperties(for: "absent"), equals: [], "systemProperties(for: \"absent\")")
        },
        rule(
            "system.constant-manifest",
            "Constant for the life of the store.",
            in: "SyncContextDataSource",
            "Asks for schema and capabilities before and after reads, writes and a failure."
        ) { trial in
            let store = try await trial.makeStore()
            let handles = store.handlesSyncTableOperations
            let (schema, capabilities) = (store.schema, store.capabilities)
            try await store.upsert([Record(id: "a", ["undeclared": 1])], table: "items")
            try await trial.expectError(.tableNotFound, from: "query the table 'absent'") {
                _ = try await store.read(Query("absent"))
            }
            trial.expect(store.schema == schema, "schema after a write", expected: "the one before", got: "another")
            trial.expect(store.capabilities, equals: capabilities, "capabilities after a write")
            trial.expect(store.handlesSyncTableOperations, equals: handles, "handlesSyncTableOperations after a write")
        },
    ]

    /// A record with a value in every column of a system table.
    private static func filled(_ table: TableDefinition, id: RecordID) -> Record {
        var record = Record(id: id)
        for column in table.columns {
            switch column.type {
            case .int64: record[column.name] = 77
            case .bool: record[column.name] = true
            case .bytes: record[column.name] = .bytes((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })
            default: record[column.name] = "text"
            }
        }
        return record
    }
}
