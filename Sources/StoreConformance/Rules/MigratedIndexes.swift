internal import ConformanceRunner
internal import SyncContract

// What a migration brings along beside values: how ids are written, and what rows are found by.
extension StoreRules {
    static let migratedIndexes: [StoreRule] = [
        rule(
            "migration.keeps-casings",
            "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
            in: "IDComparison",
            "Migrates a table whose ids ignore case: each row has its id in the newest casing, is found in every other one, and"
                + " is merged under another one.",
            needs: "migrations"
        ) { trial in
            let old = TableDefinition("notes", columns: [.init("text", .string)], idComparison: .asciiCaseInsensitive)
            let store = try await trial.makeStore([old], at: trial.place())
            try await store.upsert(
                [Record(id: "ab"), Record(id: "Cd", ["text": "x"]), Record(id: "É")],
                table: "notes"
            )
            try await store.upsert([Record(id: "aB", ["text": "y"])], table: "notes")
            try await trial.end(store)
            let letters = TableDefinition(
                "letters",
                columns: [.init("text", .string), .init("status", .string)],
                idComparison: .asciiCaseInsensitive
            )
            let migrated = try await trial.reopen(
                letters,
                .renameTable("notes", to: "letters"),
                .fillColumn("status", in: "letters", with: .string("new"))
            )
            let rows = [
                Record(id: "aB", ["text": "y", "status": "new"]), Record(id: "Cd", ["text": "x", "status": "new"]),
                Record(id: "É", ["status": "new"]),
            ]
            .map { letters.filled($0) }
            trial.expectRows(try await migrated.read(Query("letters")).records, rows, "rows of the migrated table")
            for (id, row) in [("ab", 0), ("AB", 0), ("aB", 0), ("cd", 1), ("CD", 1), ("É", 2)] {
                let got = try await migrated.read(table: "letters", itemID: .string(id))
                trial.expectRow(got, rows[row], "read '\(id)' after the migration")
            }
            try await migrated.upsert([Record(id: "CD", ["text": "z"])], table: "letters")
            trial.expectIDs(
                try await migrated.read(Query("letters")).records,
                ["aB", "CD", "É"],
                "rows after a merge under another casing"
            )
        },
        rule(
            "migration.indexes",
            "Lists of column names that the store should find rows by, each once; the order of names counts.",
            in: "TableDefinition",
            "Migrates a table with indexes, over a column that is renamed, one that is filled and one that stays: conditions that"
                + " equal a value or one of several, ranges and orders over them find the rows from before and those written since.",
            needs: "migrations"
        ) { trial in
            let old = TableDefinition(
                "notes",
                columns: [.init("text", .string), .init("int", .int64)],
                indexes: [["text"], ["int"]]
            )
            let store = try await trial.makeStore([old], at: trial.place())
            let rows = (0..<6)
                .map { Record(id: .string("\($0)"), ["text": .string("t\($0)"), "int": .int64(Int64($0))]) }
            try await store.upsert(rows, table: "notes")
            try await trial.end(store)
            let letters = TableDefinition(
                "letters",
                columns: [.init("title", .string), .init("int", .int64), .init("status", .string)],
                indexes: [["title"], ["int"], ["status"], ["status", "int"]]
            )
            let migrated = try await trial.reopen(
                letters,
                .renameTable("notes", to: "letters"),
                .renameColumn("text", to: "title", in: "letters"),
                .fillColumn("status", in: "letters") { $0["int"] == 3 ? "three" : "other" }
            )
            try await trial.expectFound(migrated, isMore: false)
            try await migrated.upsert(
                [Record(id: "6", ["title": "t1", "int": 3, "status": "three"])],
                table: "letters"
            )
            try await trial.expectFound(migrated, isMore: true)
        },
    ]
}

extension Trial where Subject == StoreSubject {
    /// Opens the store with version 2 of a schema of one table, to which steps lead.
    func reopen(_ table: TableDefinition, _ steps: MigrationStep...) async throws -> any SyncContextDataSource {
        try await reopen(StoreSchema(version: 2, [table], migrations: [Migration(to: 2, steps: steps)]))
    }

    /// Asks for migrated rows, and for one more that was written since.
    fileprivate func expectFound(_ store: any SyncContextDataSource, isMore: Bool) async throws {
        let more: [RecordID] = isMore ? ["6"] : []
        let all = Query("letters")
        let queries: [(Query, [RecordID])] = [
            (all.filtered(by: Column("title") == "t1"), ["1"] + more),
            (all.filtered(by: Column("int") == 3), ["3"] + more),
            (all.filtered(by: Column("status") == "three"), ["3"] + more),
            (all.filtered(by: Column("title").isAny(of: ["t0", "t5", "t6"])), ["0", "5"]),
            (all.filtered(by: Column("int").isAny(of: [2, 3])), ["2", "3"] + more),
            (all.filtered(by: Column("int") > 4), ["5"]),
            (all.ordered(by: "int", .descending).limited(to: 2), ["5", "4"]),
            (all.ordered(by: "title").limited(to: 2), ["0", "1"]),
            (all.ordered(by: "status", .descending).limited(to: 1), ["3"]),
        ]
        for (query, ids) in queries {
            let got = try await store.read(query).records
            expectIDs(got, ids, "query \(shown(query)) after a migration" + (isMore ? " and a write" : ""))
        }
    }
}
