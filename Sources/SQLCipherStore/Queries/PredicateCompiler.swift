import QueryEvaluation
import SyncContract

/// Compiles a predicate to a condition.
///
/// SQL's logic has three values, the contract's has two. In SQL a comparison with a null is null, which counts as false
/// where rows are chosen, and stays null under a NOT, where the contract says true. So below a NOT, and only there
/// because it keeps indexes from being used, comparisons are made two-valued.
///
/// What SQL cannot say in the contract's meaning, or SQLite cannot read because it is nested too deep or too long, is
/// handed to the evaluator through a ``RowCondition``.
struct PredicateCompiler {
    /// How many values get a parameter of their own: SQLite 3.15 takes 999.
    static let maximumParameterCount = 900

    let layout: TableLayout
    private let packsValues: Bool
    private(set) var values: [SQLValue] = []
    private(set) var rowConditions: [RowCondition] = []

    init(_ layout: TableLayout, packsValues: Bool) {
        self.layout = layout
        self.packsValues = packsValues
    }

    /// The WHERE clause of a predicate that was checked, with a space in front; empty without one.
    mutating func whereClause(_ predicate: QueryPredicate?) -> String {
        predicate.map { " WHERE " + condition($0, isNegated: false).sql } ?? ""
    }

    /// The SQL for a value.
    mutating func parameter(_ value: SQLValue) -> String {
        values.append(value)
        return packsValues ? "\(SQLFunctions.item)(?1, \(values.count - 1))" : "?\(values.count)"
    }

    private mutating func condition(_ predicate: QueryPredicate, isNegated: Bool) -> SQLCondition {
        let (valueCount, conditionCount) = (values.count, rowConditions.count)
        let condition = ownCondition(predicate, isNegated: isNegated)
        guard !condition.fits else { return condition }
        values.removeSubrange(valueCount...)
        rowConditions.removeSubrange(conditionCount...)
        return rowCondition(predicate)
    }

    private mutating func ownCondition(_ predicate: QueryPredicate, isNegated: Bool) -> SQLCondition {
        if let states = predicate.syncStates { return isInOne(of: states) }
        switch predicate {
        case .constant(let value): return .constant(value)
        case .all(let parts):
            return .joined(parts.map { condition($0, isNegated: isNegated) }, isConjunction: true)
        case .any(let parts):
            return .joined(parts.map { condition($0, isNegated: isNegated) }, isConjunction: false)
        case .not(let part): return condition(part, isNegated: true).negated()
        case .comparison(let left, let comparison, let right):
            return compare(left, comparison, right, isNegated: isNegated)
        case .match(let text, let match, let pattern):
            return self.match(text, match, pattern, isNegated: isNegated)
        case .isAnyOf(let expression, let values):
            return isAnyOf(expression, expression.alike(values), isNegated: isNegated)
        case .words(let text, let match, let columns): return words(text, match, columns)
        }
    }

    /// The condition that the evaluator decides. It has two values.
    mutating func rowCondition(_ predicate: QueryPredicate) -> SQLCondition {
        var names: [String] = []
        predicate.collectColumns(into: &names)
        var seen: Set<String> = []
        let columns = names.filter { seen.insert($0).inserted }.compactMap(column)
        let condition = RowCondition(predicate, columns, of: layout.definition)
        rowConditions.append(condition)
        var arguments = columns.map(\.sql)
        if condition.isPacked {
            let width = RowCondition.maximumArgumentCount
            arguments = stride(from: 0, to: arguments.count, by: width)
                .map { start in
                    let part = arguments[start..<min(start + width, arguments.count)]
                    return "\(SQLFunctions.pack)(\(part.joined(separator: ", ")))"
                }
        }
        arguments.insert(parameter(.int64(condition.number)), at: 0)
        let sql = "(\(SQLFunctions.holds)(\(arguments.joined(separator: ", "))))"
        return columns.contains(where: \.isSyncState) ? SQLCondition(sql, stackNeed: 60) : SQLCondition(sql)
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

/// One side of a comparison, as far as it is known before a row is looked at.
enum QueryOperand {
    /// A value that is the same for every row.
    case value(FieldValue)
    /// A column as it is stored.
    case column(Column)
    /// What is computed from columns: SQL hands it to a ``RowCondition``.
    case computed

    /// Whether it is a column or value whose values that are not null are texts.
    var isText: Bool {
        switch self {
        case .value(.string): true
        case .column(let column): column.kind == .string
        default: false
        }
    }

    /// A column: its name, the kind of its values that are not null, and whether their folded form is meant.
    struct Column: Sendable, Hashable {
        let name: String
        let kind: ColumnType
        var isFolded = false
        /// What stands for the state of the row, which is no column of its table.
        var syncStateSQL: String?

        var isSyncState: Bool { syncStateSQL != nil }

        var sql: String { syncStateSQL ?? (isFolded ? SearchIndex.folded(name) : name.sqlIdentifier) }
    }
}

extension PredicateCompiler {
    /// Reduces an expression.
    func operand(_ expression: QueryExpression) -> QueryOperand {
        switch expression {
        case .value(let value): return .value(value)
        // What compares the state with anything but values is the evaluator's.
        case .column(SyncStateTerm.name): return .computed
        case .column(let name): return column(name).map(QueryOperand.column) ?? .value(.null)
        case .function(.folded, .column(let name)) where name != SyncStateTerm.name:
            guard let column = column(name), column.kind == .string else { return .value(.null) }
            return .column(QueryOperand.Column(name: name, kind: .string, isFolded: true))
        case .function, .operation, .substring:
            var columns: [String] = []
            expression.collectColumns(into: &columns)
            return columns.isEmpty ? .value(expression.value { _ in .null }) : .computed
        }
    }

    /// A declared column; nil for others, which the check of the query has refused.
    func column(_ name: String) -> QueryOperand.Column? {
        if name == SyncStateTerm.name {
            return QueryOperand.Column(name: name, kind: .string, syncStateSQL: SyncStateSQL.state(layout))
        }
        return layout.kind(of: name).map { QueryOperand.Column(name: name, kind: $0) }
    }
}

extension FieldValue {
    /// The value in the form of a column's own, if that form compares with every value of the column as this one does.
    func native(to kind: ColumnType) -> FieldValue? {
        switch (self, kind) {
        case (.int64(let value), .double):
            // Up to here every whole number is a double of its own, with the same digits.
            value.magnitude <= 1 << 53 ? .double(Double(value)) : nil
        case (.int64(let value), .decimal): .decimal(DecimalText(value))
        case (.double(let value), .decimal): DecimalText(shortestOf: value).map(FieldValue.decimal)
        default: comparableKind == kind ? self : nil
        }
    }
}

extension ColumnType {
    var isNumeric: Bool { self == .int64 || self == .double || self == .decimal }

    /// Whether values of two kinds compare.
    func compares(with other: ColumnType) -> Bool { self == other || isNumeric && other.isNumeric }
}
