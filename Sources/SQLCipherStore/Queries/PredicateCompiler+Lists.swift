import SyncContract

extension PredicateCompiler {
    /// Looks for an expression's value in a list.
    ///
    /// The list is one parameter whatever its length, and SQLite makes a set of it that it can go by in an index.
    mutating func isAnyOf(
        _ expression: QueryExpression,
        _ values: [FieldValue],
        isNegated: Bool
    ) -> SQLCondition {
        let column: QueryOperand.Column
        switch operand(expression) {
        case .computed: return rowCondition(.isAnyOf(expression, values))
        case .value: return .constant(evaluate(.isAnyOf(expression, values)))
        case .column(let operand): column = operand
        }
        let (sql, kind) = (column.sql, column.kind)
        var natives: [SQLValue] = []
        var others: [SQLValue] = []
        for value in values {
            if let native = value.native(to: kind) {
                natives.append(SQLValue(native))
            } else if value.comparableKind?.compares(with: kind) == true {
                others.append(SQLValue(value))
            }
        }
        let foldsIDs = layout.foldsIDs && expression == .column("id")
        var conditions: [SQLCondition] = []
        if values.contains(where: \.isNull) { conditions.append(SQLCondition("(\(sql) IS NULL)")) }
        if natives.count == 1 {
            conditions.append(SQLCondition("(\(sql) IS \(parameter(natives[0]))\(collation(kind, foldsIDs)))"))
        } else if !natives.isEmpty {
            let items = items(natives, select: "\(SQLFunctions.item)(%, i)")
            // The left side's collation counts, and a column's own is that of its index. Named again it hides the index.
            let left = kind == .decimal ? sql + collation(kind, foldsIDs) : sql
            let membership = "\(left) IN (\(items))"
            conditions.append(
                SQLCondition(isNegated ? "ifnull(\(membership), 0)" : "(\(membership))", stackNeed: 40)
            )
        }
        if !others.isEmpty {
            // Rare: numbers that only the contract's comparison tells equal to the column's.
            let items = items(
                others,
                select: "1",
                condition: "\(SQLFunctions.compare)(\(sql), \(SQLFunctions.item)(%, i)) = 0"
            )
            conditions.append(SQLCondition("(EXISTS (\(items)))", stackNeed: 40))
        }
        return SQLCondition.joined(conditions, isConjunction: false)
    }

    /// A SELECT over the numbers 0 to the number of values; `%` stands for the packed list.
    private mutating func items(_ values: [SQLValue], select: String, condition: String? = nil) -> String {
        let list = parameter(.blob(PackedValues.pack(values)))
        let count = parameter(.int64(Int64(values.count)))
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(count))"
        return "\(numbers) SELECT \(select.filling(list)) FROM n\(condition.map { " WHERE \($0.filling(list))" } ?? "")"
    }
}

extension String {
    fileprivate func filling(_ text: String) -> String { split(separator: "%").joined(separator: text) }
}
