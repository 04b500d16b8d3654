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
        },
        rule(
            "upsert.undeclared-key-values",
            "Every value there keeps its kind",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes what columns of every type must keep, texts of 64 KB among them, under undeclared keys, reads it by id, by"
                + " query and in the same transaction, and reads it again after closing and opening where the store is durable.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await trial.makeStore()
            let rows = roundTrips.map { trip in
                var row = Record(id: .string(trip.name))
                for (number, value) in trip.samples.enumerated() where value.length < 100_000 {
                    row["\(trip.column)_\(number)"] = value
                }
                return row
            }
            try await trial.expectStored(rows, in: .items, store)
            guard store.capabilities.contains(.durable) else { return }
            try await trial.close(store)
            let again = try await trial.reopen()
            for row in rows {
                let got = try await again.read(table: "items", itemID: row.id)
                trial.expectRow(got, TableDefinition.items.filled(row), "undeclared keys after opening again")
            }
        },
        rule(
            "upsert.undeclared-key-names",
            "An undeclared key is kept under `unknownColumns` and dropped without it.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes values under undeclared keys that differ in case only, that are like words of SQL, 'id' and the names of"
                + " system properties which the table does not keep, that are long, and 1,500 of them in one row; merges some,"
                + " and reads them, also after closing and opening where the store is durable.",
            needs: "unknownColumns"
        ) { trial in
            let table = TableDefinition("plain", columns: [.init("text", .string)], systemProperties: [])
            let store = try await trial.makeStore([table])
            let names =
                [
                    "foo", "Foo", "FOO", "ID", "Id", "Text", "_", "_x", "__x", "a b", "a.b", "a\"b", "$x", "u:x", "é",
                    "日本",
                    "select", "rowid", "0", "true", "null",
                ] + SystemProperties.names + [127, 128, 255, 256, 2_000].map { String(repeating: "n", count: $0) }
            var row = Record(id: "a", ["text": "declared"])
            for (number, name) in names.enumerated() { row[name] = .int64(Int64(number)) }
            var many = Record(id: "b")
            for number in 0..<1_500 { many["key\(number)"] = .int64(Int64(number)) }
            try await trial.expectStored([row, many], in: table, store)
            let change = Record(id: "a", ["Foo": "merged", "Id": .null, "_x": 0.5, "version": "v"])
            try await store.upsert([change], table: "plain")
            row.merge(change)
            let expected = [row, table.filled(many)]
            trial.expectRows(
                try await store.read(Query("plain")).records,
                expected,
                "rows with undeclared keys, merged"
            )
            guard store.capabilities.contains(.durable) else { return }
            try await trial.close(store)
            let again = try await trial.reopen([table])
            trial.expectRows(try await again.read(Query("plain")).records, expected, "the same after opening again")
        },
    ]
}

extension FieldValue {
    /// How many bytes a long value has, about.
    fileprivate var length: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .json(let json): json.text.utf8.count
        default: 0
        }
    }
}
