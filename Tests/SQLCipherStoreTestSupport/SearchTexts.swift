import SeededNumbers
package import SyncContract

package import SQLCipherStore

/// Random texts of many scripts, made of few parts so that they meet each other often.
package struct SearchTexts {
    private(set) var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let parts = [
        "a", "A", "b", "ab", "Łódź", "lodz", "LODZ", "straße", "STRASSE", "ss", "é", "e\u{301}", "e", "İ", "ı", "i",
        "Привет", "ПРИВЕТ", "ёж", "еж", "Йод", "и\u{306}", "ΆΛΦΑ", "αλφας", "مُحَمَّد", "محمد", "שָׁלוֹם", "שלום",
        "हिन्दी", "ภาษา", "ไทย", "日本", "日", "本", "本語", "カ", "ｶﾞ", "한글", "한", "ﬁ", "②", "٣", "3", "😀", "%",
        "_", "'", "O’Brien", "\0", "ab\0c", "\u{10FFFF}", "z\u{10FFFF}", "\u{301}", "đ", "þ",
    ]
    private static let separators = ["", "", " ", " ", "-", ", ", "\u{200B}", "\u{3000}", "\n", "."]

    package mutating func text(parts: ClosedRange<Int> = 0...5) -> String {
        var text = ""
        for _ in 0..<Int.random(in: parts, using: &generator) {
            text += Self.parts.randomElement(using: &generator)! + Self.separators.randomElement(using: &generator)!
        }
        return text
    }

    package mutating func value() -> FieldValue { chance(15) ? .null : .string(text()) }

    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    package mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &generator) }

    /// A query over the columns `shop`, `owner` and `plain`, with what search and folding can be asked.
    package mutating func query(_ table: String) -> Query {
        var query = Query(table).filtered(by: predicate())
        if chance(30) { query = query.filtered(by: predicate()) }
        if chance(20) { query = query.filtered(by: !(predicate() || predicate())) }
        for _ in 0..<number(0..<3) {
            query = query.ordered(by: column(), chance(50) ? .ascending : .descending, folded: chance(80))
        }
        if chance(30) { query = query.limited(to: number(0..<10)).skipping(number(0..<4)) }
        return query
    }

    private mutating func column() -> String { ["shop", "owner", "plain", "id"][number(0..<4)] }

    private mutating func predicate() -> QueryPredicate {
        let column = Column(column())
        let sought = text(parts: 0...2)
        switch number(0..<10) {
        case 0: return column.folded == .string(sought)
        case 1: return column.folded != (chance(20) ? .null : .string(sought))
        case 2: return chance(50) ? column.folded < .string(sought) : column.folded >= .string(sought)
        case 3: return column.folded.contains(sought)
        case 4: return chance(50) ? column.folded.starts(with: sought) : column.folded.ends(with: sought)
        case 5: return column.folded.isAny(of: [value(), value(), value()])
        case 6: return column.folded == Column(self.column()).folded
        default:
            let columns = [["shop"], ["owner"], ["shop", "owner"], ["shop", "plain"], ["id", "owner"], []][
                number(0..<6)
            ]
            return .matches(words: sought, in: columns, chance(60) ? .prefixes : .wholeWords)
        }
    }
}

extension SearchTexts {
    private struct Refusal: Error {}

    /// Random upserts, merges and deletions in one transaction, some of which are refused or rolled back.
    package mutating func change(_ store: EncryptedStore, _ table: String) async throws {
        let fails = chance(20)
        let steps = (0..<number(1..<6))
            .map { _ in
                let id = RecordID.string(["x", "X", "é"][number(0..<3)] + "\(number(0..<15))")
                var record = Record(id: id)
                for column in ["shop", "owner", "plain"] where chance(60) { record[column] = value() }
                return (number(0..<10), record, query(table))
            }
        do {
            try await store.write { transaction in
                for (kind, record, query) in steps {
                    switch kind {
                    case 0: try transaction.delete([record.id], from: table)
                    case 1: try transaction.delete(query.limited(to: 3))
                    default: try transaction.upsert([record], into: table)
                    }
                }
                if fails { throw Refusal() }
            }
        } catch is Refusal {
            // Rolled back, as it should be.
        }
    }
}

extension TableDefinition {
    /// Two searchable columns and one that is not.
    package static func searchable(_ name: String, _ idComparison: IDComparison = .exact, shop: Bool = true)
        -> TableDefinition
    {
        TableDefinition(
            name,
            columns: [
                .init("shop", .string, isSearchable: shop), .init("owner", .string, isSearchable: true),
                .init("plain", .string), .init("favourite", .bool),
            ],
            idComparison: idComparison
        )
    }
}
