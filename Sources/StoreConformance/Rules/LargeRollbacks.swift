internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    /// Calls so large that a store may be tempted to commit in the middle of one, and rows that a rollback may overlook.
    static let largeRollbacks: [StoreRule] = [
        rule(
            "transaction.rollback-one-large-call",
            allOrNothing,
            in: "SyncContextDataSource",
            "Inserts and merges 12,000 rows in one call, deletes 3,000 others in another, then throws: everything is as it was."
        ) { trial in
            let store = try await trial.makeStore()
            let old = (0..<3_000).map { Record(id: .string("old\(10_000 + $0)"), ["int": 1]) }
            try await store.upsert(old, table: "other")
            let rows = old.map { Record(id: $0.id, ["int": 2]) }
            let new = (0..<9_000).map { Record(id: .string("new\($0)"), ["int": 2]) }
            await thrown {
                try await store.write { transaction in
                    try transaction.upsert(rows + new, into: "other")
                    throw OwnError(number: 1)
                }
            }
            try await expectOld(trial, store, "upsert 12,000 records in one call, then throw")
            await thrown {
                try await store.write { transaction in
                    try transaction.delete(old.map(\.id), from: "other")
                    throw OwnError(number: 2)
                }
            }
            try await expectOld(trial, store, "delete 3,000 ids in one call, then throw")
            await thrown {
                try await store.write { transaction in
                    try transaction.delete(Query("other"))
                    throw OwnError(number: 3)
                }
            }
            try await expectOld(trial, store, "delete 3,000 rows by one query, then throw")
        },
        rule(
            "transaction.refused-large-call",
            "A method that throws leaves nothing of its call behind, or the store rolls back the whole transaction, also"
                + " when the closure catches the error and returns.",
            in: "StoreWriteBackend",
            "Merges 12,000 records in one call of which the last has a value of the wrong type, once letting the error"
                + " through and once catching it in the closure: no part of the call is kept."
        ) { trial in
            let store = try await trial.makeStore()
            let old = (0..<3_000).map { Record(id: .string("old\(10_000 + $0)"), ["int": 1]) }
            try await store.upsert(old, table: "other")
            let records =
                old.map { Record(id: $0.id, ["int": 2]) } + (0..<8_999).map { Record(id: .string("new\($0)")) }
                + [Record(id: "bad", ["int": "no number"])]
            await thrown { try await store.upsert(records, table: "other") }
            try await expectOld(trial, store, "upsert 12,000 records of which the last is refused")
            await thrown {
                try await store.write { transaction in
                    do { try transaction.upsert(records, into: "other") } catch {
                        // The closure swallows it: the store has to see to it that nothing half is kept.
                    }
                }
            }
            try await expectOld(trial, store, "the same, with the error caught in the closure")
        },
        rule(
            "transaction.rollback-configuration",
            allOrNothing,
            in: "SyncContextDataSource",
            "Inserts and merges settings in transactions that throw, alone and beside rows: none of them is there, and the"
                + " old ones have their values."
        ) { trial in
            let store = try await trial.makeStore()
            let table = store.configTableName
            try await store.upsert([Record(id: "kept", ["value": "1", "table": "items"])], table: table)
            let before = try await store.read(Query(table)).records
            for besideRows in [false, true] {
                await thrown {
                    try await store.write { transaction in
                        if besideRows { try transaction.upsert([Record(id: "row")], into: "items") }
                        try transaction.upsert(
                            [Record(id: "lost", ["value": "2"]), Record(id: "kept", ["value": "2"])],
                            into: table
                        )
                        throw OwnError(number: 1)
                    }
                }
                let after = try await store.read(Query(table)).records
                trial.expectRows(after, before, "settings after a transaction that wrote some and threw")
            }
        },
    ]

    private static func expectOld(
        _ trial: StoreTrial,
        _ store: any SyncContextDataSource,
        _ input: String
    ) async throws {
        let rows = try await store.read(Query("other")).records
        let changed = rows.count { $0["int"] != 1 }
        trial.expect(
            rows.count == 3_000 && changed == 0,
            input,
            expected: "the 3,000 rows from before",
            got: "\(rows.count) rows, \(changed) of them not as they were"
        )
    }

    /// Runs what throws; whether it does, and what, is the business of other rules.
    private static func thrown(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            // What is there afterwards is looked at.
        }
    }
}
