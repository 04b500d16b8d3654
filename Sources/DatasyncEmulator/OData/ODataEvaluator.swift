/// Evaluates expressions against one row, with two-valued logic: a condition over null is false, never unknown.
struct ODataEvaluator {
    let row: EmulatedRow
    /// The declared types, where they say more than the values.
    var columns: [String: EmulatedTableDefinition.ColumnType] = [:]

    func matches(_ expression: ODataExpression) -> Bool {
        value(expression).isTrue
    }

    func value(_ expression: ODataExpression) -> ODataValue {
        switch expression {
        case .literal(let value): value
        case .property(let name): column(name)
        case .any(let parts): .bool(parts.contains(where: matches))
        case .all(let parts): .bool(parts.allSatisfy(matches))
        case .not(let inner): .bool(!matches(inner))
        case .negated(let inner): ODataExpression.Arithmetic.sub.value(.integer(0), value(inner))
        case .comparison(let comparison, let left, let right):
            .bool(compare(comparison, value(left), value(right)))
        case .arithmetic(let symbol, let left, let right): symbol.value(value(left), value(right))
        case .member(let element, let list): .bool(isMember(value(element), of: list))
        case .call(let function, let arguments): function.value(arguments.map(value))
        case .cast(let inner, let type): type.value(value(inner))
        }
    }

    private func column(_ name: String) -> ODataValue {
        switch name {
        case "id": .string(row.id.text)
        case "updatedAt": .instant(row.stamp)
        case "createdAt": .instant(row.createdAt * Timestamp.ticksPerMillisecond)
        case "version": .string(row.version)
        case "deleted": .bool(row.deleted)
        default: ODataValue(row.values[name] ?? .null, columns[name])
        }
    }

    private func compare(_ comparison: ODataExpression.Comparison, _ left: ODataValue, _ right: ODataValue) -> Bool {
        let order = left.order(to: right)
        let isOrderable = !left.isNull && !right.isNull
        return switch comparison {
        case .eq: order == .same
        case .ne: order != .same
        case .gt: isOrderable && order == .descending
        case .ge: isOrderable && (order == .descending || order == .same)
        case .lt: isOrderable && order == .ascending
        case .le: isOrderable && (order == .ascending || order == .same)
        }
    }

    private func isMember(_ element: ODataValue, of list: [ODataExpression]) -> Bool {
        list.contains { element.order(to: value($0)) == .same }
    }
}
