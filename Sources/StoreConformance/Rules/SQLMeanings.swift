internal import ConformanceRunner
internal import Foundation
internal import SyncContract

// What values mean in SQL, and what becomes of a transaction in which a statement fails.
extension StoreRules {
    private static let source = "SQLQuery"
    private static let whatFails =
        "`invalidQuery` for a statement that is not taken, and for one that fails while it runs; `outOfRange` for a sum that is"
        + " too large; what the closure throws."

    static let sqlMeanings: [StoreRule] = [
        rule(
            "sql.decimals",
            "`COLLATE decimal` behind a decimal column or result compares and orders numerically",
            in: source,
            "Orders decimals and compares them with others, with the collation, where 1.1 and 1.10 are one number, and without,"
                + " where their texts count.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            let texts = [("a", "1.1"), ("b", "1.10"), ("c", "9"), ("d", "10"), ("e", "1e1")]
            try await store.upsert(texts.map { Record(id: .string($0.0), ["decimal": .decimal($0.1)]) }, table: "items")
            for (query, ids) in [
                ("SELECT id FROM items ORDER BY decimal COLLATE decimal, id", ["a", "b", "c", "d", "e"]),
                ("SELECT id FROM items WHERE decimal COLLATE decimal = '10' ORDER BY id", ["d", "e"]),
                (
                    "SELECT id FROM items WHERE decimal COLLATE decimal = \(DecimalText("10.0")) ORDER BY id",
                    ["d", "e"]
                ),
                ("SELECT id FROM items WHERE decimal COLLATE decimal < '9' ORDER BY id", ["a", "b"]),
                ("SELECT id FROM items WHERE decimal = '10' ORDER BY id", ["d"]),
                ("SELECT id FROM items ORDER BY decimal", ["a", "b", "d", "e", "c"]),
            ] as [(SQLQuery, [FieldValue])] {
                try await trial.expect(query, ids.map { [$0] }, store)
            }
        },
        rule(
            "sql.decimal-sum",
            "`decimal_sum` takes whole numbers and doubles as well, gives the decimal text, and null without a value.",
            in: source,
            "Adds decimals of 30 digits with nulls between them, whole numbers, doubles, groups and nothing.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(
                [
                    Record(
                        id: "a",
                        ["decimal": .decimal("100000000000000000000000000000.1"), "int": 1, "double": 0.1, "text": "x"]
                    ),
                    Record(id: "b", ["decimal": .decimal("0.2"), "int": 2, "double": 0.2, "text": "x"]),
                    Record(id: "c", ["decimal": .decimal("-1.5"), "text": "y"]), Record(id: "d", ["text": "z"]),
                ],
                table: "items"
            )
            for (query, rows) in [
                (
                    "SELECT text, decimal_sum(decimal) AS s FROM items GROUP BY text ORDER BY text",
                    [["x", "100000000000000000000000000000.3"], ["y", "-1.5"], ["z", .null]]
                ),
                ("SELECT decimal_sum(int) AS a, decimal_sum(double) AS b FROM items", [["3", "0.3"]]),
                ("SELECT decimal_sum(decimal) AS s FROM items WHERE id = 'none'", [[.null]]),
            ] as [(SQLQuery, [[FieldValue]])] {
                try await trial.expect(query, rows, store)
            }
        },
        rule(
            "sql.ids-and-texts",
            "Texts compare by their bytes, and ids of a table that ignores their case without it.",
            in: source,
            "Compares ids and texts with others that differ in case, written out, bound and in lists, and orders by them.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(
                [Record(id: "Ab", ["text": "a"]), Record(id: "ac", ["text": "A"])],
                table: "folding"
            )
            try await store.upsert([Record(id: "a", ["text": "a"]), Record(id: "B", ["text": "A"])], table: "items")
            for (query, ids) in [
                ("SELECT id FROM folding WHERE id = 'AB'", ["Ab"]),
                ("SELECT id FROM folding WHERE id = \("aB")", ["Ab"]),
                ("SELECT id FROM folding WHERE id IN ('x', 'AC')", ["ac"]),
                ("SELECT id FROM folding ORDER BY id", ["Ab", "ac"]),
                ("SELECT id FROM folding WHERE text = 'A'", ["ac"]), ("SELECT id FROM items WHERE id = 'A'", []),
                ("SELECT id FROM items WHERE id = \("B")", ["B"]), ("SELECT id FROM items ORDER BY id", ["B", "a"]),
                ("SELECT id FROM items ORDER BY text", ["B", "a"]),
            ] as [(SQLQuery, [FieldValue])] {
                try await trial.expect(query, ids.map { [$0] }, store)
            }
        },
        rule(
            "sql.values-of-every-kind",
            "Binds a value in the form in which stores keep it: an enum by its raw value, a UUID in upper case, nil as null.",
            in: "SQLQuery/StringInterpolation",
            "Binds decimals, bytes, JSON, a UUID and nothing, alone and to find the rows that have them.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            let id = UUID()
            let values: [String: FieldValue] = [
                "decimal": .decimal("1.10"), "bytes": .bytes([1, 0]), "json": .json("{\"a\": 1}"),
                "text": .string(id.uuidString),
            ]
            try await store.upsert([Record(id: "a", values), Record(id: "b")], table: "items")
            let (decimal, bytes, json) = (DecimalText("1.10"), FieldValue.bytes([1, 0]), FieldValue.json("{\"a\": 1}"))
            try await trial.expect(
                "SELECT \(decimal) AS a, \(bytes) AS b, \(json) AS c, \(id) AS d, \(Int?.none) AS e",
                [["1.10", bytes, "{\"a\": 1}", .string(id.uuidString), .null]],
                store
            )
            for query in [
                "SELECT id FROM items WHERE decimal = \(decimal)", "SELECT id FROM items WHERE bytes = \(bytes)",
                "SELECT id FROM items WHERE json = \(json)", "SELECT id FROM items WHERE text = \(id)",
            ] as [SQLQuery] {
                try await trial.expect(query, [["a"]], store)
            }
        },
        rule(
            "sql.fails-while-running",
            whatFails,
            in: "StoreReadBackend/forEach(_:_:)",
            "Adds numbers beyond 64 bits, and gives a function what it does not take, in reads and in writes: the errors are those,"
                + " tell nothing of the rows, and the store goes on.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(
                [Record(id: "a", ["int": .int64(.max), "text": "S3CR3T"]), Record(id: "b", ["int": 1])],
                table: "items"
            )
            for (query, code) in [
                ("SELECT sum(int) AS s FROM items", .outOfRange),
                ("SELECT id FROM items WHERE text LIKE 'a' ESCAPE text", .invalidQuery),
            ] as [(SQLQuery, StoreError.Code)] {
                for writes in [false, true] {
                    let input = query.text + (writes ? ", in a write" : ", in a read")
                    try await trial.expectError(code, from: input) {
                        do {
                            _ =
                                writes
                                ? try await store.write { try $0.rows(query) }
                                : try await store.read { try $0.rows(query) }
                        } catch let error as StoreError {
                            let isHidden = !"\(error)".contains("S3CR3T")
                            trial.expect(
                                isHidden,
                                input,
                                expected: "an error without the text of a row",
                                got: "with it"
                            )
                            throw error
                        }
                    }
                }
                try await trial.expect("SELECT count(*) AS n FROM items", [[2]], store)
            }
        },
        rule(
            "sql.closure-throws",
            whatFails,
            in: "StoreReadBackend/forEach(_:_:)",
            "Throws an error of its own in the middle of a statement's rows, catches it and goes on in the same transaction: it"
                + " is that error, and what is written and read then is right.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert((0..<10).map { Record(id: .string("\($0)")) }, table: "items")
            let read = try await store.read { reader in
                (try reader.failing(after: 3), try reader.count(Query("items")), try reader.rows("SELECT 1 AS n").count)
            }
            trial.expect(
                read == ("error 3", 10, 1),
                "a read that goes on",
                expected: "error 3, 10, 1",
                got: brief(read)
            )
            let written = try await store.write { transaction in
                try transaction.upsert([Record(id: "before")], into: "items")
                let error = try transaction.failing(after: 3)
                try transaction.upsert([Record(id: "behind")], into: "items")
                return (error, try transaction.count(Query("items")))
            }
            trial.expect(
                written == ("error 3", 12),
                "a write that goes on",
                expected: "error 3, 12",
                got: brief(written)
            )
            let count = try await store.read { try $0.count(Query("items")) }
            trial.expect(count, equals: 12, "rows after a write in which the closure of a statement threw")
        },
        rule(
            "sql.refused-in-a-write",
            "A method that throws leaves nothing of its call behind, or the store rolls back the whole transaction, also when the"
                + " closure catches the error and returns.",
            in: "StoreWriteBackend",
            "Catches the refusal of a statement between two writes of one transaction: both are kept, or none and an error comes.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            for (number, query) in (["DELETE FROM items", "SELECT absent FROM items"] as [SQLQuery]).enumerated() {
                let ids = ["before", "behind"].map { RecordID.string("\(number) \($0)") }
                let before = try await store.read { try $0.count(Query("items")) }
                let isKept: Bool
                do {
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: ids[0])], into: "items")
                        do {
                            _ = try transaction.rows(query)
                        } catch let error as StoreError where error.code == .invalidQuery {
                            // A store may go on, or not.
                        }
                        try transaction.upsert([Record(id: ids[1])], into: "items")
                    }
                    isKept = true
                } catch is StoreError {
                    isKept = false
                }
                let count = try await store.read { try $0.count(Query("items")) }
                trial.expect(
                    count,
                    equals: before + (isKept ? 2 : 0),
                    "rows after a write that \(isKept ? "returned" : "threw"), with the refused \(query.text)"
                )
            }
        },
    ]
}

extension StoreTrial {
    /// Reports when a statement does not give these rows, in a read and in a write.
    fileprivate func expect(
        _ query: SQLQuery,
        _ rows: [[FieldValue]],
        _ store: any SyncContextDataSource
    ) async throws {
        let read = try await store.read { try $0.rows(query) }
        let written = try await store.write { try $0.rows(query) }
        expect(read.map(\.values), equals: rows, query.text)
        expect(written.map(\.values), equals: rows, query.text + ", in a write")
    }
}

extension StoreReading where Self: ~Copyable {
    /// Throws in the closure of a statement after some rows, and gives what came out as text.
    fileprivate mutating func failing(after count: Int) throws -> String {
        var seen = 0
        do {
            try forEach("SELECT id FROM items ORDER BY id") { _ in
                seen += 1
                if seen == count { throw OwnError(number: seen) }
            }
            return "no error"
        } catch let error as OwnError {
            return "error \(error.number)"
        }
    }
}
