/// Checks queries of protocol 3 as the genuine server does before it asks its store: types of operands, and sizes.
struct ODataChecker {
    /// The most nodes of a filter, counted as ASP.NET's validator counts them.
    static let maximumNodes = 100
    static let maximumOrders = 5

    let columns: [String: EmulatedTableDefinition.ColumnType]
    /// Whether the table says what its columns are; otherwise each of them may be anything.
    let areDeclared: Bool
    /// Whether operands of types that do not go together are refused.
    var isTyped = true

    /// What is known of an expression.
    struct Operand {
        var type: ODataType
        /// Where this differs between two operands, one of them is converted, which is another node.
        var isNullable = false
        var nodes: Int
        var isLiteral = false
    }

    /// Checks a filter with so many casts of literals in it.
    func check(filter: ODataExpression, casts: Int) throws(ODataError) {
        let checked = try operand(filter)
        // A cast has a function and the name of a type beside its literal.
        guard checked.nodes + 2 * casts <= Self.maximumNodes else {
            throw .syntax(
                "The node count limit of '\(Self.maximumNodes)' has been exceeded. To increase the limit, set the"
                    + " 'MaxNodeCount' property on EnableQueryAttribute or ODataValidationSettings.",
                at: 0
            )
        }
        if checked.type == .null { throw Self.failure }
        guard checked.type.fits(.boolean) else {
            throw .syntax("The $filter expression must evaluate to a single boolean value.", at: 0)
        }
    }

    func check(orders: [ODataOrder]) throws(ODataError) {
        guard orders.count <= Self.maximumOrders else {
            throw .syntax(
                "The number of clauses in $orderby query option exceeded the maximum number allowed. The maximum number of"
                    + " $orderby clauses allowed is \(Self.maximumOrders).",
                at: 0
            )
        }
        for (index, order) in orders.enumerated() {
            _ = try operand(order.expression)
            if orders[..<index].contains(where: { $0.expression == order.expression }) { throw Self.failure }
        }
    }

    private static let failure = ODataError(
        reason: .serverFailure,
        message: "A null stands where the query needs a value, or a column is named twice.",
        position: 0
    )

    // MARK: Expressions

    private func operand(_ expression: ODataExpression) throws(ODataError) -> Operand {
        var checked = try typedOperand(expression)
        if !isTyped { checked.type = .any }
        return checked
    }

    private func typedOperand(_ expression: ODataExpression) throws(ODataError) -> Operand {
        switch expression {
        case .literal(let value):
            let isNullable = value.isNull || value.text != nil && ODataType(value) == .text
            return Operand(type: ODataType(value), isNullable: isNullable, nodes: 1, isLiteral: true)
        case .property(let name): return property(name)
        case .any(let parts): return try logical(parts, "Or")
        case .all(let parts): return try logical(parts, "And")
        case .not(let inner):
            var checked = try operand(inner)
            guard checked.type.fits(.boolean) else { throw Self.incompatible(checked, checked, "Not") }
            checked.nodes += 1
            return checked
        case .negated(let inner):
            var checked = try operand(inner)
            guard checked.type.isNumber || checked.type.fits(.any) else {
                throw Self.incompatible(checked, checked, "Negate")
            }
            checked.nodes += 1
            return checked
        case .comparison(let comparison, let left, let right):
            return try check(comparison, operand(left), operand(right))
        case .arithmetic(let symbol, let left, let right): return try check(symbol, operand(left), operand(right))
        case .member(let element, let list):
            let checked = try operand(element)
            for member in list {
                let member = try operand(member)
                guard checked.type.compares(with: member.type) || Self.meetsDecimals(checked, member) else {
                    throw Self.incompatible(checked, member, "In")
                }
            }
            // The list is one node, however long it is.
            return Operand(type: .boolean, nodes: checked.nodes + 2)
        case .call(let function, let arguments): return try check(function, arguments)
        case .cast(let inner, let type):
            let checked = try operand(inner)
            let result: ODataType =
                type == .text ? .text : type == .decimal ? .decimal : type.isWhole ? .integer : .double
            return Operand(type: result, isNullable: true, nodes: checked.nodes + 2)
        }
    }

    private func property(_ name: String) -> Operand {
        let (type, isNullable): (ODataType, Bool) =
            switch name {
            case "id": (.text, false)
            case "updatedAt": (.instant, true)
            case "version": (.bytes, true)
            case "deleted": (.boolean, false)
            default:
                if areDeclared, let column = columns[name] {
                    (ODataType(column.kind), column.isNullable)
                } else {
                    (.any, true)
                }
            }
        // The row that has the property is a node as well.
        return Operand(type: type, isNullable: isNullable, nodes: 2)
    }

    // MARK: Operators

    private func logical(_ parts: [ODataExpression], _ name: String) throws(ODataError) -> Operand {
        var result = try operand(parts[0])
        guard result.type.fits(.boolean) else { throw Self.incompatible(result, result, name) }
        for part in parts.dropFirst() {
            let next = try operand(part)
            guard next.type.fits(.boolean) else { throw Self.incompatible(result, next, name) }
            result = Self.joined(.boolean, result, next)
        }
        return result
    }

    private func check(
        _ comparison: ODataExpression.Comparison,
        _ left: Operand,
        _ right: Operand
    ) throws(ODataError) -> Operand {
        let isEquality = comparison == .eq || comparison == .ne
        let name = Self.names[comparison.rawValue] ?? comparison.rawValue
        guard left.type.compares(with: right.type) || Self.meetsDecimals(left, right) else {
            throw Self.incompatible(left, right, name)
        }
        if !isEquality, left.type == .null || right.type == .null {
            guard left.type.fits(.text), right.type.fits(.text) else { throw Self.failure }
        }
        return Self.joined(.boolean, left, right)
    }

    private func check(
        _ symbol: ODataExpression.Arithmetic,
        _ left: Operand,
        _ right: Operand
    ) throws(ODataError) -> Operand {
        guard left.type.isNumber || left.type.fits(.any), right.type.isNumber || right.type.fits(.any),
            left.type.compares(with: right.type) || Self.meetsDecimals(left, right)
        else { throw Self.incompatible(left, right, Self.names[symbol.rawValue] ?? symbol.rawValue) }
        let types = [left.type, right.type]
        let type = [ODataType.any, .null, .decimal, .double].first { types.contains($0) } ?? .integer
        return Self.joined(type == .null ? .any : type, left, right)
    }

    /// A literal without the letter of a type, such as 2.5, stands beside decimals too.
    private static func meetsDecimals(_ left: Operand, _ right: Operand) -> Bool {
        left.type == .decimal && right.type == .double && right.isLiteral
            || right.type == .decimal && left.type == .double && left.isLiteral
    }

    /// Two operands under an operator.
    private static func joined(_ type: ODataType, _ left: Operand, _ right: Operand) -> Operand {
        // A number is converted in place when it is a literal, and so is null.
        let isInPlace = [left, right].contains { $0.isLiteral && ($0.type.isNumber || $0.type == .null) }
        let differs = left.isNullable != right.isNullable || left.type.isNumber && left.type != right.type
        return Operand(
            type: type,
            isNullable: left.isNullable || right.isNullable,
            nodes: left.nodes + right.nodes + 1 + (differs && !isInPlace ? 1 : 0)
        )
    }

    private static let names = [
        "eq": "Equal", "ne": "NotEqual", "gt": "GreaterThan", "ge": "GreaterThanOrEqual", "lt": "LessThan",
        "le": "LessThanOrEqual", "add": "Add", "sub": "Subtract", "mul": "Multiply", "div": "Divide", "mod": "Modulo",
    ]

    private static func incompatible(_ left: Operand, _ right: Operand, _ name: String) -> ODataError {
        .syntax(
            "A binary operator with incompatible types was detected. Found operand types '\(left.type.name)' and"
                + " '\(right.type.name)' for operator kind '\(name)'.",
            at: 0
        )
    }

    // MARK: Functions

    private func check(_ function: ODataFunction, _ arguments: [ODataExpression]) throws(ODataError) -> Operand {
        var nodes = 1
        for (argument, types) in zip(arguments, function.argumentTypes) {
            let checked = try operand(argument)
            if checked.type == .null { throw Self.failure }
            guard checked.type == .any || types.contains(checked.type) else {
                throw .syntax(
                    "No function signature for the function with name '\(function.rawValue)' matches the specified"
                        + " arguments.",
                    at: 0
                )
            }
            nodes += checked.nodes
        }
        return Operand(type: function.resultType, isNullable: function.resultType == .text, nodes: nodes)
    }
}

extension ODataFunction {
    /// What each argument may be.
    fileprivate var argumentTypes: [[ODataType]] {
        switch self {
        case .contains, .substringof, .startswith, .endswith, .indexof, .concat: [[.text], [.text]]
        case .tolower, .toupper, .trim, .length: [[.text]]
        case .substring: [[.text], [.integer], [.integer]]
        case .replace: [[.text], [.text], [.text]]
        case .year, .month, .day: [[.instant, .day]]
        case .hour, .minute, .second: [[.instant, .time]]
        case .date: [[.instant]]
        case .ceiling, .floor, .round: [[.integer, .double, .decimal]]
        }
    }

    fileprivate var resultType: ODataType {
        switch self {
        case .contains, .substringof, .startswith, .endswith: .boolean
        case .tolower, .toupper, .trim, .substring, .concat, .replace: .text
        case .length, .indexof, .year, .month, .day, .hour, .minute, .second: .integer
        case .date: .day
        // Of a decimal it is one, which compares with the same literals.
        case .ceiling, .floor, .round: .any
        }
    }
}
