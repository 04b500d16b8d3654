internal import ConformanceRunner
internal import SyncContract
internal import Synchronization

extension StoreRules {
    private static let source = "SQLQuery"

    static let sqlReports: [StoreRule] = sqlStatements + sqlReads + sqlMeanings

    private static let sqlStatements: [StoreRule] = [
        rule(
            "sql.reads-only",
            "One statement is taken, which reads.",
            in: source,
            "Asks for statements that write, in reading and in writing transactions, for two at once and for none: each is"
                + " refused, and the rows stay.",
            needs: "sql",
            otherwise: (
                "A store without the capability refuses every statement.",
                { trial in
                    let store = try await trial.makeStore()
                    try await trial.expectError(.unsupported, from: "SELECT 1") {
                        _ = try await store.read { try $0.rows("SELECT 1 AS n") }
                    }
                }
            )
        ) { trial in
            let (store, rows) = try await filledStore(trial)
            let refused: [SQLQuery] = [
                "DELETE FROM items", "UPDATE items SET text = 'x'", "INSERT INTO items(id) VALUES ('new')",
                "DROP TABLE items", "CREATE TABLE made(id)", "PRAGMA user_version = 5", "BEGIN", "COMMIT",
                "ATTACH ':memory:' AS more", "SELECT 1; DELETE FROM items", "SELECT 1; SELECT 2", "", "-- nothing",
            ]
            for query in refused {
                try await trial.expectError(.invalidQuery, from: "\(query.shown), in a reading transaction") {
                    _ = try await store.read { try $0.rows(query) }
                }
                try await trial.expectError(.invalidQuery, from: "\(query.shown), in a writing transaction") {
                    _ = try await store.write { try $0.rows(query) }
                }
            }
            trial.expectRows(
                try await store.read { try $0.records(Query("items")) },
                rows,
                "the rows after statements that would change them"
            )
        },
        rule(
            "sql.sees-declared-columns-only",
            "It sees the declared columns of the app's tables and nothing else: no system table, no undeclared column, no"
                + " `rowid`.",
            in: source,
            "Asks for each system table, for what SQL databases say of themselves, and for columns that are not declared.",
            needs: "sql"
        ) { trial in
            let (store, _) = try await filledStore(trial)
            try await store.write { try $0.upsert([Record(id: "c", ["undeclared": "x"])], into: "items") }
            var refused: [SQLQuery] = SystemTables.all.map { "SELECT count(*) AS n FROM \(table: $0.name)" }
            refused += [
                "SELECT * FROM sqlite_master", "SELECT i.id FROM items i JOIN MS_TableOperations o ON o.itemId = i.id",
                "SELECT (SELECT count(*) FROM MS_TableConfig) AS n", "SELECT undeclared FROM items",
                "SELECT rowid FROM items", "SELECT * FROM no_such_table",
            ]
            for query in refused {
                try await trial.expectError(.invalidQuery, from: query.shown) {
                    _ = try await store.read { try $0.rows(query) }
                }
            }
        },
        rule(
            "sql.values-are-bound",
            "is bound as a parameter: whatever text it holds, it is never read as SQL.",
            in: source,
            "Compares a column with texts that would end a literal, begin another statement or hide the rest of this one,"
                + " and with values of every kind.",
            needs: "sql"
        ) { trial in
            let texts = [
                "' OR '1'='1", "x'; DELETE FROM items; --", "\" OR 1=1 --", "?1", ":text", "O'Hara", "", "é\u{0}x",
            ]
            let store = try await trial.makeStore()
            let rows = texts.enumerated().map { Record(id: .string("\($0)"), ["text": .string($1)]) }
            try await store.upsert(rows, table: "items")
            for (index, text) in texts.enumerated() {
                let query: SQLQuery = "SELECT id FROM \(table: "items") WHERE text = \(text) ORDER BY id"
                let found = try await store.read { try $0.rows(query) }
                trial.expect(
                    found,
                    equals: [SQLRow(names: ["id"], values: [.string("\(index)")])],
                    "the rows whose text is \(text.debugDescription)"
                )
            }
            let values: SQLQuery =
                "SELECT \(7) AS a, \(1.5) AS b, \(true) AS c, \(Timestamp(milliseconds: 5)) AS d, \(String?.none) AS e"
            trial.expect(
                try await store.read { try $0.rows(values) },
                equals: [SQLRow(names: ["a", "b", "c", "d", "e"], values: [7, 1.5, 1, 5, .null])],
                "values alone: numbers, a truth value, an instant, null"
            )
        },
        rule(
            "sql.declared-types",
            "A column that comes straight from a declared one, under whatever name and through whatever joins and"
                + " subqueries, has values of that column's type; dates in whole milliseconds.",
            in: "SQLRow",
            "Reads a column of every type under another name, through a subquery and a join.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            let names = ["bool", "int", "double", "decimal", "text", "date", "bytes", "json"]
            let values: [FieldValue] = [
                true, 5, 2.5, .decimal("1.10"), "x", .date(86_400_123), .bytes([0, 255]), .json(#"{"a":[1]}"#),
            ]
            let row = Record(id: "a", Dictionary(uniqueKeysWithValues: zip(names, values)))
            try await store.upsert([row, Record(id: "b")], table: "items")
            try await store.upsert([Record(id: "o", ["text": "a"])], table: "other")
            let columns = names.map { "inner.\($0) AS \($0)_there" }.joined(separator: ", ")
            for (id, expected) in [("a", values), ("b", names.map { _ in FieldValue.null })] {
                let query = SQLQuery(
                    stringLiteral: "SELECT \(columns) FROM (SELECT * FROM items WHERE id = '\(id)') AS inner"
                        + " LEFT JOIN other ON other.text = inner.id"
                )
                trial.expect(
                    try await store.read { try $0.rows(query) },
                    equals: [SQLRow(names: names.map { "\($0)_there" }, values: expected)],
                    query.shown
                )
            }
        },
        rule(
            "sql.reads-its-writes",
            "It reads what it has written.",
            in: "StoreTransaction",
            "Writes, merges, inserts and deletes in a transaction, and asks for the rows by a statement after each step.",
            needs: "sql"
        ) { trial in
            let (store, _) = try await filledStore(trial)
            let seen = try await store.write { transaction in
                var seen: [String] = []
                func look(_ transaction: inout StoreTransaction) throws {
                    let rows = try transaction.rows("SELECT id, int FROM items ORDER BY id")
                    seen.append(
                        rows.map { "\($0["id"]?.stringValue ?? "") \($0["int"]?.int64Value ?? 0)" }
                            .joined(separator: ", ")
                    )
                }
                try look(&transaction)
                try transaction.upsert([Record(id: "a", ["int": 7]), Record(id: "c", ["int": 3])], into: "items")
                try look(&transaction)
                _ = try transaction.insert(Record(id: "d", ["int": 4]), into: "items")
                try transaction.delete(["b"], from: "items")
                try look(&transaction)
                try transaction.delete(Query("items").filtered(by: Column("int") > 3))
                try look(&transaction)
                return seen
            }
            trial.expect(
                seen,
                equals: ["a 1, b 0", "a 7, b 0, c 3", "a 7, c 3, d 4", "c 3"],
                "ids and numbers by a statement: at first, after merging 'a', after inserting 'd', after deleting by query"
            )
        },
        rule(
            "sql.ends-when-cancelled",
            "A statement that runs ends when its task is cancelled, however long it would run, in a write as well.",
            in: "StoreReadBackend/forEach(_:_:)",
            "Cancels a task in the middle of a statement that would give rows for ever, in a read and in a write.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            for writes in [false, true] {
                let (started, start) = AsyncStream.makeStream(of: Void.self)
                let isCancelled = Shared(Mutex(false))
                let task = Task {
                    // A store that does not end it is stopped by its closure.
                    if writes {
                        try await store.write { try $0.forEach(endless, counting(start, isCancelled)) }
                    } else {
                        try await store.read { try $0.forEach(endless, counting(start, isCancelled)) }
                    }
                }
                for await _ in started { break }
                task.cancel()
                isCancelled.value.withLock { $0 = true }
                let outcome: String
                switch await task.result {
                case .success: outcome = "no error"
                case .failure(let error): outcome = error is CancellationError ? "CancellationError" : brief(error)
                }
                trial.expect(outcome, equals: "CancellationError", writes ? "in a write" : "in a read")
            }
            try await store.upsert([Record(id: "after")], table: "items")
        },
    ]

    private static let endless: SQLQuery =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    /// Takes rows for ever, and after the cancellation as many as may come before it is noticed.
    private static func counting(
        _ start: AsyncStream<Void>.Continuation,
        _ isCancelled: Shared<Mutex<Bool>>
    ) -> (SQLRow) throws -> Void {
        var (hasStarted, count) = (false, 0)
        return { _ in
            if !hasStarted { start.yield() }
            hasStarted = true
            if isCancelled.value.withLock({ $0 }) { count += 1 }
            if count > 1_000_000 { throw StoreError(.internal, "the statement goes on after its task was cancelled") }
        }
    }

    private static func filledStore(_ trial: StoreTrial) async throws -> (any SyncContextDataSource, [Record]) {
        let store = try await trial.makeStore()
        let rows = [Record(id: "a", ["text": "x", "int": 1]), Record(id: "b", ["text": "y"])]
        try await store.upsert(rows, table: "items")
        return (store, rows.map(TableDefinition.items.filled))
    }
}

extension SQLQuery {
    /// The statement as it stands in a report.
    fileprivate var shown: String { text.isEmpty ? "an empty statement" : text }
}
