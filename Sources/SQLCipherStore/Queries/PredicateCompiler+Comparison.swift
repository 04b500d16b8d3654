import QueryEvaluation
import SyncContract

extension PredicateCompiler {
    /// Compares two expressions.
    mutating func compare(
        _ left: QueryExpression,
        _ comparison: QueryComparison,
        _ right: QueryExpression,
        isNegated: Bool
    ) -> SQLCondition {
        let foldsIDs = layout.foldsIDs && (left == .column("id") || right == .column("id"))
        switch (operand(left), operand(right)) {
        case (.computed, _), (_, .computed): return rowCondition(.comparison(left, comparison, right))
        case (.value, .value): return .constant(evaluate(.comparison(left, comparison, right)))
        case (.column(let column), .value(let value)):
            return compare(column.sql, column.kind, comparison, value, foldsIDs, isNegated)
        case (.value(let value), .column(let column)):
            return compare(column.sql, column.kind, comparison.mirrored, value, foldsIDs, isNegated)
        case (.column(let left), .column(let right)):
            let bothNull = "\(left.sql) IS NULL AND \(right.sql) IS NULL"
            guard left.kind.compares(with: right.kind) else {
                switch comparison {
                case .equal: return SQLCondition("(\(bothNull))")
                case .notEqual: return SQLCondition("(\(left.sql) IS NOT NULL OR \(right.sql) IS NOT NULL)")
                default: return .constant(false)
                }
            }
            guard left.kind == right.kind else { return mixed(left.sql, comparison, right.sql, bothNull, isNegated) }
            return same(left.sql, comparison, right.sql + collation(left.kind, foldsIDs), isNegated)
        }
    }

    private mutating func compare(
        _ sql: String,
        _ kind: ColumnType,
        _ comparison: QueryComparison,
        _ value: FieldValue,
        _ foldsIDs: Bool,
        _ isNegated: Bool
    ) -> SQLCondition {
        if value.isNull {
            switch comparison {
            case .equal: return SQLCondition("(\(sql) IS NULL)")
            case .notEqual: return SQLCondition("(\(sql) IS NOT NULL)")
            default: return .constant(false)
            }
        }
        guard let valueKind = value.comparableKind, valueKind.compares(with: kind) else {
            return .constant(comparison == .notEqual)
        }
        if let native = value.native(to: kind) {
            let parameter = parameter(SQLValue(native))
            return same(sql, comparison, parameter + collation(kind, foldsIDs), isNegated)
        }
        return mixed(sql, comparison, parameter(SQLValue(value)), nil, isNegated)
    }

    /// Compares values that SQLite compares as the contract does.
    private func same(_ left: String, _ comparison: QueryComparison, _ right: String, _ isNegated: Bool) -> SQLCondition
    {
        switch comparison {
        case .equal: SQLCondition("(\(left) IS \(right))")
        case .notEqual: SQLCondition("(\(left) IS NOT \(right))")
        default: ordering("\(left) \(comparison.sqlOperator) \(right)", isNegated)
        }
    }

    /// Compares numbers of two types, whose order is not SQLite's: 0.1 is the decimal 0.1, not the nearest double.
    private func mixed(
        _ left: String,
        _ comparison: QueryComparison,
        _ right: String,
        _ bothNull: String?,
        _ isNegated: Bool
    ) -> SQLCondition {
        let sign = "\(SQLFunctions.compare)(\(left), \(right))"
        switch comparison {
        case .equal: return SQLCondition("(\(sign) IS 0\(bothNull.map { " OR \($0)" } ?? ""))", stackNeed: 20)
        case .notEqual:
            return SQLCondition("(\(sign) IS NOT 0\(bothNull.map { " AND NOT (\($0))" } ?? ""))", stackNeed: 20)
        default: return ordering("\(sign) \(comparison.sqlOperator) 0", isNegated)
        }
    }

    private func ordering(_ sql: String, _ isNegated: Bool) -> SQLCondition {
        SQLCondition(isNegated ? "ifnull(\(sql), 0)" : "(\(sql))")
    }

    /// The collation to put behind the right side, where it decides whatever the columns declare.
    func collation(_ kind: ColumnType, _ foldsIDs: Bool) -> String {
        switch kind {
        case .decimal: " COLLATE \(SQLFunctions.decimalCollation)"
        case .string: foldsIDs ? " COLLATE NOCASE" : " COLLATE BINARY"
        default: ""
        }
    }

    /// Looks for text in text.
    mutating func match(
        _ text: QueryExpression,
        _ match: QueryMatch,
        _ pattern: QueryExpression,
        isNegated: Bool
    ) -> SQLCondition {
        let sql: String
        switch (operand(text), operand(pattern)) {
        case (.computed, _), (_, .computed): return rowCondition(.match(text, match, pattern))
        case (.value, .value): return .constant(evaluate(.match(text, match, pattern)))
        case (.column(let column), .value(.string(let prefix))) where column.kind == .string && match == .startsWith:
            sql = self.prefix(prefix, of: column)
        case (let text, let pattern):
            guard text.isText, pattern.isText else { return .constant(false) }
            sql = "\(SQLFunctions.match)(\(self.sql(text)), \(self.sql(pattern)), \(match.sqlNumber))"
        }
        return SQLCondition(isNegated ? "ifnull(\(sql), 0)" : "(\(sql))")
    }

    /// Text that begins with a prefix: a range, which an index can be searched for.
    private mutating func prefix(_ prefix: String, of column: QueryOperand.Column) -> String {
        let start = "\(column.sql) >= \(parameter(.text(prefix))) COLLATE BINARY"
        guard let end = prefix.firstTextBehindPrefix else { return start }
        return "\(start) AND \(column.sql) < \(parameter(.text(end))) COLLATE BINARY"
    }

    private mutating func sql(_ operand: QueryOperand) -> String {
        switch operand {
        case .column(let column): column.sql
        case .value(let value): parameter(SQLValue(value))
        // Never asked for: a condition is computed as a whole.
        case .computed: "NULL"
        }
    }

    /// The truth of a condition that names no column.
    func evaluate(_ predicate: QueryPredicate) -> Bool {
        QueryEvaluator(layout.definition).holds(predicate) { _ in .null }
    }
}

extension QueryComparison {
    /// The comparison with its sides exchanged.
    fileprivate var mirrored: QueryComparison {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    fileprivate var sqlOperator: String {
        switch self {
        case .equal: "IS"
        case .notEqual: "IS NOT"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension QueryMatch {
    fileprivate var sqlNumber: Int {
        switch self {
        case .contains: 0
        case .startsWith: 1
        case .endsWith: 2
        }
    }
}

extension String {
    /// The first text in the order of bytes that follows every text with this prefix; nil when none does.
    var firstTextBehindPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // Between U+D7FF and U+E000 lie the surrogates, which are not scalars.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            return String(String.UnicodeScalarView(scalars + [next]))
        }
        return nil
    }
}
