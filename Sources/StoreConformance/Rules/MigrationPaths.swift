internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

// Migrations that are no straight line: names that are exchanged, versions between, keys that were never declared.
extension StoreRules {
    static let migrationPaths: [StoreRule] = [
        rule(
            "migration.exchanged-names",
            "Tables and columns have the names that they have when the step's turn comes.",
            in: "MigrationStep",
            "Exchanges two tables, and two columns of each that have other types, each through a third name: every row is in the"
                + " other table with its values in the other column, and ids are compared as before.",
            needs: "migrations"
        ) { trial in
            func table(_ name: String, _ first: ColumnType, _ second: ColumnType) -> TableDefinition {
                TableDefinition(
                    name,
                    columns: [.init("first", first), .init("second", second)],
                    idComparison: .asciiCaseInsensitive,
                    systemProperties: []
                )
            }
            let store = try await trial.makeStore(
                [table("one", .string, .int64), table("two", .double, .bytes)],
                at: trial.place()
            )
            try await store.upsert([Record(id: "ab", ["first": "x", "second": 1]), Record(id: "c")], table: "one")
            try await store.upsert([Record(id: "ab", ["first": 0.5, "second": .bytes([7])])], table: "two")
            try await trial.end(store)
            let exchangedColumns = ["one", "two"]
                .flatMap { name in
                    [("first", "third"), ("second", "first"), ("third", "second")]
                        .map { MigrationStep.renameColumn($0.0, to: $0.1, in: name) }
                }
            let schema = try StoreSchema(
                version: 2,
                [table("one", .bytes, .double), table("two", .int64, .string)],
                migrations: [
                    Migration(
                        to: 2,
                        steps: [
                            .renameTable("one", to: "three"), .renameTable("two", to: "one"),
                            .renameTable("three", to: "two"),
                        ] + exchangedColumns
                    )
                ]
            )
            let migrated = try await trial.reopen(schema)
            for (table, rows) in [
                ("one", [Record(id: "ab", ["first": .bytes([7]), "second": 0.5])]),
                ("two", [Record(id: "ab", ["first": 1, "second": "x"]), Record(id: "c")]),
            ] {
                let filled = rows.map { schema.table(table)?.filled($0) ?? $0 }
                let got = try await migrated.read(Query(table).ordered(by: "id")).records
                trial.expectRows(got, filled, "rows of '\(table)', which had the name of the other one")
                let found = try await migrated.read(table: table, itemID: "AB")
                trial.expectRow(found, filled[0], "read 'AB' where 'ab' was moved to")
            }
        },
        rule(
            "migration.undeclared-keys",
            "The old name may be that of values which rows have under a key that was never declared.",
            in: "MigrationStep/renameColumn(_:to:in:)",
            "Renames a key that was never declared to a column and drops another one, in rows with and without them.",
            needs: "migrations"
        ) { trial in
            let store = try await trial.makeStore([.keyed()], at: trial.place())
            guard store.capabilities.contains(.unknownColumns) else {
                throw Unsupported("'unknownColumns' is not declared")
            }
            try await store.upsert(
                [
                    Record(id: "a", ["text": "x", "remark": "kept", "gone": 1, "stays": true]), Record(id: "b"),
                    Record(id: "c", ["gone": "text"]),
                ],
                table: "keyed"
            )
            try await trial.end(store)
            let table = TableDefinition.keyed(.init("comment", .string))
            let schema = try StoreSchema(
                version: 2,
                [table],
                migrations: [
                    Migration(
                        to: 2,
                        .renameColumn("remark", to: "comment", in: "keyed"),
                        .dropColumn("gone", in: "keyed")
                    )
                ]
            )
            let migrated = try await trial.reopen(schema)
            trial.expectRows(
                try await migrated.read(Query("keyed").ordered(by: "id")).records,
                [
                    Record(id: "a", ["text": "x", "comment": "kept", "stays": true]), Record(id: "b"), Record(id: "c"),
                ]
                .map(table.filled),
                "rows of which one key was renamed and one dropped"
            )
            let query = Query("keyed").filtered(by: Column("comment") == "kept")
            trial.expectIDs(try await migrated.read(query).records, ["a"], "query \(shown(query))")
        },
        rule(
            "migration.one-after-the-other",
            "done in one transaction, once, and recorded with the version",
            in: "Migration",
            "Opens a store with the versions 2, 3 and 4, one after the other: each time only the steps that are new run. A column"
                + " that is dropped and declared again is null.",
            needs: "migrations"
        ) { trial in
            let store = try await trial.makeStore(
                [.keyed(.init("int", .int64), .init("paid", .bool))],
                at: trial.place()
            )
            try await store.upsert(
                [Record(id: "a", ["text": "x", "int": 3, "paid": true]), Record(id: "b")],
                table: "keyed"
            )
            try await trial.end(store)
            let versions = Shared(Mutex<Set<Int>>([]))
            @Sendable func convert(_ version: Int, _ value: FieldValue, _ change: (Int64) -> Int64) -> FieldValue {
                _ = versions.value.withLock { $0.insert(version) }
                return value.int64Value.map { .int64(change($0)) } ?? .null
            }
            let migrations = [
                Migration(to: 2, .convertColumn("int", in: "keyed") { convert(2, $0) { $0 * 2 } }),
                Migration(
                    to: 3,
                    .convertColumn("int", in: "keyed") { convert(3, $0) { $0 + 1 } },
                    .dropColumn("paid", in: "keyed")
                ),
                Migration(to: 4),
            ]
            let paid = ColumnDefinition("paid", .bool)
            for (version, columns, int, isPaid, steps) in [
                (2, [paid], 6, true, [2]), (3, [], 7, nil, [3]), (4, [paid], 7, .null, []),
            ] as [(Int, [ColumnDefinition], Int64, FieldValue?, Set<Int>)] {
                versions.value.withLock { $0 = [] }
                let table = TableDefinition.keyed([.init("int", .int64)] + columns)
                let migrated = try await trial.reopen(
                    StoreSchema(version: version, [table], migrations: Array(migrations.prefix(version - 1)))
                )
                var row = Record(id: "a", ["text": "x", "int": .int64(int)])
                row["paid"] = isPaid
                trial.expectRows(
                    try await migrated.read(Query("keyed").ordered(by: "id")).records,
                    [row, Record(id: "b")].map(table.filled),
                    "rows after opening with version \(version)"
                )
                trial.expect(
                    versions.value.withLock { $0 },
                    equals: steps,
                    "the versions whose steps ran when it was opened with version \(version)"
                )
                try await trial.end(migrated)
            }
        },
    ]
}

extension TableDefinition {
    fileprivate static func keyed(_ columns: ColumnDefinition...) -> TableDefinition { keyed(columns) }

    fileprivate static func keyed(_ columns: [ColumnDefinition]) -> TableDefinition {
        TableDefinition("keyed", columns: [.init("text", .string)] + columns, systemProperties: [])
    }
}
