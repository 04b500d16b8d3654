/// A condition in SQL, complete in itself: a call, or in parentheses.
struct SQLCondition {
    let sql: String

    /// How many entries of the parser's stack it takes, at most: SQLite 3.15 has 100.
    private let stackNeed: Int

    /// A condition that contains no other.
    init(_ sql: String, stackNeed: Int = 14) {
        self.sql = sql
        self.stackNeed = stackNeed
    }

    /// Always or never true.
    static func constant(_ value: Bool) -> SQLCondition { SQLCondition(value ? "1" : "0", stackNeed: 1) }

    /// Whether SQLite can read it, with what stands around it in a statement: beside the stack, its text is limited to
    /// a million bytes.
    var fits: Bool { stackNeed <= 80 && sql.utf8.count <= 500_000 }

    /// All of the conditions, or one of them.
    ///
    /// The one that needs the most stands first, where it adds the least to the parser's stack; long lists are split,
    /// because a chain of n operators is n levels deep to SQLite, which takes 1,000.
    static func joined(_ parts: [SQLCondition], isConjunction: Bool) -> SQLCondition {
        guard let first = parts.first else { return .constant(isConjunction) }
        guard parts.count > 1 else { return first }
        let width = 8
        var parts = parts
        while parts.count > width {
            parts = stride(from: 0, to: parts.count, by: width)
                .map { joined(Array(parts[$0..<min($0 + width, parts.count)]), isConjunction: isConjunction) }
        }
        parts.sort { $0.stackNeed > $1.stackNeed }
        let need = 1 + max(parts[0].stackNeed, 2 + parts[1].stackNeed)
        let text = parts.map(\.sql).joined(separator: isConjunction ? " AND " : " OR ")
        return SQLCondition("(" + text + ")", stackNeed: need)
    }

    /// The opposite; the condition must be two-valued.
    func negated() -> SQLCondition { SQLCondition("(NOT \(sql))", stackNeed: stackNeed + 2) }
}
