internal import ConformanceRunner
internal import SyncContract

// The reads that are transactions of their own, for which a store may have a faster way.
extension StoreRules {
    private static let theSame =
        "The same as `record(_:in:)` in `read(_:)`, which is what a store does that has no faster way."
    private static let theSameForQueries =
        "The same as `read(_:)` in `read(_:)`, which is what a store does that has no faster way."

    static let shortReads: [StoreRule] = [
        rule(
            "read.short-query",
            theSameForQueries,
            in: "SyncContextDataSource/read(_:)",
            "Runs 40 random queries, with limits from none to 101, with states, total counts and selections, without a closure"
                + " and within one: both give the same."
        ) { trial in
            var random = RandomRows(trial.random())
            let world = try await StateWorld(trial, (0..<130).map { random.record(.string("\($0)")) })
            let limits: [Int?] = [0, 1, 99, 100, 101, nil]
            for limit in limits {
                var query = Query("items").includingSyncStates()
                (query.limit, query.includesTotalCount) = (limit, true)
                try await trial.expectSame(query, world.store)
                try await trial.expectSame(query.skipping(7), world.store)
            }
            for number in 0..<40 {
                var query = random.query(over: world.rows)
                query.limit = limits[number % limits.count]
                // Most conditions leave too few rows for a limit to matter.
                if random.random.chance(50) { (query.predicate, query.offset) = (nil, 0) }
                query.includesSyncStates = random.random.chance(50)
                query.includesTotalCount = random.random.chance(50)
                try await trial.expectSame(query, world.store)
            }
            try await trial.expectError(.tableNotFound, from: "query a table that is not declared, one row") {
                _ = try await world.store.read(Query("absent").limited(to: 1))
            }
        },
        rule(
            "read.short-read-of-much",
            theSame,
            in: "SyncContextDataSource/read(table:itemID:)",
            "Reads a row with a text of 1.3 million characters by id and by queries of few rows, rows of 20,000 characters each,"
                + " and one row behind 3,000 that a condition passes over."
        ) { trial in
            let store = try await trial.makeStore()
            let long = String(repeating: "0123456789", count: 2_000)
            let rows = (0..<20).map { Record(id: .string("\(10 + $0)"), ["text": .string(long + "\($0)")]) }
            let large = Record(id: "large", ["text": .string(String(repeating: "x", count: 1_300_000))])
            try await store.upsert(rows + [large], table: "items")
            try await store.upsert(
                (0..<3_000).map { Record(id: .string("\($0)"), ["text": .string("row \($0)")]) },
                table: "other"
            )
            let filled = (rows + [large]).map { TableDefinition.items.filled($0) }
            trial.expectRow(
                try await store.read(table: "items", itemID: "large"),
                filled.last,
                "read a large row by id"
            )
            for limit in [1, 20, 21, 100] {
                let got = try await store.read(Query("items").limited(to: limit)).records
                trial.expectRows(got, Array(filled.prefix(limit)), "\(limit) rows of 20,000 characters and more")
            }
            let backwards = Query("items").ordered(by: "id", .descending).limited(to: 1)
            trial.expectRows(
                try await store.read(backwards).records,
                [filled[20]],
                "a large row, as the only one of a query"
            )
            for (text, ids) in [("row 2999", ["2999"]), ("row 3000", [])] as [(String, [RecordID])] {
                let query = Query("other").filtered(by: Column("text").contains(text)).limited(to: 1)
                trial.expectIDs(try await store.read(query).records, ids, "query \(shown(query)) over 3,000 rows")
            }
        },
    ]
}

extension StoreTrial {
    /// Reports when a query gives something else without a closure than within one.
    fileprivate func expectSame(_ query: Query, _ store: any SyncContextDataSource) async throws {
        let expected = try await store.read { try $0.read(query) }
        let got = try await store.read(query)
        let input = "query \(shown(query)) without a closure"
        expectRows(got.records, expected.records, input)
        expect(got.totalCount, equals: expected.totalCount, input + ", its total count")
    }
}
