internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    /// What is delivered to nobody.
    static let silence: [StoreRule] = [
        silent(
            "changes.rollback-is-silent",
            "Rolls back a transaction that wrote to a table; only a later write to another table is delivered."
        ) { store in
            do {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "x")], into: "items")
                    try transaction.delete(["old"], from: "folding")
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // This is what the closure throws.
            }
        },
        silent(
            "changes.nothing-written-is-silent",
            "Runs write transactions that only read, that are empty, and that write an empty list."
        ) { store in
            try await store.write { _ in }
            try await store.write { _ = try $0.records(Query("items")) }
            try await store.upsert([], table: "items")
        },
        silent(
            "changes.absent-rows-are-silent",
            "Deletes absent ids, no ids, and by a query without rows."
        ) { store in
            try await store.deleteItems(withIDs: ["absent"], table: "items")
            try await store.deleteItems(withIDs: [], table: "items")
            try await store.delete(Query("items").filtered(by: .constant(false)))
            try await store.delete(Query("folding").limited(to: 0))
        },
        silent(
            "changes.refused-is-silent",
            "Writes batches that are refused for their last record or id, which rolls their transactions back, also where the closure"
                + " catches the error."
        ) { store in
            do {
                try await store.write { transaction in
                    do { try transaction.upsert([Record(id: "x", ["int": "text"])], into: "items") } catch {
                        // Nothing of it may be kept, whether the rest is or not.
                    }
                    do { _ = try transaction.insert(Record(id: "x", ["int": "text"]), into: "folding") } catch {
                        // The same.
                    }
                }
            } catch is StoreError {
                // A store may roll everything back.
            }
            do {
                try await store.upsert([Record(id: "x"), Record(id: "y", ["int": "text"])], table: "items")
            } catch is StoreError {
                // Other rules judge the error.
            }
            do {
                try await store.deleteItems(withIDs: ["old", 5], table: "folding")
            } catch is StoreError {
                // The same.
            }
        },
        silent("changes.reads-are-silent", "Reads rows, by id and by query.") { store in
            _ = try await store.read(Query("items"))
            _ = try await store.read(table: "items", itemID: "old")
        },
    ]

    /// A rule that nothing is delivered: the next write to another table must be all that the feed has.
    private static func silent(
        _ id: String,
        _ procedure: String,
        _ body: @escaping @Sendable (any SyncContextDataSource) async throws -> Void
    ) -> StoreRule {
        rule(id, notDelivered, in: changeSource, procedure) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "old")], table: "items")
            try await store.upsert([Record(id: "old")], table: "folding")
            let feed = store.changes()
            try await body(store)
            try await store.upsert([Record(id: "a")], table: "other")
            await trial.expectChange(feed, ["other"], "this, and then a write to 'other': \(procedure)")
        }
    }
}
