internal import ConformanceRunner
internal import SyncContract

// What an opening may lose: long values, rows that were deleted and written again, and values under names whose place changed.
extension StoreRules {
    private static let kept = "What is written is still there after the store is closed and opened again."

    static let keptValues: [StoreRule] = [
        rule(
            "durability.large-values",
            kept,
            in: "StoreCapabilities",
            "Writes texts, bytes and JSON of 64 KB, of a byte less and more and of 300 KB, each beside a decimal of 2,000 digits,"
                + " under undeclared keys too where the store keeps them, closes, opens, and reads them.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            let rows = [65_535, 65_536, 65_537, 300_000]
                .map { length in
                    var row = largeRow(length)
                    guard store.capabilities.contains(.unknownColumns) else { return row }
                    for name in row.names { row["undeclared_" + name] = row[name] }
                    return row
                }
            try await store.upsert(rows, table: "items")
            try await trial.close(store)
            let again = try await trial.reopen()
            for row in rows {
                let got = try await again.read(table: "items", itemID: row.id)
                trial.expectRow(
                    got,
                    TableDefinition.items.filled(row),
                    "values of \(shown(row.id)) bytes after opening"
                )
            }
        },
        rule(
            "durability.deleted-and-written-again",
            kept,
            in: "StoreCapabilities",
            "Deletes a row and writes it again, and writes one and deletes it, of rows that were there and of new ones, each in"
                + " one transaction, closes and opens: what came last in each is there.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(
                ["a", "b", "c"].map { Record(id: .string($0), ["int": 1, "text": "old"]) },
                table: "items"
            )
            try await store.write { transaction in
                try transaction.delete(["a"], from: "items")
                try transaction.upsert([Record(id: "a", ["int": 2])], into: "items")
            }
            try await store.write { transaction in
                try transaction.upsert([Record(id: "b", ["int": 2]), Record(id: "d")], into: "items")
                try transaction.delete(["b", "d"], from: "items")
            }
            try await store.write { transaction in
                try transaction.upsert([Record(id: "e", ["text": "first"])], into: "items")
                try transaction.delete(Query("items").filtered(by: Column("id").isAny(of: ["c", "e"])))
                _ = try transaction.insert(Record(id: "e", ["int": 3]), into: "items")
                try transaction.upsert([Record(id: "c", ["int": 3])], into: "items")
                try transaction.delete(["c"], from: "items")
            }
            let expected = [Record(id: "a", ["int": 2]), Record(id: "e", ["int": 3])]
                .map { TableDefinition.items.filled($0) }
            trial.expectRows(try await store.read(Query("items")).records, expected, "rows deleted and written again")
            try await trial.close(store)
            let again = try await trial.reopen()
            trial.expectRows(
                try await again.read(Query("items")).records,
                expected,
                "the same after closing and opening"
            )
        },
    ]

    static let keptSchemas: [StoreRule] = [
        rule(
            "schema.declared-in-another-order",
            "Only names, types and how ids compare are held against what is stored: whatever else a declaration says may be"
                + " another each time.",
            in: "SyncContextDataSource",
            "Opens the store again with its tables and their columns, several of one type, in another order, and in the first one"
                + " again: every value is under its name, in rows and in conditions, those that are written then as well.",
            needs: "durable"
        ) { trial in
            func tables(_ isReversed: Bool) -> [TableDefinition] {
                let columns: [ColumnDefinition] = [
                    .init("a", .string), .init("b", .string), .init("c", .int64), .init("d", .int64), .init("e", .date),
                    .init("f", .date), .init("g", .string),
                ]
                let tables = ["one", "two"]
                    .map {
                        TableDefinition($0, columns: isReversed ? columns.reversed() : columns, systemProperties: .all)
                    }
                return isReversed ? tables.reversed() : tables
            }
            var row = Record(
                id: "r",
                [
                    "a": "A", "b": "B", "c": 3, "d": 4, "e": .date(5), "f": .date(text: "2024-02-29T12:34:56.7891234Z"),
                    "g": .null, "createdAt": .date(7), "updatedAt": .date(8), "version": "V", "deleted": false,
                ]
            )
            var store = try await trial.makeStore(tables(false))
            for table in ["one", "two"] { try await store.upsert([row, Record(id: .string(table))], table: table) }
            for (round, isReversed) in [true, false, true].enumerated() {
                try await trial.close(store)
                store = try await trial.reopen(tables(isReversed))
                for table in ["one", "two"] {
                    let input = "'\(table)', opened with columns in \(isReversed ? "another order" : "the first order")"
                    let empty = tables(false)[0].filled(Record(id: .string(table)))
                    let expected = [row, empty].sorted { ($0.id.stringValue ?? "") < ($1.id.stringValue ?? "") }
                    trial.expectRows(try await store.read(Query(table)).records, expected, "rows of \(input)")
                    for (name, value) in row.fields where !value.isNull {
                        let query = Query(table).filtered(by: Column(name) == value)
                        trial.expectIDs(try await store.read(query).records, ["r"], "query \(shown(query)) of \(input)")
                    }
                }
                let change = Record(
                    id: "r",
                    ["b": .string("B\(round)"), "g": "G", "d": .int64(Int64(44 + round))]
                )
                for table in ["one", "two"] { try await store.upsert([change], table: table) }
                row.merge(change)
                for table in ["one", "two"] {
                    let got = try await store.read(table: table, itemID: "r")
                    trial.expectRow(got, row, "a row of '\(table)' that is merged then")
                }
            }
        },
        rule(
            "schema.fewer-system-properties",
            "Its values count then as written under an undeclared key.",
            in: "SyncContextDataSource",
            "Opens the store again with a table that has no system properties any more, and with them again: rows have their"
                + " values there each time, and conditions find them in the end.",
            needs: "unknownColumns"
        ) { trial in
            func notes(_ properties: SystemProperties) -> TableDefinition {
                TableDefinition("notes", columns: [.init("text", .string)], systemProperties: properties)
            }
            let store = try await trial.makeStore([notes(.all)])
            try store.requireDurability()
            let row = Record(
                id: "a",
                [
                    "text": "x", "version": "v1", "createdAt": .date(5), "deleted": true,
                    "updatedAt": .date(text: "2024-02-29T12:34:56.7891234Z"),
                ]
            )
            try await store.upsert([row], table: "notes")
            try await trial.close(store)
            let without = try await trial.reopen([notes([])])
            trial.expectRow(
                try await without.read(table: "notes", itemID: "a"),
                row,
                "a row whose system properties are no longer declared"
            )
            try await trial.close(without)
            let again = try await trial.reopen([notes(.all)])
            trial.expectRow(
                try await again.read(table: "notes", itemID: "a"),
                row,
                "a row whose system properties are declared again"
            )
            for name in SystemProperties.names {
                let query = Query("notes").filtered(by: Column(name) == (row[name] ?? .null))
                trial.expectIDs(try await again.read(query).records, ["a"], "query \(shown(query)) then")
            }
        },
    ]

    private static func largeRow(_ length: Int) -> Record {
        let digits = String(repeating: "123456789.", count: length / 10 + 1)
        return Record(
            id: .string("\(length)"),
            [
                "text": .string(String(digits.prefix(length))),
                "bytes": .bytes((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
                "json": .json("\"" + digits.prefix(length - 2) + "\""),
                "decimal": .decimal(String(repeating: "1234567890", count: 200) + ".\(length)"),
            ]
        )
    }
}
