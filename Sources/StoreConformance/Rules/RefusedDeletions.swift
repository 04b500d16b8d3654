internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    private static let noHalf =
        "A method that throws leaves nothing of its call behind, or the store rolls back the whole transaction, also"
        + " when the closure catches the error and returns."

    static let refusedDeletions: [StoreRule] = [
        rule(
            "delete.refused-ids-leave-no-half",
            noHalf,
            in: "StoreWriteBackend",
            "Deletes ids of which the last is of the wrong kind and catches the error inside the closure: no row of that call"
                + " is gone."
        ) { trial in
            try await expectNoHalf(trial, "delete the ids \"a\", \"b\" and int64 1") {
                _ = try $0.delete(["a", "b", 1], from: "items")
            }
        },
        rule(
            "delete.refused-query-leaves-no-half",
            noHalf,
            in: "StoreWriteBackend",
            "Deletes by queries that are refused, for a column, a limit, an offset, an order and a selection, and catches the"
                + " error inside the closure: no row is gone."
        ) { trial in
            let all = Query("items")
            var refused = [
                all.filtered(by: Column("int") == 1 || Column("missing") == 1), all.ordered(by: "missing"),
                all.selecting(["missing"]), all.limited(to: -1), all.skipping(-1),
            ]
            refused.append(
                all.filtered(by: Column("int") >= 0).ordered(by: "int").ordered(by: "missing").limited(to: 2)
            )
            for query in refused {
                try await expectNoHalf(trial, "delete \(shown(query))") { _ = try $0.delete(query) }
            }
        },
    ]

    /// Catches the error of a refused deletion inside the closure and looks at what is left.
    private static func expectNoHalf(
        _ trial: StoreTrial,
        _ input: String,
        _ delete: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        let store = try await trial.makeStore()
        try await store.upsert(["a", "b", "c"].map { Record(id: $0, ["int": 1]) }, table: "items")
        var isKept = true
        var wasRefused = false
        do {
            wasRefused = try await store.write { transaction in
                try transaction.upsert([Record(id: "before")], into: "items")
                do {
                    try delete(&transaction)
                    return false
                } catch {
                    // The closure swallows it: the store has to see to it that nothing half is kept.
                    return true
                }
            }
        } catch is StoreError {
            // The store rolled back the whole transaction, and says so.
            (isKept, wasRefused) = (false, true)
        }
        trial.expect(wasRefused, input, expected: "an error", got: "no error")
        trial.expectIDs(
            try await store.read(Query("items")).records,
            isKept ? ["a", "b", "before", "c"] : ["a", "b", "c"],
            input + ", catch the error and return: rows that are left"
        )
    }
}
