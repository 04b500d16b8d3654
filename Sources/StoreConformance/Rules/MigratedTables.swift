internal import ConformanceRunner
internal import SyncContract

// Migrations of several tables, and what they keep of rows.
extension StoreRules {
    static let migratedTables: [StoreRule] = [
        rule(
            "migration.failed-in-another-table",
            "or stays as it was",
            in: "SyncContextDataSource",
            "Migrates two tables and lets a step fail for the last row of the one that comes second: both are as they were, and"
                + " are migrated when no step fails.",
            needs: "migrations"
        ) { trial in
            try await trial.writeTwoTables(at: trial.place())
            let steps = StepCounter()
            try await trial.expectError(.schemaMismatch, from: "opening with a step that fails in the second table") {
                _ = try await trial.reopen(
                    .twoTables {
                        steps.count()
                        if steps.value == 4 { throw StepFailure() }
                    }
                )
            }
            try await trial.expectTwoTables(migratedAfter: "a step that failed in the second of two tables")
        },
        rule(
            "migration.killed-in-another-table",
            "or stays as it was",
            in: "SyncContextDataSource",
            "A process migrates two tables and is killed in a step for the last row of the one that comes second: both are as"
                + " they were, and are migrated when the store is opened again.",
            needs: "migrations",
            drills: [
                "migration": { trial in
                    try await trial.writeTwoTables(at: trial.place())
                    let steps = StepCounter()
                    _ = try await trial.reopen(
                        .twoTables {
                            steps.count()
                            if steps.value == 4 { killThisProcess() }
                        }
                    )
                }
            ]
        ) { trial in
            let probe = try await trial.makeStore(at: trial.place("probe"))
            try probe.requireDurability()
            try await trial.runKilled("migration")
            try await trial.expectTwoTables(migratedAfter: "a process that was killed in the second of two tables")
        },
        rule(
            "migration.keeps-values",
            "Values under names that no step mentions stay as they are, those of undeclared keys among them.",
            in: "TableMigration",
            "Renames a table and one of its columns, and fills another: every other value of every type is as it was, dates"
                + " finer than milliseconds, and undeclared keys of every kind where the store keeps them.",
            needs: "migrations"
        ) { trial in
            let store = try await trial.makeStore([.items], at: trial.place())
            var row = StoreRules.fullRow("a")
            row["decimal"] = .decimal("-12345678901234567890.10")
            row["date"] = .date(text: "1969-12-31T23:59:59.1234567Z")
            row["json"] = .json("[1.0, 1e2, {\"b\": null, \"a\": 1}]")
            if store.capabilities.contains(.unknownColumns) {
                row.merge(
                    Record(
                        id: "a",
                        [
                            "x": 0.1, "y": .date(text: "2024-02-29T12:34:56.7891234Z"), "z": .decimal("1.10"),
                            "b": .bytes([0, 1]), "j": .json("[1.0]"), "t": "1", "f": true, "i": .int64(.max),
                            "one": 1.0,
                        ]
                    )
                )
            }
            try await store.upsert([row, Record(id: "b")], table: "items")
            try await trial.end(store)
            let goods = TableDefinition(
                "goods",
                columns: TableDefinition.items.columns.filter { $0.name != "text" }
                    + [.init("title", .string), .init("status", .string)],
                systemProperties: .all
            )
            let schema = try StoreSchema(
                version: 2,
                [goods],
                migrations: [
                    Migration(
                        to: 2,
                        .renameTable("items", to: "goods"),
                        .renameColumn("text", to: "title", in: "goods"),
                        .fillColumn("status", in: "goods", with: .string("new"))
                    )
                ]
            )
            let migrated = try await trial.reopen(schema)
            row["title"] = row["text"]
            row["text"] = nil
            row["status"] = "new"
            trial.expectRows(
                try await migrated.read(Query("goods").ordered(by: "id")).records,
                [goods.filled(row), goods.filled(Record(id: "b", ["status": "new"]))],
                "the rows of the migrated table"
            )
        },
    ]
}

extension StoreSchema {
    /// A version that fills a column of two tables; the closure is called for each row of both.
    fileprivate static func twoTables(_ body: @escaping @Sendable () throws -> Void = {}) throws -> StoreSchema {
        let names = ["bills", "other"]
        return try StoreSchema(
            version: 2,
            names.map {
                TableDefinition($0, columns: [.init("text", .string), .init("int", .int64), .init("status", .string)])
            },
            migrations: [
                Migration(
                    to: 2,
                    .fillColumn("status", in: "bills") { row in
                        try body()
                        return row["text"]?.stringValue.map(FieldValue.string) ?? "none"
                    },
                    .fillColumn("status", in: "other") { row in
                        try body()
                        return row["text"]?.stringValue.map(FieldValue.string) ?? "none"
                    }
                )
            ]
        )
    }
}

extension Trial where Subject == StoreSubject {
    /// A closed store of version 1 with two rows in each of two tables.
    fileprivate func writeTwoTables(at place: StoreLocation) async throws {
        let store = try await makeStore(Self.twoTables, at: place)
        for table in Self.twoTables {
            try await store.upsert([Record(id: "a", ["text": "x", "int": 1]), Record(id: "b")], table: table.name)
        }
        try await end(store)
    }

    private static var twoTables: [TableDefinition] {
        ["bills", "other"].map { TableDefinition($0, columns: [.init("text", .string), .init("int", .int64)]) }
    }

    /// Reports when two tables are not as they were before a migration that came to nothing, or not as its steps say when
    /// it is done then.
    fileprivate func expectTwoTables(migratedAfter input: String) async throws {
        let before = [Record(id: "a", ["text": "x", "int": 1]), Record(id: "b")]
        let old = try await reopen(Self.twoTables)
        for table in Self.twoTables {
            let rows = try await old.read(Query(table.name).ordered(by: "id")).records
            expectRows(rows, before.map(table.filled), "rows of '\(table.name)' after \(input)")
        }
        try await end(old)
        let new = try await reopen(.twoTables())
        for table in new.schema.tables {
            var rows = before.map(table.filled)
            (rows[0]["status"], rows[1]["status"]) = ("x", "none")
            let got = try await new.read(Query(table.name).ordered(by: "id")).records
            expectRows(got, rows, "rows of '\(table.name)', migrated after \(input)")
        }
    }
}
