internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let undeclaredValues: [StoreRule] = [
        rule(
            "upsert.undeclared-key-doubles",
            "Every value there keeps its kind: a whole double stays a double, and an infinity stays one.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes whole doubles, the largest and smallest, zeros, infinities and texts that look like them under undeclared"
                + " keys, reads them, and reads them again after closing and opening where the store is durable.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await trial.makeStore()
            let row = Record(
                id: "a",
                [
                    "one": 1.0, "minusTwo": -2.0, "zero": 0.0, "large": 9_007_199_254_740_992.0, "huge": 1e300,
                    "infinite": .double(.infinity), "minusInfinite": .double(-.infinity),
                    "least": .double(.leastNonzeroMagnitude), "int": 1, "whole": 1, "decimal": .decimal("1.0"),
                    "text": "Infinity", "words": "1.0", "decimalOne": .decimal("1.0"), "json": .json("1.0"),
                    "jsonOne": .json("1.0"),
                ]
            )
            try await trial.expectStored([row], in: .items, store)
            guard store.capabilities.contains(.durable) else { return }
            try await trial.close(store)
            let again = try await trial.reopen()
            let got = try await again.read(table: "items", itemID: "a")
            trial.expectRow(got, TableDefinition.items.filled(row), "doubles under undeclared keys after opening again")
        }
    ]
}
