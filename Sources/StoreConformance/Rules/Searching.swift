internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let searching: [StoreRule] = [
        rule(
            "search.folded-comparison",
            "Text without differences of case, accents and the like",
            in: "QueryFunction",
            "Compares folded text, looks it up in lists, and compares one of 6,000 bytes: case, accents, widths and ligatures do"
                + " not count."
        ) { trial in
            let long = String(repeating: "\u{C9}", count: 3_000)
            let texts: [FieldValue] = [
                "Łódź", "lodz", "STRASSE", "straße", "ﬁn", "e\u{301}", "\u{C9}", .null, "ＡＢＣ", .string(long),
            ]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(Column("text").folded == "LODZ", ids: ["0", "1"])
            try await world.expect(Column("text").folded == "Straße", ids: ["2", "3"])
            try await world.expect(Column("text").folded == "fin", ids: ["4"])
            try await world.expect(Column("text").folded == "e", ids: ["5", "6"])
            try await world.expect(Column("text").folded == "abc", ids: ["8"])
            try await world.expect(Column("text").folded == .null, ids: ["7"])
            try await world.expect(Column("int").folded == .null, ids: (0..<10).map { .string("\($0)") })
            try await world.expect(Column("text").folded.isAny(of: ["x", "LÓDŹ"]), ids: ["0", "1"])
            try await world.expect(Column("text").folded.isAny(of: ["Straße", .null]), ids: ["2", "3", "7"])
            let folded = FieldValue.string(String(repeating: "e", count: 3_000))
            try await world.expect(Column("text").folded == folded, ids: ["9"])
        },
        rule(
            "search.folded-match",
            "Values it is compared with and texts looked for in it are folded as well",
            in: "QueryTerm",
            "Looks for folded text at the start, at the end and anywhere in folded text."
        ) { trial in
            let world = try await QueryWorld(
                trial,
                QueryWorld.rows("text", ["Hauptstraße", "hauptSTRASSE", "Straßen", "Haupt"])
            )
            try await world.expect(Column("text").folded.contains("STRASSE"), ids: ["0", "1", "2"])
            try await world.expect(Column("text").folded.starts(with: "háupt"), ids: ["0", "1", "3"])
            try await world.expect(Column("text").folded.ends(with: "straße"), ids: ["0", "1"])
        },
        rule(
            "search.words",
            "Whether all words of a text are found in one or several columns, in any order.",
            in: "QueryPredicate",
            "Looks for words in one column and in two, as beginnings and as whole words, and for a text without words; and for nine"
                + " words in four columns, where the last word and the last column decide, searchable and not."
        ) { trial in
            let rows = [
                Record(id: "0", ["text": "Fresh milk and bread", "version": "Monday"]),
                Record(id: "1", ["text": "MÍLKSHAKE", "version": "fresh"]),
                Record(id: "2", ["text": "bread-and-butter"]),
                Record(id: "3"),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Column("text").matches(words: "milk"), ids: ["0", "1"])
            try await world.expect(Column("text").matches(words: "milk", .wholeWords), ids: ["0"])
            try await world.expect(Column("text").matches(words: "bread, fresh!"), ids: ["0"])
            try await world.expect(Column("text").matches(words: "ilk"), ids: [])
            try await world.expect(.matches(words: "milk fresh", in: ["text", "version"]), ids: ["0", "1"])
            try await world.expect(Column("text").matches(words: " - "), ids: ["0", "1", "2", "3"])
            try await world.expect(!Column("text").matches(words: "bread"), ids: ["1", "3"])
            for isSearchable in [true, false] { try await expectWordsInFourColumns(trial, isSearchable) }
        },
        rule(
            "search.folded-order",
            "Texts that fold to the same are equal for this entry.",
            in: "Query",
            "Orders text folded, both ways, with equal texts and nulls in it; ties come by id."
        ) { trial in
            let texts: [FieldValue] = ["b", "B", "á", "A", "z", "Ä", .null, "ab"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            let query = Query("items")
            try await world.expect(
                query.ordered(by: "text", folded: true),
                ids: ["6", "2", "3", "5", "7", "0", "1", "4"]
            )
            try await world.expect(
                query.ordered(by: "text", .descending, folded: true),
                ids: ["4", "0", "1", "7", "2", "3", "5", "6"]
            )
            try await trial.expectError(.invalidQuery, from: "order the column 'int' folded") {
                _ = try await world.store.read(query.ordered(by: "int", folded: true))
            }
        },
        rule(
            "search.index-changes-nothing",
            "without it all this means the same and goes through all rows.",
            in: "ColumnDefinition",
            "Merges and deletes random texts in a searchable column, and after each round searches it in every way."
        ) { trial in
            let table = TableDefinition(
                "notes",
                columns: [.init("text", .string, isSearchable: true), .init("other", .string, isSearchable: true)]
            )
            let store = try await trial.makeStore([table])
            var random = trial.random()
            let words = [
                "milk", "MILK", "Straße", "strasse", "Łódź", "日本語", "日本", "a", "ab", "fin", "ﬁn", "", "-", "é",
            ]
            var model: [RecordID: Record] = [:]
            for round in 0..<8 {
                for _ in 0..<15 {
                    let id = RecordID.string("\(Int.random(in: 0..<30, using: &random))")
                    if random.chance(20) {
                        model[id] = nil
                        try await store.deleteItems(withIDs: [id], table: "notes")
                        continue
                    }
                    let text = (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(words) }
                        .joined(separator: " ")
                    let value: FieldValue = random.chance(10) ? .null : .string(text)
                    let record = Record(id: id, [random.chance(50) ? "text" : "other": value])
                    model[id, default: table.filled(Record(id: id))].merge(record)
                    try await store.upsert([record], table: "notes")
                }
                for word in words {
                    let query = Query("notes")
                    for query in [
                        query.filtered(by: Column("text").matches(words: word)),
                        query.filtered(by: .matches(words: word + " a", in: ["text", "other"], .wholeWords)),
                        query.filtered(by: Column("text").folded == .string(word)).ordered(by: "other", folded: true),
                        query.filtered(by: Column("other").folded.starts(with: word))
                            .ordered(by: "text", .descending, folded: true),
                    ] {
                        let expected = try QueryEvaluator(table).evaluate(query, over: model.values)
                        let got = try await store.read(query).records
                        trial.expectRows(got, expected, "round \(round): query \(shown(query)) of searchable columns")
                    }
                }
            }
        },
        rule(
            "search.after-rollback",
            "without it all this means the same and goes through all rows.",
            in: "ColumnDefinition",
            "Rolls back inserts, merges and deletes in a searchable column: searches find the rows as they were."
        ) { trial in
            let table = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)])
            let rows = [("a", "milk"), ("b", "bread"), ("c", "milk bread")]
                .map { Record(id: .string($0.0), ["text": .string($0.1)]) }
            let world = try await QueryWorld(trial, rows, in: table)
            do {
                try await world.store.write { transaction in
                    try transaction.upsert([Record(id: "a", ["text": "butter"])], into: "notes")
                    try transaction.upsert([Record(id: "d", ["text": "milk"])], into: "notes")
                    try transaction.delete(["c"], from: "notes")
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // This is what the closure throws.
            }
            try await world.expect(Column("text").matches(words: "milk"), ids: ["a", "c"])
            try await world.expect(Column("text").matches(words: "butter"), ids: [])
            try await world.expect(Column("text").folded.starts(with: "MILK"), ids: ["a", "c"])
            try await world.expect(Query("notes").ordered(by: "text", folded: true), ids: ["b", "a", "c"])
        },
    ]

    /// Looks for words that are spread over all columns of a table.
    private static func expectWordsInFourColumns(_ trial: StoreTrial, _ isSearchable: Bool) async throws {
        let columns = ["a", "b", "c", "d"]
        let table = TableDefinition(
            "notes",
            columns: columns.map { .init($0, .string, isSearchable: isSearchable) }
        )
        let texts = [
            ["one two", "three four", "five six", "seven eight nine"],
            ["nine eight", "seven six five", "four", "three two one"],
            ["one two", "three four", "five six", "seven eight"],
            ["one two three", "four five six", "seven eight", "ten"],
        ]
        let rows = texts.enumerated()
            .map { index, texts in
                Record(
                    id: .string("\(index)"),
                    Dictionary(uniqueKeysWithValues: zip(columns, texts.map { .string($0) }))
                )
            }
        let world = try await QueryWorld(trial, rows, in: table)
        let words = "one two three four five six seven eight nine"
        for match in [WordMatch.wholeWords, .prefixes] {
            try await world.expect(.matches(words: words, in: columns, match), ids: ["0", "1"])
            try await world.expect(.matches(words: "ten one", in: columns, match), ids: ["3"])
            try await world.expect(.matches(words: words, in: ["a", "b", "c"], match), ids: [])
        }
    }
}
