internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let matching: [StoreRule] = [
        rule(
            "match.contains",
            "Anywhere.",
            in: "QueryMatch",
            "Looks for text at the start, in the middle, at the end, longer than the text, equal to it, and after a false"
                + " start."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["milk", "a milk b", "mil", "", "ilkm"]))
            try await world.expect(Column("text").contains("milk"), ids: ["0", "1"])
            try await world.expect(Column("text").contains("ilk"), ids: ["0", "1", "4"])
            try await world.expect(Column("text").contains("milk and bread"), ids: [])
            let repeating = try await QueryWorld(trial, QueryWorld.rows("text", ["aaab", "abaabab", "ab", "aba"]))
            try await repeating.expect(Column("text").contains("aab"), ids: ["0", "1"])
            try await repeating.expect(Column("text").contains("abab"), ids: ["1"])
        },
        rule(
            "match.starts-with",
            "At the start.",
            in: "QueryMatch",
            "Looks for text at the start; the same text elsewhere does not count."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["milk", "a milk", "mil", "milkshake"]))
            try await world.expect(Column("text").starts(with: "milk"), ids: ["0", "3"])
        },
        rule(
            "match.ends-with",
            "At the end.",
            in: "QueryMatch",
            "Looks for text at the end; the same text elsewhere does not count."
        ) { trial in
            let world = try await QueryWorld(
                trial,
                QueryWorld.rows("text", ["milk", "a milk", "ilk", "milk ", "milkmilk"])
            )
            try await world.expect(Column("text").ends(with: "milk"), ids: ["0", "1", "4"])
        },
        rule(
            "match.case",
            "Searching in text, byte for byte.",
            in: "QueryTerm",
            "Looks for text in another casing: it is not found, wherever it stands."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["Milk", "milk", "\u{C9}t\u{E9}"]))
            for match in QueryMatch.allCases {
                try await world.expect(.match(.column("text"), match, .value("milk")), ids: ["1"])
            }
            try await world.expect(Column("text").contains("\u{C9}T"), ids: [])
        },
        rule(
            "match.no-wildcards",
            "Searching in text, byte for byte.",
            in: "QueryTerm",
            "Looks for the signs that SQL and shells take for wildcards: they stand for themselves."
        ) { trial in
            let texts: [FieldValue] = ["a%b", "a_b", "a*b", "a?b", "a[b", "axb", "a\\b", "a'b", "a.b", "a]b", "a^b"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            for (index, sign) in ["%", "_", "*", "?", "[", "x", "\\", "'", ".", "]", "^"].enumerated() {
                for (match, text) in [(QueryMatch.contains, sign), (.startsWith, "a" + sign), (.endsWith, sign + "b")] {
                    try await world.expect(
                        .match(.column("text"), match, .value(.string(text))),
                        ids: [.string("\(index)")]
                    )
                }
            }
            try await world.expect(Column("text").contains("[a-z]"), ids: [])
        },
        rule(
            "match.empty-text",
            "Whether text contains, begins or ends with other text.",
            in: "QueryPredicate",
            "Looks for empty text: every text contains it, a null does not."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["", "a", .null]))
            for match in QueryMatch.allCases {
                try await world.expect(.match(.column("text"), match, .value("")), ids: ["0", "1"])
            }
        },
        rule(
            "match.not-text",
            "False when either is null or no string.",
            in: "QueryPredicate",
            "Looks for text in numbers, bytes, dates and JSON, and for numbers, bytes and nulls in text."
        ) { trial in
            let row = Record(
                id: "0",
                ["text": "101", "int": 101, "bytes": .bytes(Array("101".utf8)), "json": .json("101"), "bool": true]
            )
            let world = try await QueryWorld(trial, [row])
            for column in ["int", "bytes", "json", "bool", "date"] {
                try await world.expect(Column(column).contains("1"), ids: [])
                try await world.expect(!Column(column).contains("1"), ids: ["0"])
            }
            for value: FieldValue in [.null, 1, .bytes(Array("1".utf8)), .json("1"), true] {
                try await world.expect(.match(.column("text"), .contains, .value(value)), ids: [])
            }
        },
        rule(
            "match.nul-and-unicode",
            "Searching in text, byte for byte.",
            in: "QueryTerm",
            "Looks for text around a U+0000, for one form of an accent, and for one emoji in a joined one."
        ) { trial in
            let texts: [FieldValue] = ["a\0b", "ab", "e\u{301}", "\u{E9}", "👨‍👩‍👧", "x\u{301}y"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(Column("text").contains("\0b"), ids: ["0"])
            try await world.expect(Column("text").contains("b"), ids: ["0", "1"])
            try await world.expect(Column("text").starts(with: "a\0"), ids: ["0"])
            try await world.expect(Column("text").contains("e"), ids: ["2"])
            try await world.expect(Column("text").contains("\u{301}"), ids: ["2", "5"])
            try await world.expect(Column("text").contains("👩"), ids: ["4"])
        },
        rule(
            "match.column-in-column",
            "Whether text contains, begins or ends with other text.",
            in: "QueryPredicate",
            "Looks for the text of one column in that of another, and in a given text."
        ) { trial in
            let rows = [
                Record(id: "0", ["text": "milk", "version": "il"]), Record(id: "1", ["text": "milk", "version": "x"]),
                Record(id: "2", ["text": "m"]),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(.match(.column("text"), .contains, .column("version")), ids: ["0"])
            try await world.expect(.match(.value("milkshake"), .startsWith, .column("text")), ids: ["0", "1", "2"])
        },
        rule(
            "match.lowercased",
            "Text with A to Z made lower-case; null when the operand is not a string.",
            in: "QueryExpression",
            "Compares lower-cased text: only A to Z change, and what is not text becomes null."
        ) { trial in
            let texts: [FieldValue] = ["ABC", "abc", "\u{C9}A", "\u{E9}a", "\u{130}", "[\\]@"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(.comparison(.lowercased(.column("text")), .equal, .value("abc")), ids: ["0", "1"])
            try await world.expect(.comparison(.lowercased(.column("text")), .equal, .value("\u{E9}a")), ids: ["3"])
            try await world.expect(.comparison(.lowercased(.column("text")), .equal, .value("\u{C9}a")), ids: ["2"])
            try await world.expect(.comparison(.lowercased(.column("text")), .equal, .value("i")), ids: [])
            try await world.expect(
                .comparison(.lowercased(.column("int")), .equal, .value(.null)),
                ids: ["0", "1", "2", "3", "4", "5"]
            )
            try await world.expect(Column("text").containsIgnoringASCIICase("bC"), ids: ["0", "1"])
        },
        rule(
            "match.uppercased",
            "Text with a to z made upper-case; null when the operand is not a string.",
            in: "QueryExpression",
            "Compares upper-cased text: only a to z change, and what is not text becomes null."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["ABC", "abc", "ß", "\u{E9}a", .null]))
            try await world.expect(.comparison(.uppercased(.column("text")), .equal, .value("ABC")), ids: ["0", "1"])
            try await world.expect(.comparison(.uppercased(.column("text")), .equal, .value("SS")), ids: [])
            try await world.expect(.comparison(.uppercased(.column("text")), .equal, .value("\u{E9}A")), ids: ["3"])
            try await world.expect(.comparison(.uppercased(.column("text")), .equal, .value(.null)), ids: ["4"])
            try await world.expect(
                .comparison(.uppercased(.lowercased(.column("text"))), .equal, .value("ABC")),
                ids: ["0", "1"]
            )
        },
        rule(
            "match.any-of",
            "Whether an expression equals one of the values.",
            in: "QueryPredicate",
            "Looks for values in lists: with hits, without, with the same value twice, with a null."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2, 3, .null]))
            try await world.expect(Column("int").isAny(of: [3, 1, 3, 9]), ids: ["0", "2"])
            try await world.expect(Column("int").isAny(of: [9]), ids: [])
            try await world.expect(Column("int").isAny(of: [2, .null]), ids: ["1", "3"])
            try await world.expect(!Column("int").isAny(of: [2, .null]), ids: ["0", "2"])
        },
        rule(
            "match.any-of-nothing",
            "False for an empty list.",
            in: "QueryPredicate",
            "Looks for a value in an empty list, and negates that."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, .null]))
            try await world.expect(Column("int").isAny(of: []), ids: [])
            try await world.expect(!Column("int").isAny(of: []), ids: ["0", "1"])
        },
        rule(
            "match.any-of-kinds",
            "Values of different kinds are not equal and neither is less.",
            in: "Query",
            "Looks for values in lists of mixed kinds: 1, 1.0 and the decimal 1 are equal, the text 1 and true are not."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            try await world.expect(Column("int").isAny(of: ["1", true, .date(1), .bytes([1])]), ids: [])
            try await world.expect(Column("int").isAny(of: ["2", .decimal("1.0"), .json("2")]), ids: ["0"])
            try await world.expect(Column("int").isAny(of: [1.0, 2.5]), ids: ["0"])
        },
        rule(
            "match.any-of-exact",
            "Whether an expression equals one of the values.",
            in: "QueryPredicate",
            "Looks for text in lists with other casings, accents, wildcards and spaces, which do not count as equal, and"
                + " for dates and decimals by other texts of the same value, which do."
        ) { trial in
            let texts: [FieldValue] = ["a", "A", "\u{E9}", "e\u{301}", "a%", "", "a "]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(Column("text").isAny(of: ["A", "e\u{301}"]), ids: ["1", "3"])
            try await world.expect(Column("text").isAny(of: ["%", "_", "a%"]), ids: ["4"])
            try await world.expect(Column("text").isAny(of: ["", " a"]), ids: ["5"])
            let finer = FieldValue.date(text: "2024-02-29T12:34:56.7891234Z")
            let rows = [
                Record(id: "0", ["date": finer, "decimal": .decimal("1.10")]),
                Record(id: "1", ["date": .date(finer.dateValue?.milliseconds ?? 0), "decimal": .decimal("11e-1")]),
            ]
            let other = try await QueryWorld(trial, rows)
            for row in rows {
                try await other.expect(Column("date").isAny(of: [.date(0), row["date"] ?? .null]), ids: ["0", "1"])
                try await other.expect(Column("decimal").isAny(of: [5, row["decimal"] ?? .null]), ids: ["0", "1"])
            }
        },
        rule(
            "match.any-of-many",
            "Whether an expression equals one of the values. False for an empty list.",
            in: "QueryPredicate",
            "Looks for ids and numbers in lists of 3,000 values: more than a database binds in one statement."
        ) { trial in
            let rows = (0..<20).map { Record(id: .string("id\($0 * 250)"), ["int": .int64(Int64($0 * 250))]) }
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Column("id").isAny(of: (0..<3_000).map { .string("id\($0)") }))
            try await world.expect(Column("int").isAny(of: (1_000..<4_000).map { .int64(Int64($0)) }))
        },
    ]
}
