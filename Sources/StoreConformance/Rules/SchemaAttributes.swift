internal import ConformanceRunner
internal import SyncContract

// What a declaration says beside names and types, of which nothing is stored.
extension StoreRules {
    static let schemaAttributes: [StoreRule] = [
        rule(
            "schema.attributes",
            "The declaration of a table or system table.",
            in: "StoreReadBackend/definition(of:)",
            "Declares everything that a table and a column can have: the schema and the declarations come back with it, in reads"
                + " and in writes, and rows are kept as in other tables."
        ) { trial in
            let schema = try StoreSchema(TableDefinition.attributed)
            let store = try await trial.makeStore(schema)
            try await trial.expectDeclarations(schema, store)
            for table in schema.tables {
                try await trial.expectStored([Record(id: "a", ["text": "x", "other": "y"])], in: table, store)
            }
        },
        rule(
            "schema.attributes-changed",
            "Only names, types and how ids compare are held against what is stored",
            in: "SyncContextDataSource",
            "Opens the store again with the same tables, once with everything else that can be declared as before and once with"
                + " all of it changed: the declarations are those it is opened with, and the rows are as they were.",
            needs: "durable"
        ) { trial in
            let row = Record(id: "a", ["text": "x", "other": "y"])
            let first = try await trial.makeStore(TableDefinition.attributed)
            for table in first.schema.tables { try await first.upsert([row], table: table.name) }
            try await trial.close(first)
            for tables in [TableDefinition.attributed, TableDefinition.plain, TableDefinition.attributed] {
                let schema = try StoreSchema(tables)
                let store: any SyncContextDataSource
                do {
                    store = try await trial.reopen(schema)
                } catch let error as StoreError {
                    return trial.report("open with other attributes", expected: "no error", got: brief(error))
                }
                try await trial.expectDeclarations(schema, store)
                for table in tables {
                    let got = try await store.read(Query(table.name)).records
                    trial.expectRows(got, [table.filled(row)], "rows of '\(table.name)', opened with other attributes")
                }
                try await trial.close(store)
            }
        },
    ]
}

extension TableDefinition {
    /// Tables with all that can be said of them.
    fileprivate static let attributed = [
        TableDefinition(
            "persons",
            columns: [
                .init("text", .string, isSearchable: true, wireName: "name"),
                .init("other", .string, isLocal: true, textForm: .day),
            ],
            systemProperties: [],
            assignsIDs: true,
            wireName: "people"
        ),
        TableDefinition(
            "notes",
            columns: [
                .init("text", .string, references: "persons", onDelete: .cascade),
                .init("other", .string, attachment: .owns),
            ],
            systemProperties: [],
            indexes: [["text"]],
            isLocalOnly: true
        ),
    ]

    /// The same tables and columns, and nothing else.
    fileprivate static let plain = attributed.map { table in
        TableDefinition(
            table.name,
            columns: table.columns.map { ColumnDefinition($0.name, $0.type) },
            systemProperties: []
        )
    }
}

extension StoreTrial {
    fileprivate func expectDeclarations(_ schema: StoreSchema, _ store: any SyncContextDataSource) async throws {
        expect(store.schema == schema, "the store's schema", expected: "the declared one", got: "another")
        for table in schema.tables {
            let read = try await store.read { try $0.definition(of: table.name) }
            let written = try await store.write { try $0.definition(of: table.name) }
            expect(
                read == table && written == table,
                "the declaration of '\(table.name)'",
                expected: "the one of the schema",
                got: brief(read == table ? written : read)
            )
        }
    }
}
