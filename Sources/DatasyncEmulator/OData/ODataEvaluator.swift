/// Evaluates expressions against one row, in two-valued logic, where a condition over null is false, or in that of SQL.
struct ODataEvaluator {
    let row: EmulatedRow
    /// The declared types, where they say more than the values.
    var columns: [String: EmulatedTableDefinition.ColumnType] = [:]

    /// Whether a condition over null is null, as in SQL: then its negation is, too. Comparisons with the literal null
    /// remain tests for it.
    var hasUnknown = false
    /// Whether texts are compared without the case of the letters A to Z.
    var ignoresCase = false

    func matches(_ expression: ODataExpression) -> Bool {
        value(expression).isTrue
    }

    func value(_ expression: ODataExpression) -> ODataValue {
        switch expression {
        case .literal(let value): value
        case .property(let name): column(name)
        case .any(let parts): joined(parts, decisive: true)
        case .all(let parts): joined(parts, decisive: false)
        case .not(let inner): negated(value(inner))
        case .negated(let inner): ODataExpression.Arithmetic.sub.value(.integer(0), value(inner))
        case .comparison(let comparison, let left, let right): compared(comparison, left, right)
        case .arithmetic(let symbol, let left, let right): symbol.value(value(left), value(right))
        case .member(let element, let list): isMember(comparable(element), of: list)
        case .call(let function, let arguments): function.value(arguments.map(value))
        case .cast(let inner, let type): type.value(value(inner))
        }
    }

    /// A value as comparisons and orders take it.
    func comparable(_ expression: ODataExpression) -> ODataValue {
        let value = value(expression)
        guard ignoresCase, case .string(let text) = value else { return value }
        return .string(text.withASCIILowercased)
    }

    // MARK: Logic

    /// Parts of which one that has the decisive truth value decides; without one, one that is unknown does.
    private func joined(_ parts: [ODataExpression], decisive: Bool) -> ODataValue {
        var isUnknown = false
        for part in parts {
            let value = value(part)
            if value.isTrue == decisive, decisive || !(hasUnknown && value.isNull) { return .bool(decisive) }
            if value.isNull { isUnknown = true }
        }
        return hasUnknown && isUnknown ? .null : .bool(!decisive)
    }

    private func negated(_ value: ODataValue) -> ODataValue {
        hasUnknown && value.isNull ? .null : .bool(!value.isTrue)
    }

    private func compared(
        _ comparison: ODataExpression.Comparison,
        _ left: ODataExpression,
        _ right: ODataExpression
    ) -> ODataValue {
        let (first, second) = (comparable(left), comparable(right))
        let isNullTest = [.eq, .ne].contains(comparison) && (left == .literal(.null) || right == .literal(.null))
        if hasUnknown, !isNullTest, first.isNull || second.isNull { return .null }
        return .bool(compare(comparison, first, second))
    }

    private func isMember(_ element: ODataValue, of list: [ODataExpression]) -> ODataValue {
        if hasUnknown, element.isNull { return .null }
        return .bool(list.contains { element.order(to: comparable($0)) == .same })
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
}
