internal import ConformanceRunner
internal import SyncContract

// Texts of more words than a call, a page or a recursion may be made for.
extension StoreRules {
    private static let allWords = "Whether all words of a text are found in one or several columns, in any order."

    static let longTexts: [StoreRule] = [
        rule(
            "search.long-texts",
            allWords,
            in: "QueryPredicate",
            "Writes texts of 1, 63, 64, 65, 129 and 11,000 words into a searchable column, finds them by words from the first to"
                + " the last, writes other texts over them, and finds those alone."
        ) { trial in
            let store = try await trial.makeStore([.texts(areSearchable: true)])
            try await store.upsert(longTexts("word"), table: "texts")
            try await trial.expectLongTexts(store, "word")
            try await store.upsert(longTexts("other"), table: "texts")
            try await trial.expectLongTexts(store, "other")
            try await trial.expectNoWords(store, "word")
        },
        rule(
            "search.long-texts-indexed-later",
            allWords,
            in: "QueryPredicate",
            "Writes texts of up to 11,000 words, opens the store again with their column declared searchable, and finds them by"
                + " words from the first to the last.",
            needs: "durable"
        ) { trial in
            let store = try await trial.makeStore([.texts(areSearchable: false)], at: trial.place())
            try await store.upsert(longTexts("word"), table: "texts")
            try await trial.close(store)
            let again = try await trial.reopen([.texts(areSearchable: true)])
            try await trial.expectLongTexts(again, "word")
            try await again.upsert(longTexts("other"), table: "texts")
            try await trial.expectLongTexts(again, "other")
            try await trial.expectNoWords(again, "word")
        },
    ]

    fileprivate static let wordCounts = [1, 63, 64, 65, 129, 11_000]

    private static func longTexts(_ word: String) -> [Record] {
        wordCounts.map { count in
            Record(id: id(count), ["text": .string((1...count).map { "\(word)\($0)" }.joined(separator: " "))])
        }
    }

    /// Ids that come in the order of the numbers.
    fileprivate static func id(_ count: Int) -> RecordID { .string("\(10_000 + count)") }
}

extension TableDefinition {
    fileprivate static func texts(areSearchable: Bool) -> TableDefinition {
        TableDefinition("texts", columns: [.init("text", .string, isSearchable: areSearchable)])
    }
}

extension Trial where Subject == StoreSubject {
    fileprivate func expectLongTexts(_ store: any SyncContextDataSource, _ word: String) async throws {
        for number in [1, 63, 64, 65, 66, 129, 130, 11_000, 11_001] {
            let ids = StoreRules.wordCounts.filter { $0 >= number }.map(StoreRules.id)
            // No other word begins like the last ones.
            let match: WordMatch = number < 1_000 ? .wholeWords : .prefixes
            // An index may look up the first word and read what it finds: the last one alone leaves it no choice.
            let ways = [("\(word)1 \(word)\(number)", match), ("\(word)\(number)", .wholeWords)]
            for (words, match) in number > 129 ? ways : [ways[0]] {
                let query = Query("texts").filtered(by: Column("text").matches(words: words, match))
                let rows = try await store.read(query).records
                expectIDs(rows, ids, "look for '\(words)' as \(match) in texts of \(StoreRules.wordCounts) words")
            }
        }
    }

    /// Reports when a word of texts that were written over is found.
    fileprivate func expectNoWords(_ store: any SyncContextDataSource, _ word: String) async throws {
        for number in [1, 64, 65, 11_000] {
            let query = Query("texts").filtered(by: Column("text").matches(words: "\(word)\(number)"))
            expectIDs(
                try await store.read(query).records,
                [],
                "look for '\(word)\(number)', which another text was written over"
            )
        }
    }
}
