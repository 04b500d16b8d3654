import SyncContract

extension PredicateCompiler {
    /// Compares two expressions.
    mutating func compare(
        _ left: QueryExpression,
        _ comparison: QueryComparison,
        _ right: QueryExpression,
        isNegated: Bool
    ) throws(StoreError) -> SQLCondition {
        let foldsIDs = layout.foldsIDs && (left == .column("id") || right == .column("id"))
        switch (try operand(left), try operand(right)) {
        case (.value, .value):
            return .constant(evaluate(.comparison(left, comparison, right)))
        case (.column(let sql, let kind), .value(let value)):
            return compare(sql, kind, comparison, value, foldsIDs, isNegated)
        case (.value(let value), .column(let sql, let kind)):
            return compare(sql, kind, comparison.mirrored, value, foldsIDs, isNegated)
        case (.column(let leftSQL, let leftKind), .column(let rightSQL, let rightKind)):
            guard leftKind.compares(with: rightKind) else {
                let bothNull = SQLCondition("(\(leftSQL) IS NULL AND \(rightSQL) IS NULL)")
                switch comparison {
                case .equal: return bothNull
                case .notEqual: return SQLCondition("(\(leftSQL) IS NOT NULL OR \(rightSQL) IS NOT NULL)")
                default: return .constant(false)
                }
            }
            guard leftKind == rightKind else {
                return mixed(leftSQL, comparison, rightSQL, "\(leftSQL) IS NULL AND \(rightSQL) IS NULL", isNegated)
            }
            return same(leftSQL, comparison, rightSQL + collation(leftKind, foldsIDs), isNegated)
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
    ) throws(StoreError) -> SQLCondition {
        let operands = (try operand(text), try operand(pattern))
        if case (.value, .value) = operands { return .constant(evaluate(.match(text, match, pattern))) }
        guard operands.0.isText, operands.1.isText else { return .constant(false) }
        let sql = "\(SQLFunctions.match)(\(sql(operands.0)), \(sql(operands.1)), \(match.sqlNumber))"
        return SQLCondition(isNegated ? "ifnull(\(sql), 0)" : "(\(sql))")
    }

    private mutating func sql(_ operand: QueryOperand) -> String {
        switch operand {
        case .column(let sql, _): sql
        case .value(let value): parameter(SQLValue(value))
        }
    }

    /// The truth of a condition that names no column.
    func evaluate(_ predicate: QueryPredicate) -> Bool {
        QueryEvaluator(layout.definition).matches(Record(id: ""), predicate)
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
