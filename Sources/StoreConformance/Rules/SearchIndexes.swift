internal import ConformanceRunner
internal import QueryEvaluation
internal import Synchronization
internal import SyncContract

// What an index of words meets beside writes: stores that are opened again, killed, and migrated.
extension StoreRules {
    private static let same = "without it all this means the same and goes through all rows."

    static let searchIndexes: [StoreRule] = [
        rule(
            "search.index-after-opening",
            same,
            in: "ColumnDefinition",
            "Closes and opens a store with searchable columns three times, merges and deletes random texts each time, and"
                + " searches them in every way after opening and after writing.",
            needs: "durable"
        ) { trial in
            var texts = RandomTexts(trial.random())
            var store = try await trial.makeStore([.notes], at: trial.place())
            for round in 0..<3 {
                try await store.apply(texts.change(15))
                if round > 0 { try await trial.expectSearches(store, .notes, texts.rows, "after writing") }
                try await trial.close(store)
                store = try await trial.reopen([.notes])
                try await trial.expectSearches(store, .notes, texts.rows, "after opening for time \(round + 1)")
            }
        },
        rule(
            "search.killed-index",
            same,
            in: "ColumnDefinition",
            "A process merges and deletes random texts in searchable columns and is killed in a transaction that changes all"
                + " of them: searches find what was written before, and what is written later.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    var texts = RandomTexts(trial.random())
                    let store = try await trial.makeStore([.notes], at: trial.place())
                    for _ in 0..<2 { try await store.apply(texts.change(15)) }
                    let rows = texts.rows
                    try await store.write { transaction in
                        try transaction.upsert(rows.map { Record(id: $0.id, ["text": "milk fin"]) }, into: "notes")
                        _ = try transaction.delete(Query("notes").limited(to: 3))
                        killThisProcess()
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            var texts = RandomTexts(trial.random())
            for _ in 0..<2 { _ = texts.change(15) }
            let store = try await trial.reopen([.notes])
            try await trial.expectSearches(store, .notes, texts.rows, "after a process that was killed")
            try await store.apply(texts.change(15))
            try await trial.expectSearches(store, .notes, texts.rows, "after writing to what a killed process left")
        },
        rule(
            "search.index-migrated",
            same,
            in: "ColumnDefinition",
            "Migrates searchable columns: renames their table and one of them, and fills a new one. Searches old texts, and"
                + " those that are written afterwards.",
            needs: "migrations"
        ) { trial in
            var texts = RandomTexts(trial.random())
            let old = try await trial.makeStore([.notes], at: trial.place())
            try await old.apply(texts.change(30))
            try await trial.end(old)
            let letters = TableDefinition(
                "letters",
                columns: ["body", "other", "title"].map { .init($0, .string, isSearchable: true) }
            )
            let store = try await trial.reopen(
                letters,
                .renameTable("notes", to: "letters"),
                .renameColumn("text", to: "body", in: "letters"),
                .fillColumn("title", in: "letters") { row in
                    row["other"]?.stringValue.map { .string("Straße " + $0) } ?? .null
                }
            )
            var rows = texts.rows.map { row in
                let title = row["other"]?.stringValue.map { FieldValue.string("Straße " + $0) } ?? .null
                return letters.filled(
                    Record(id: row.id, ["body": row["text"] ?? .null, "other": row["other"] ?? .null, "title": title])
                )
            }
            try await trial.expectSearches(store, letters, rows, "after a migration")
            for index in rows.indices.prefix(5) {
                rows[index]["body"] = "日本 a"
                rows[index]["title"] = .null
            }
            rows.append(letters.filled(Record(id: "new", ["body": "Milk", "title": "ab"])))
            try await store.upsert(rows, table: "letters")
            try await trial.expectSearches(store, letters, rows, "written after a migration")
        },
    ]
}

extension TableDefinition {
    /// A table with two searchable columns.
    fileprivate static let notes = TableDefinition(
        "notes",
        columns: ["text", "other"].map { .init($0, .string, isSearchable: true) }
    )
}

/// Rows of ``TableDefinition/notes`` that chance merges and deletes: the same ones in every process for one seed.
private struct RandomTexts {
    enum Change: Sendable {
        case delete(RecordID)
        case upsert(Record)
    }

    static let words = [
        "milk", "MILK", "Straße", "strasse", "Łódź", "日本語", "日本", "a", "ab", "fin", "ﬁn", "", "-", "é",
    ]

    private var random: SeededRandom
    private var model: [RecordID: Record] = [:]

    init(_ random: SeededRandom) { self.random = random }

    var rows: [Record] { model.values.sorted { ($0.id.stringValue ?? "") < ($1.id.stringValue ?? "") } }

    mutating func change(_ count: Int) -> [Change] { (0..<count).map { _ in change() } }

    private mutating func change() -> Change {
        let id = RecordID.string("\(Int.random(in: 0..<20, using: &random))")
        guard !random.chance(20) else {
            model[id] = nil
            return .delete(id)
        }
        var words: [String] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) { words.append(random.pick(Self.words)) }
        let value: FieldValue = random.chance(10) ? .null : .string(words.joined(separator: " "))
        let record = Record(id: id, [random.chance(50) ? "text" : "other": value])
        model[id, default: TableDefinition.notes.filled(Record(id: id))].merge(record)
        return .upsert(record)
    }
}

extension SyncContextDataSource {
    fileprivate func apply(_ changes: [RandomTexts.Change]) async throws {
        try await write { transaction in
            for change in changes {
                switch change {
                case .delete(let id): _ = try transaction.delete([id], from: "notes")
                case .upsert(let record): try transaction.upsert([record], into: "notes")
                }
            }
        }
    }
}

extension Trial where Subject == StoreSubject {
    /// Reports when a search of searchable columns finds, counts or deletes other rows than it must.
    fileprivate func expectSearches(
        _ store: any SyncContextDataSource,
        _ table: TableDefinition,
        _ rows: [Record],
        _ when: String
    ) async throws {
        let (first, last) = (table.columns[0].name, table.columns[table.columns.count - 1].name)
        let queries = RandomTexts.words.flatMap { word in
            let query = Query(table.name)
            return [
                query.filtered(by: Column(first).matches(words: word)),
                query.filtered(by: .matches(words: word + " a", in: [first, last], .wholeWords)),
                query.filtered(by: Column(last).folded == .string(word)).ordered(by: first, folded: true),
                query.filtered(by: Column(first).folded.starts(with: word))
                    .ordered(by: last, .descending, folded: true),
            ]
        }
        let got = try await store.read { reader in try queries.map { (try reader.records($0), try reader.count($0)) } }
        let evaluator = QueryEvaluator(table)
        var found: [Int] = []
        for (query, got) in zip(queries, got) {
            let expected = try evaluator.evaluate(query, over: rows)
            found.append(expected.count)
            expectRows(got.0, expected, "query \(shown(query)) of searchable columns \(when)")
            expect(got.1, equals: expected.count, "count of \(shown(query)) \(when)")
        }
        for (query, count) in zip(queries, found).filter({ $0.1 > 0 }).prefix(4) {
            let condition = Query(table.name).filtered(by: query.predicate ?? .constant(true))
            let deleted = Shared(Mutex(0))
            do {
                try await store.write { transaction in
                    let count = try transaction.delete(condition)
                    deleted.value.withLock { $0 = count }
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // What was deleted comes back.
            }
            expect(deleted.value.withLock { $0 }, equals: count, "rows deleted by \(shown(condition)) \(when)")
        }
    }
}
