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
        return SQLCondition("(\(SQLFunctions.holds)(\(arguments.joined(separator: ", "))))")
    }
}
