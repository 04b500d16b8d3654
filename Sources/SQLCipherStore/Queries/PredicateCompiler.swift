import SyncContract

/// Compiles a predicate to a condition.
///
/// SQL's logic has three values, the contract's has two. In SQL a comparison with a null is null, which counts as false
/// where rows are chosen, and stays null under a NOT, where the contract says true. So below a NOT, and only there
/// because it keeps indexes from being used, comparisons are made two-valued.
struct PredicateCompiler {
    /// How many values get a parameter of their own: SQLite 3.15 takes 999.
    static let maximumParameterCount = 900

    let layout: TableLayout
    private let packsValues: Bool
    private(set) var values: [SQLValue] = []

    init(_ layout: TableLayout, packsValues: Bool) {
        self.layout = layout
        self.packsValues = packsValues
    }

    /// The WHERE clause with a space in front; empty without a predicate.
    ///
    /// - Throws: ``StoreError/Code/invalidQuery`` for an undeclared column and for a tree that is too deep.
    mutating func whereClause(_ predicate: QueryPredicate?) throws(StoreError) -> String {
        guard let predicate else { return "" }
        return " WHERE " + (try condition(predicate, isNegated: false, depth: 0).sql)
    }

    /// The SQL for a value.
    mutating func parameter(_ value: SQLValue) -> String {
        values.append(value)
        return packsValues ? "\(SQLFunctions.item)(?1, \(values.count - 1))" : "?\(values.count)"
    }

    mutating func condition(
        _ predicate: QueryPredicate,
        isNegated: Bool,
        depth: Int
    ) throws(StoreError) -> SQLCondition {
        guard depth <= SQLCondition.maximumNesting else { throw SQLCondition.tooDeep }
        switch predicate {
        case .constant(let value): return .constant(value)
        case .all, .any:
            var parts: [SQLCondition] = []
            let isConjunction = predicate.isConjunction
            for part in predicate.flattened {
                parts.append(try condition(part, isNegated: isNegated, depth: depth + 1))
            }
            return try SQLCondition.joined(parts, isConjunction: isConjunction)
        case .not(let part):
            return try condition(part, isNegated: true, depth: depth + 1).negated()
        case .comparison(let left, let comparison, let right):
            return try compare(left, comparison, right, isNegated: isNegated)
        case .match(let text, let match, let pattern):
            return try self.match(text, match, pattern, isNegated: isNegated)
        case .isAnyOf(let expression, let values):
            return try isAnyOf(expression, values, isNegated: isNegated)
        }
    }
}

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

    /// How deep trees can be nested, chains of the same operator counted once.
    static let maximumNesting = 60

    /// What is left of the parser's stack beside the rest of a statement.
    private static let maximumStackNeed = 80

    static var tooDeep: StoreError {
        StoreError(.invalidQuery, "the predicate is nested too deep; \(maximumNesting) levels are the most")
    }

    /// All of the conditions, or one of them.
    ///
    /// The one that needs the most stands first, where it adds the least to the parser's stack; long lists are split,
    /// because a chain of n operators is n levels deep to SQLite, which takes 1,000.
    static func joined(_ parts: [SQLCondition], isConjunction: Bool) throws(StoreError) -> SQLCondition {
        guard let first = parts.first else { return .constant(isConjunction) }
        guard parts.count > 1 else { return first }
        let width = 8
        var parts = parts
        while parts.count > width {
            var groups: [SQLCondition] = []
            for start in stride(from: 0, to: parts.count, by: width) {
                let group = Array(parts[start..<min(start + width, parts.count)])
                groups.append(try joined(group, isConjunction: isConjunction))
            }
            parts = groups
        }
        parts.sort { $0.stackNeed > $1.stackNeed }
        let need = 1 + max(parts[0].stackNeed, 2 + parts[1].stackNeed)
        guard need <= maximumStackNeed else { throw tooDeep }
        let text = parts.map(\.sql).joined(separator: isConjunction ? " AND " : " OR ")
        return SQLCondition("(" + text + ")", stackNeed: need)
    }

    /// The opposite; the condition must be two-valued.
    func negated() throws(StoreError) -> SQLCondition {
        guard stackNeed + 2 <= Self.maximumStackNeed else { throw Self.tooDeep }
        return SQLCondition("(NOT \(sql))", stackNeed: stackNeed + 2)
    }
}

extension QueryPredicate {
    fileprivate var isConjunction: Bool {
        if case .all = self { true } else { false }
    }

    /// The parts of a chain of the same operator, however it is nested: `a && b && c` is one chain.
    fileprivate var flattened: [QueryPredicate] {
        var parts: [QueryPredicate] = []
        var pending = [self]
        while let next = pending.popLast() {
            switch (self, next) {
            case (.all, .all(let inner)), (.any, .any(let inner)): pending.append(contentsOf: inner.reversed())
            default: parts.append(next)
            }
        }
        return parts
    }
}
