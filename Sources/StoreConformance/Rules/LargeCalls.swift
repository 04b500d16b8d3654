internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let largeCalls: [StoreRule] = [
        rule(
            "upsert.very-many",
            "Inserts or merges records, all or nothing.",
            in: "SyncContextDataSource",
            "Looks for the ids and numbers of three rows in lists of 33,000, by a column with an index and without, writes 33,000"
                + " records in one call, reads and walks them without a limit, and deletes 33,000 ids in one call."
        ) { trial in
            let table = TableDefinition(
                "many",
                columns: [.init("int", .int64), .init("number", .int64)],
                systemProperties: [],
                indexes: [["int"]]
            )
            let store = try await trial.makeStore([table])
            let all = 0..<33_000
            let rows = all.map {
                Record(id: .string("\($0)"), ["int": .int64(Int64($0)), "number": .int64(Int64($0))])
            }
            try await store.upsert([rows[32_999], rows[0], rows[20_000]], table: "many")
            let numbers = all.map { FieldValue.int64(Int64($0)) }
            for (name, list) in [("int", numbers), ("number", numbers), ("id", all.map { .string("\($0)") })] {
                let found = try await store.read(Query("many").filtered(by: Column(name).isAny(of: list))).records
                trial.expectIDs(found, ["0", "20000", "32999"], "rows whose '\(name)' is one of 33,000 values")
            }
            try await store.upsert(rows, table: "many")
            let (read, walked, count, last) = try await store.read { reader in
                var walked = 0
                try reader.forEach(Query("many").ordered(by: "number")) { _ in walked += 1 }
                return (
                    try reader.records(Query("many")).count, walked, try reader.count(Query("many")),
                    try reader.record("32999", in: "many")
                )
            }
            trial.expect(read, equals: 33_000, "rows read without a limit, of 33,000 written in one call")
            trial.expect(walked, equals: 33_000, "rows walked in an order without a limit, of 33,000")
            trial.expect(count, equals: 33_000, "count of 33,000 rows")
            trial.expectRow(last, rows[32_999], "the last of 33,000 rows")
            let deleted = try await store.write { try $0.delete(rows.map(\.id), from: "many") }
            trial.expect(deleted, equals: 33_000, "the number that deleting 33,000 ids in one call returns")
            trial.expectIDs(try await store.read(Query("many").limited(to: 3)).records, [], "rows left after that")
        }
    ]
}
