internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    /// What stands at a place already. A store may leave that to its app, so that these are no more than recommended.
    static let places: [StoreRule] = [
        rule(
            "durability.made-over-another",
            "What makes a durable store should refuse a place that has one, with `alreadyExists`,",
            in: "SyncContextDataSource",
            "Makes a store where a closed one lies: refused, and the first has its rows.",
            needs: "durable",
            isRecommended: true
        ) { trial in
            try await trial.writeAndClose([.items], [fullRow("a")])
            try await trial.expectError(.alreadyExists, from: "make a store where one lies") {
                try await trial.close(try await trial.makeStore([.items], at: try trial.place()))
            }
            let store = try await trial.reopen([.items])
            trial.expectRows(try await store.read(Query("items")).records, [fullRow("a")], "rows of the first")
        },
        rule(
            "durability.opened-twice",
            "and what opens it should refuse one that is open, with `inUse`:",
            in: "SyncContextDataSource",
            "Opens a store that is open: refused, and the first goes on; it opens when the first is closed.",
            needs: "durable",
            isRecommended: true
        ) { trial in
            let first = try await trial.makeStore([.items], at: try trial.place())
            try await first.upsert([Record(id: "a")], table: "items")
            try await trial.expectError(.inUse, from: "open a store that is open") {
                try await trial.close(try await trial.reopen([.items]))
            }
            try await first.upsert([Record(id: "b")], table: "items")
            try await trial.close(first)
            let second = try await trial.reopen([.items])
            trial.expectIDs(try await second.read(Query("items")).records, ["a", "b"], "rows of both writes")
        },
        rule(
            "durability.opened-by-another-process",
            "and what opens it should refuse one that is open, with `inUse`:",
            in: "SyncContextDataSource",
            "Another process opens a store that is open: refused, and the first goes on; it opens when the first is closed.",
            needs: "durable",
            isRecommended: true,
            drills: [
                "other": { trial in
                    try await trial.expectError(.inUse, from: "open a store that another process has open") {
                        _ = try await trial.reopen([.items])
                    }
                },
                "heir": { trial in
                    let store = try await trial.reopen([.items])
                    let rows = try await store.read(Query("items")).records
                    trial.expectIDs(rows, ["a", "b"], "rows of a store that another process has closed")
                },
            ]
        ) { trial in
            let store = try await trial.makeStore([.items], at: try trial.place())
            try await store.upsert([Record(id: "a")], table: "items")
            try await trial.runKilled("other")
            try await store.upsert([Record(id: "b")], table: "items")
            try await trial.close(store)
            try await trial.runKilled("heir")
        },
    ]
}
