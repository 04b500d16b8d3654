internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

// What statements reach, which tables they read, and how they end.
extension StoreRules {
    private static let backend = "StoreReadBackend/forEach(_:_:)"

    static let sqlReads: [StoreRule] = [
        rule(
            "sql.star",
            "It sees the declared columns of the app's tables and nothing else: no system table, no undeclared column, no"
                + " `rowid`.",
            in: "SQLQuery",
            "Asks for all columns of a row that has an undeclared value; and again, where the store is durable, with a column, a"
                + " table and the system properties left out: these are refused, or show nothing.",
            needs: "sql"
        ) { trial in
            let notes = TableDefinition(
                "notes",
                columns: [.init("text", .string), .init("int", .int64)],
                systemProperties: [.version]
            )
            let gone = TableDefinition("gone", columns: [.init("text", .string)], systemProperties: [])
            let store = try await trial.makeStore([notes, gone])
            try await store.upsert(
                [Record(id: "a", ["text": "x", "int": 5, "version": "v", "undeclared": "hidden"])],
                table: "notes"
            )
            try await store.upsert([Record(id: "g", ["text": "hidden"])], table: "gone")
            try await trial.expectStar(["id": "a", "text": "x", "int": 5, "version": "v"], store)
            guard store.capabilities.contains(.durable) else { return }
            try await trial.close(store)
            let few = TableDefinition("notes", columns: [.init("text", .string)], systemProperties: [])
            let again = try await trial.reopen([few])
            try await trial.expectStar(["id": "a", "text": "x"], again)
            for query in [
                "SELECT int FROM notes", "SELECT version FROM notes", "SELECT max(int) AS n FROM notes",
                "SELECT id FROM notes WHERE int = 5", "SELECT text FROM gone", "SELECT * FROM gone",
            ] as [SQLQuery] {
                let shown = try await again.read { reader in
                    do {
                        return try reader.rows(query).flatMap(\.values).filter { !$0.isNull }
                    } catch let error as StoreError where error.code == .invalidQuery {
                        return []
                    }
                }
                trial.expect(shown, equals: [], "\(query.text), which is not declared any more")
            }
        },
        rule(
            "sql.functions",
            "It calls functions that compute: those of text, numbers, dates and aggregates, and with SQLite 3.25 and later the"
                + " ranking ones.",
            in: "SQLQuery",
            "Calls functions of each kind, and some that give something else each time, tell of the database or reach out of it:"
                + " these are refused.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(
                [Record(id: "a", ["int": 1, "text": "x"]), Record(id: "b", ["int": 2])],
                table: "items"
            )
            for (query, values) in [
                ("SELECT upper('a') || trim(' b ') AS x, length('abc') AS y", ["Ab", 3]),
                ("SELECT abs(-5) + round(2.4) AS x, coalesce(NULL, 3) AS y", [7.0, 3]),
                ("SELECT date(0, 'unixepoch') AS x", ["1970-01-01"]),
                ("SELECT count(*) AS a, sum(int) AS b, avg(int) AS c, max(text) AS d FROM items", [2, 3, 1.5, "x"]),
            ] as [(SQLQuery, [FieldValue])] {
                let got: String
                do {
                    got = brief(try await store.read { try $0.rows(query) }.map(\.values))
                } catch let error as StoreError {
                    got = brief(error)
                }
                trial.expect(got, equals: brief([values]), query.text)
            }
            do {
                let ranks = try await store.read {
                    try $0.rows("SELECT rank() OVER (ORDER BY int DESC) AS r FROM items ORDER BY r")
                }
                trial.expect(ranks.map(\.values), equals: [[1], [2]], "the ranks of two rows")
            } catch let error as StoreError where error.code == .invalidQuery {
                // An older SQLite has none.
            }
            for query in [
                "SELECT random() AS x", "SELECT randomblob(4) AS x", "SELECT sqlite_version() AS x",
                "SELECT last_insert_rowid() AS x", "SELECT changes() AS x", "SELECT load_extension('x') AS x",
                "SELECT id FROM items ORDER BY random()", "SELECT * FROM pragma_table_info('items')",
                "SELECT _rowid_ FROM items", "SELECT oid FROM items", "SELECT id FROM items WHERE _rowid_ = 1",
            ] as [SQLQuery] {
                try await trial.expectError(.invalidQuery, from: query.text) {
                    _ = try await store.read { try $0.rows(query) }
                }
            }
        },
        rule(
            "sql.tables-that-are-read",
            "and returns the tables that it reads.",
            in: backend,
            "Asks which tables are read by statements over one table, several, a subquery, a count, an index and none, in reads"
                + " and in writes.",
            needs: "sql"
        ) { trial in
            let indexed = TableDefinition("indexed", columns: [.init("int", .int64)], indexes: [["int"]])
            let store = try await trial.makeStore([.items, .other, indexed])
            for (query, tables) in [
                ("SELECT 1 AS n", []), ("SELECT id FROM items", ["items"]),
                ("SELECT count(*) AS n FROM other", ["other"]),
                ("SELECT i.id FROM items i JOIN other o ON o.text = i.id", ["items", "other"]),
                ("SELECT id FROM items WHERE id IN (SELECT text FROM other)", ["items", "other"]),
                ("SELECT (SELECT count(*) FROM other) AS n FROM items", ["items", "other"]),
                ("SELECT int FROM indexed WHERE int > 5", ["indexed"]),
                (
                    "WITH o AS (SELECT text FROM other) SELECT id FROM items UNION SELECT text FROM o",
                    ["items", "other"]
                ),
            ] as [(SQLQuery, Set<String>)] {
                let read = try await store.read { try $0.forEach(query) { _ in } }
                let written = try await store.write { try $0.forEach(query) { _ in } }
                trial.expect(
                    read.sorted(),
                    equals: tables.sorted(),
                    "the tables that are read by \(query.text)"
                )
                trial.expect(written.sorted(), equals: tables.sorted(), "in a write, those of \(query.text)")
            }
        },
        rule(
            "sql.live",
            "The rows now, and again after each commit that changes them.",
            in: "SQLReport/observe()",
            "Observes a statement over two tables, and writes to the one, to the other, to a third and to the first again: three"
                + " elements come behind the first one.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            let report = store.sql("SELECT count(*) AS n FROM items i JOIN other o ON o.text = i.text")
            @Sendable func write(_ table: String, _ id: String) async throws {
                try await store.upsert([Record(id: .string(id), ["text": "x"])], table: table)
            }
            // Of `seen` what there was is told, whatever is missing.
            let seen = Seen()
            _ = await trial.patiently {
                do {
                    var rows = report.observe().makeAsyncIterator()
                    seen.add(try await rows.next())
                    try await write("items", "a")
                    try await write("other", "a")
                    seen.add(try await rows.next())
                    try await write("items", "b")
                    seen.add(try await rows.next())
                    try await write("folding", "a")
                    try await write("other", "b")
                    seen.add(try await rows.next())
                } catch {
                    seen.add(brief(error))
                }
            }
            trial.expect(
                seen.texts,
                equals: ["0", "1", "2", "4"],
                "the counts that a live report over two tables gives"
            )
        },
        rule(
            "sql.ends-while-it-computes",
            "A statement that runs ends when its task is cancelled, however long it would run, in a write as well.",
            in: backend,
            "Cancels a task whose statement computes for very long before it gives a row, in a read and in a write: it ends, and"
                + " writes of other tasks are not ended with it.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            for writes in [false, true] {
                let (started, start) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    defer { start.finish() }
                    if writes {
                        _ = try await store.write { transaction in
                            try transaction.upsert([Record(id: "lost")], into: "other")
                            start.yield()
                            return try transaction.rows(longComputation)
                        }
                    } else {
                        _ = try await store.read { reader in
                            start.yield()
                            return try reader.rows(longComputation)
                        }
                    }
                }
                for await _ in started { break }
                task.cancel()
                let outcome = await trial.patiently {
                    switch await task.result {
                    case .success: "no error"
                    case .failure(let error): error is CancellationError ? "CancellationError" : brief(error)
                    }
                }
                let input = "cancel a statement that computes, in a \(writes ? "write" : "read")"
                trial.expect(outcome ?? "it runs on", equals: "CancellationError", input)
                guard outcome != nil else { return }
                let rows = numbered(3_000)
                let deleted = try await store.write { transaction in
                    try transaction.upsert(rows, into: "other")
                    return try transaction.delete(Query("other").filtered(by: Column("int") >= 0))
                }
                trial.expect(deleted, equals: 3_000, "rows that are deleted after that")
                let count = try await store.read { try $0.count(Query("other")) }
                trial.expect(count, equals: 0, "rows that are left of a write whose statement was ended")
            }
        },
        rule(
            "sql.ends-alone",
            "Only a statement in SQL ends.",
            in: "SyncContextDataSource",
            "Runs a statement in a write, then cancels its own task, writes 3,000 rows, counts and deletes: all of it is done.",
            needs: "sql"
        ) { trial in
            let store = try await trial.makeStore()
            let outcome = await trial.outcome { task in
                let rows = numbered(3_000)
                return try await store.write { transaction in
                    _ = try transaction.rows("SELECT count(*) AS n FROM items")
                    task.cancel()
                    try transaction.upsert(rows, into: "other")
                    let count = try transaction.count(Query("other").filtered(by: Column("int") >= 0))
                    let deleted = try transaction.delete(Query("other").filtered(by: Column("int") < 1_000))
                    return "\(count) counted, \(deleted) deleted"
                }
            }
            trial.expect(
                outcome,
                equals: "3000 counted, 1000 deleted",
                "a write that runs a statement and whose task is cancelled after that"
            )
            let count = try await store.read { try $0.count(Query("other")) }
            trial.expect(count, equals: 2_000, "the rows that it has left")
        },
    ]

    /// Ends after minutes, for the sake of a store that would not end it.
    private static let longComputation: SQLQuery = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) AS n FROM n
        """

    private static func numbered(_ count: Int64) -> [Record] {
        (0..<count).map { Record(id: .string("\($0)"), ["int": .int64($0)]) }
    }
}

/// What a live report has given so far.
private final class Seen: Sendable {
    private let list = Mutex<[String]>([])

    var texts: [String] { list.withLock { $0 } }

    func add(_ text: String) { list.withLock { $0.append(text) } }

    /// The number in the only row.
    func add(_ rows: [SQLRow]?) {
        add(rows.map { $0.first?["n"]?.int64Value.map(String.init) ?? "no number" } ?? "the end")
    }
}

extension StoreTrial {
    /// Reports when all columns of the only row of 'notes' are not these.
    fileprivate func expectStar(_ values: [String: FieldValue], _ store: any SyncContextDataSource) async throws {
        let rows = try await store.read { try $0.rows("SELECT * FROM notes") }
        func texts(_ values: some Sequence<(String, FieldValue)>) -> [String] {
            values.map { "\($0): \(shown($1))" }.sorted()
        }
        expect(
            rows.map { texts(zip($0.names, $0.values)) },
            equals: [texts(values.map { ($0.key, $0.value) })],
            "SELECT * FROM notes"
        )
    }
}
