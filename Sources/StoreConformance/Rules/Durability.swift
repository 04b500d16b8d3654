internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let durability: [StoreRule] = reopening + killing + killedInserts + killedAnywhen + places

    private static let kept = "What is written is still there after the store is closed and opened again."
    static let survives =
        "Under the capability `durable` a write that returned survives the end of the process at any later instant."

    private static let reopening: [StoreRule] = [
        rule(
            "durability.values",
            kept,
            in: "StoreCapabilities",
            "Writes 100 random rows and a full one, closes, opens, and reads all rows.",
            needs: "durable"
        ) { trial in
            var random = RandomRows(trial.random())
            let rows = (0..<100).map { random.record(.string("id\($0)")) } + [fullRow("full")]
            try await trial.writeAndClose(TableDefinition.standard, rows)
            let store = try await trial.reopen()
            let expected = try QueryEvaluator(.items)
                .evaluate(Query("items"), over: rows.map { TableDefinition.items.filled($0) })
            trial.expectRows(
                try await store.read(Query("items")).records,
                expected,
                "all rows after closing and opening"
            )
        },
        rule(
            "durability.undeclared-keys",
            "Values under undeclared keys are kept and come back in reads without a selection",
            in: "StoreCapabilities",
            "Writes values under undeclared keys, closes, opens, and reads them.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await trial.makeStore()
            try store.requireDurability()
            let row = Record(
                id: "a",
                [
                    "int": 1, "x": 0.1, "y": .date(text: "2024-02-29T12:34:56.7891234Z"), "z": .decimal("1.10"),
                    "n": .null,
                    "b": .bytes([0, 1]), "j": .json("[1.0]"), "t": "1", "f": true, "i": .int64(.max),
                ]
            )
            try await store.upsert([row], table: "items")
            try await trial.close(store)
            let again = try await trial.reopen()
            let got = try await again.read(table: "items", itemID: "a")
            let expected = TableDefinition.items.filled(row)
            trial.expectRow(got, expected, "undeclared keys after closing and opening")
        },
        rule(
            "durability.merges-and-deletes",
            kept,
            in: "StoreCapabilities",
            "Merges, clears and deletes, closes and opens: the merged row is there, the deleted ones are not. Merges again.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([fullRow("a"), fullRow("b"), fullRow("c")], table: "items")
            try await store.upsert([Record(id: "a", ["int": 99, "text": .null])], table: "items")
            try await store.deleteItems(withIDs: ["b"], table: "items")
            try await store.delete(Query("items").filtered(by: Column("id") == "c"))
            try await trial.close(store)
            var expected = fullRow("a")
            expected.merge(Record(id: "a", ["int": 99, "text": .null]))
            let again = try await trial.reopen()
            trial.expectRows(try await again.read(Query("items")).records, [expected], "rows after closing and opening")
            try await again.upsert(
                [Record(id: "a", ["double": 0.5, "x": 2]), Record(id: "b", ["int": 1])],
                table: "items"
            )
            expected.merge(Record(id: "a", ["double": 0.5]))
            let merged = try await again.read(Query("items").selecting(TableDefinition.items.allColumns.map(\.name)))
            trial.expectRows(
                merged.records,
                [expected, TableDefinition.items.filled(Record(id: "b", ["int": 1]))],
                "merge into a row from before, and insert the id of a deleted one"
            )
        },
        rule(
            "durability.rolled-back-stays-away",
            "when it returns, everything it wrote is kept, and when it throws, nothing is.",
            in: "SyncContextDataSource",
            "Rolls back a transaction, closes and opens: nothing of it appears.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
            do {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "a", ["int": 2]), Record(id: "b")], into: "items")
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // This is what the closure throws.
            }
            try await trial.close(store)
            let again = try await trial.reopen()
            let expected = TableDefinition.items.filled(Record(id: "a", ["int": 1]))
            trial.expectRows(try await again.read(Query("items")).records, [expected], "rows after closing and opening")
        },
        rule(
            "durability.system-tables",
            kept,
            in: "StoreCapabilities",
            "Writes operations, errors and settings, closes, opens, and reads them in order.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = [1, 2, 10, 100]
            let operations = ids.map { Record(id: $0, ["table": "items", "properties": .bytes([1, 0, 2])]) }
            try await store.upsert(operations.reversed(), table: store.operationTableName)
            try await store.upsert([Record(id: "e", ["operationId": 2])], table: store.errorTableName)
            try await store.upsert([Record(id: "t", ["value": "2024"])], table: store.configTableName)
            try await trial.close(store)
            let again = try await trial.reopen()
            let rows = try await again.read(Query(again.operationTableName)).records
            trial.expectRows(rows, operations.map { SystemTables.operations.filled($0) }, "operations")
            let error = try await again.read(table: again.errorTableName, itemID: "e")
            trial.expect(error?["operationId"] == 2, "the operation error", expected: "int64 2", got: shown(error))
            let setting = try await again.read(table: again.configTableName, itemID: "t")
            trial.expect(setting?["value"] == "2024", "the setting", expected: "\"2024\"", got: shown(setting))
        },
        rule(
            "durability.ids",
            kept,
            in: "StoreCapabilities",
            "Writes ids that look alike, and ids in another casing, closes, opens, and reads them.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = ["\u{E9}", "e\u{301}", "a\0b", "A", "a", "1", "01"]
            try await store.upsert(ids.map { Record(id: $0) }, table: "items")
            try await store.upsert([Record(id: "ab", ["int": 1])], table: "folding")
            try await store.upsert([Record(id: "AB")], table: "folding")
            try await trial.close(store)
            let again = try await trial.reopen()
            for id in ids {
                let row = try await again.read(table: "items", itemID: id)
                trial.expect(row?.id == id, "read \(shown(id)) after opening", expected: shown(id), got: shown(row))
            }
            trial.expectIDs(try await again.read(Query("folding")).records, ["AB"], "the newest casing after opening")
            try await again.upsert([Record(id: "aB")], table: "folding")
            trial.expectIDs(try await again.read(Query("folding")).records, ["aB"], "a third casing after opening")
        },
        rule(
            "durability.again-and-again",
            kept,
            in: "StoreCapabilities",
            "Opens and closes the store 8 times and writes each time, 200 rows in all; also without writing.",
            needs: "durable"
        ) { trial in
            var store = try await trial.makeStore()
            for session in 0..<8 {
                let rows = (0..<25).map { Record(id: .string("\(session)-\($0)"), ["int": .int64(Int64(session))]) }
                if session != 4 { try await store.upsert(rows, table: "items") }
                try await trial.close(store)
                store = try await trial.reopen()
                let count = try await store.read { try $0.count(Query("items")) }
                trial.expect(
                    count,
                    equals: (session >= 4 ? session : session + 1) * 25,
                    "rows after session \(session)"
                )
            }
        },
        rule(
            "durability.places-are-separate",
            kept,
            in: "StoreCapabilities",
            "Makes two stores at two places and closes one: neither has the other's rows, and the other goes on.",
            needs: "durable"
        ) { trial in
            let first = try await trial.makeStore(at: trial.place("first"))
            let second = try await trial.makeStore(at: trial.place("second"))
            try await first.upsert([Record(id: "a")], table: "items")
            try await second.upsert([Record(id: "b")], table: "items")
            try await trial.close(first)
            try await second.upsert([Record(id: "c")], table: "items")
            trial.expectIDs(try await second.read(Query("items")).records, ["b", "c"], "rows of the second store")
            let again = try await trial.reopen(at: trial.place("first"))
            trial.expectIDs(
                try await again.read(Query("items")).records,
                ["a"],
                "rows of the first store, opened again"
            )
        },
    ]

    private static let killing: [StoreRule] = [
        rule(
            "durability.killed-keeps-writes",
            survives,
            in: "SyncContextDataSource",
            "Another process makes a store, writes 40 transactions and is killed. Every row must be there.",
            needs: "durable",
            drills: ["writer": { trial in try await writePairs(trial, 40) }]
        ) { trial in
            try await trial.runKilled("writer")
            try await expectPairs(trial, 40, "40 transactions of a process that was killed afterwards")
        },
        rule(
            "durability.killed-keeps-merges-and-deletes",
            survives,
            in: "SyncContextDataSource",
            "Another process merges, clears, deletes by id and by query, writes an operation, rolls a transaction back and"
                + " is killed. What was merged must be there, and nothing of what was deleted or rolled back.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore(at: trial.place())
                    try await store.upsert(["a", "b", "c", "d"].map { fullRow($0) }, table: "items")
                    try await store.upsert([Record(id: 1), Record(id: 2)], table: store.operationTableName)
                    try await store.upsert([Record(id: "a", ["int": 99, "text": .null])], table: "items")
                    try await store.deleteItems(withIDs: ["b"], table: "items")
                    try await store.delete(Query("items").filtered(by: Column("id") == "c"))
                    try await store.deleteItems(withIDs: [1], table: store.operationTableName)
                    do {
                        try await store.write { transaction in
                            try transaction.upsert([Record(id: "e"), Record(id: "d", ["int": 0])], into: "items")
                            try transaction.delete(["a"], from: "items")
                            throw OwnError(number: 1)
                        }
                    } catch is OwnError {
                        // This is what the closure throws.
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            let store = try await trial.reopen()
            var merged = fullRow("a")
            merged.merge(Record(id: "a", ["int": 99, "text": .null]))
            trial.expectRows(
                try await store.read(Query("items")).records,
                [merged, fullRow("d")],
                "rows of a process that merged, deleted and rolled back, and was killed"
            )
            trial.expectIDs(
                try await store.read(Query(store.operationTableName)).records,
                [2],
                "operations of that process"
            )
        },
        rule(
            "durability.killed-drops-unfinished",
            "never half a transaction",
            in: "SyncContextDataSource",
            "Another process writes 5 transactions and is killed in the closure of the sixth. Five must be there.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await writePairs(trial, 5)
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: "5a"), Record(id: "0a", ["int": -1])], into: "items")
                        try transaction.delete(["1b"], from: "other")
                        try transaction.upsert(
                            (0..<500)
                                .map {
                                    Record(id: .string("x\($0)"), ["bytes": .bytes(Array(repeating: 1, count: 2_000))])
                                },
                            into: "items"
                        )
                        killThisProcess()
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            try await expectPairs(trial, 5, "5 transactions of a process that was killed in the sixth")
        },
        rule(
            "durability.killed-again-and-again",
            survives,
            in: "SyncContextDataSource",
            "Four processes, one after the other, each write 10 transactions and are killed. All must be there.",
            needs: "durable",
            drills: [
                "first": { trial in try await writePairs(trial, 10) },
                "next": { trial in
                    let store = try await trial.reopen()
                    let count = try await store.read { try $0.count(Query("items")) }
                    try await writePairs(store, count..<count + 10)
                },
            ]
        ) { trial in
            try await trial.runKilled("first")
            for _ in 0..<3 { try await trial.runKilled("next") }
            try await expectPairs(trial, 40, "40 transactions of four processes that were killed")
        },
        rule(
            "durability.killed-beside-reads",
            survives,
            in: "SyncContextDataSource",
            "A process is killed while other tasks of it read and write. What it reported as written must be there.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore()
                    Task {
                        while true {
                            _ = try await store.read(Query("items"))
                            // On one core a read that never waits would leave no turn to the writes.
                            await Task.yield()
                        }
                    }
                    try await writePairs(store, 0..<30)
                    let lost = Task {
                        try await store.write { transaction in
                            try transaction.upsert([Record(id: "lost")], into: "items")
                            killThisProcess()
                        }
                    }
                    try await lost.value
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            try await expectPairs(trial, 30, "30 transactions beside reads, then killed inside another")
        },
        rule(
            "durability.killed-after-close",
            kept,
            in: "StoreCapabilities",
            "A process writes, closes the store and is killed; the store opens and has every row.",
            needs: "durable",
            drills: ["writer": { trial in try await trial.close(try await writePairs(trial, 10)) }]
        ) { trial in
            try await trial.runKilled("writer")
            try await expectPairs(trial, 10, "10 transactions of a process that closed the store")
        },
    ]

    /// Makes a store and writes transactions that each belong together: a row in two tables.
    @discardableResult
    private static func writePairs(_ trial: StoreTrial, _ count: Int) async throws -> any SyncContextDataSource {
        let store = try await trial.makeStore(at: trial.place())
        try await writePairs(store, 0..<count)
        return store
    }

    private static func writePairs(_ store: any SyncContextDataSource, _ numbers: Range<Int>) async throws {
        for number in numbers {
            try await store.write { transaction in
                let bytes = FieldValue.bytes(Array(repeating: UInt8(number & 255), count: 5_000))
                let row = Record(id: .string("\(number)a"), ["int": .int64(Int64(number)), "bytes": bytes])
                try transaction.upsert([row], into: "items")
                try transaction.upsert(
                    [Record(id: .string("\(number)b"), ["int": .int64(Int64(number))])],
                    into: "other"
                )
            }
        }
    }

    /// Opens the store and reports when not exactly the rows of so many transactions are there.
    private static func expectPairs(_ trial: StoreTrial, _ count: Int, _ input: String) async throws {
        let store = try await trial.reopen()
        let (items, others) = try await store.read { (try $0.records(Query("items")), try $0.records(Query("other"))) }
        let numbers = Set((0..<count).map { Int64($0) })
        trial.expect(
            Set(items.map { $0.id.stringValue ?? "" }),
            equals: Set(numbers.map { "\($0)a" }),
            input + ": ids of items"
        )
        trial.expect(
            Set(others.map { $0.id.stringValue ?? "" }),
            equals: Set(numbers.map { "\($0)b" }),
            input + ": ids of other"
        )
        for row in items {
            let number = row["int"]?.int64Value ?? -1
            let isWhole = row["bytes"]?.bytesValue == Array(repeating: UInt8(number & 255), count: 5_000)
            trial.expect(isWhole && row.id == .string("\(number)a"), input, expected: "whole rows", got: shown(row))
        }
        try await trial.expectStored([Record(id: "later", ["int": 1])], in: .items, store)
    }
}
