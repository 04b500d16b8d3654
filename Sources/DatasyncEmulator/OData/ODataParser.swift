/// Parses filters and orders. From loose to tight: `or`, `and`, comparisons and `in`, `add sub`, `mul div mod`, unary.
struct ODataParser {
    /// What a property's name stands for: the column's own spelling, or nil when it is to count as null.
    typealias Resolver = (_ name: String) -> Property

    enum Property {
        case column(String)
        case alwaysNull
        case unknown
    }

    static let maximumDepth = 100

    private let tokens: [ODataTokenizer.Positioned]
    private let resolve: Resolver
    private var index = 0
    private var depth = 0

    private init(_ text: String, resolve: @escaping Resolver) throws(ODataError) {
        tokens = try ODataTokenizer.tokens(of: text)
        self.resolve = resolve
    }

    /// Parses a whole `$filter`.
    static func filter(_ text: String, resolve: @escaping Resolver) throws(ODataError) -> ODataExpression {
        var parser = try ODataParser(text, resolve: resolve)
        let expression = try parser.disjunction()
        guard parser.current == .end else { throw parser.error("Syntax error") }
        return expression
    }

    /// Parses a whole `$orderby`.
    static func order(_ text: String, resolve: @escaping Resolver) throws(ODataError) -> [ODataOrder] {
        var parser = try ODataParser(text, resolve: resolve)
        var orders: [ODataOrder] = []
        repeat {
            let expression = try parser.disjunction()
            let isDescending = parser.take("desc")
            if !isDescending { _ = parser.take("asc") }
            orders.append(ODataOrder(expression: expression, isDescending: isDescending))
        } while parser.take(.comma)
        guard parser.current == .end else { throw parser.error("Syntax error") }
        return orders
    }

    // MARK: Operators

    private mutating func disjunction() throws(ODataError) -> ODataExpression {
        var parts = [try conjunction()]
        while take("or") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(ODataError) -> ODataExpression {
        var parts = [try comparison()]
        while take("and") { parts.append(try comparison()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func comparison() throws(ODataError) -> ODataExpression {
        let left = try sum()
        guard case .identifier(let name) = current else { return left }
        if let comparison = ODataExpression.Comparison(rawValue: name) {
            index += 1
            return .comparison(comparison, left, try sum())
        }
        guard take("in") else { return left }
        guard take(.open) else { throw error("'(' expected") }
        return .member(left, try arguments())
    }

    private mutating func sum() throws(ODataError) -> ODataExpression {
        try chain(of: [.add, .sub]) { (parser) throws(ODataError) in try parser.product() }
    }

    private mutating func product() throws(ODataError) -> ODataExpression {
        try chain(of: [.mul, .div, .mod]) { (parser) throws(ODataError) in try parser.unary() }
    }

    /// A chain that groups to the left. Each link deepens the tree by one, so links count as depth.
    private mutating func chain(
        of operators: [ODataExpression.Arithmetic],
        operand: (inout ODataParser) throws(ODataError) -> ODataExpression
    ) throws(ODataError) -> ODataExpression {
        var left = try operand(&self)
        var links = 0
        defer { depth -= links }
        while case .identifier(let name) = current, let symbol = ODataExpression.Arithmetic(rawValue: name),
            operators.contains(symbol)
        {
            index += 1
            try deepen()
            links += 1
            left = .arithmetic(symbol, left, try operand(&self))
        }
        return left
    }

    private mutating func unary() throws(ODataError) -> ODataExpression {
        try deepen()
        defer { depth -= 1 }
        if take("not") { return .not(try unary()) }
        if take(.minus) { return .negated(try unary()) }
        return try primary()
    }

    // MARK: Operands

    private mutating func primary() throws(ODataError) -> ODataExpression {
        let start = tokens[index].position
        switch current {
        case .literal(let value):
            index += 1
            return .literal(value)
        case .open:
            index += 1
            let inner = try disjunction()
            guard take(.close) else { throw error("')' or operator expected") }
            return inner
        case .identifier(let name):
            index += 1
            if take(.open) { return name == "cast" ? try cast() : try call(name, at: start) }
            switch resolve(name) {
            case .column(let column): return .property(column)
            case .alwaysNull: return .literal(.null)
            case .unknown:
                let message = "Could not find a property named '\(name)'"
                throw ODataError(reason: .unknownProperty, message: message, position: start)
            }
        case .close, .comma, .minus, .end: throw error("Expression expected")
        }
    }

    private mutating func call(_ name: String, at start: Int) throws(ODataError) -> ODataExpression {
        guard let function = ODataFunction(rawValue: name) else {
            throw .syntax("Unknown function '\(name)'", at: start)
        }
        let arguments = take(.close) ? [] : try arguments()
        guard function.argumentCounts.contains(arguments.count) else {
            throw .syntax("Function '\(name)' does not take \(arguments.count) arguments", at: start)
        }
        return .call(function, arguments)
    }

    /// The rest of a list whose parenthesis is open.
    private mutating func arguments() throws(ODataError) -> [ODataExpression] {
        var arguments = [try disjunction()]
        while take(.comma) { arguments.append(try disjunction()) }
        guard take(.close) else { throw error("')' or ',' expected") }
        return arguments
    }

    private mutating func cast() throws(ODataError) -> ODataExpression {
        let start = tokens[index].position
        guard case .literal(let value) = current else { throw error("Literal expected") }
        index += 1
        guard take(.comma), case .identifier(let type) = current else { throw error("Type expected") }
        index += 1
        guard take(.close) else { throw error("')' expected") }
        let converted: ODataValue? =
            switch type {
            case "Edm.DateTimeOffset", "Edm.Date": value.instant.map(ODataValue.instant)
            case "Edm.TimeOfDay": value.timeOfDay.map(ODataValue.time)
            case "Edm.Guid": value.text.map { .guid($0.lowercased()) }
            default: nil
            }
        guard let converted else { throw .syntax("Cannot cast to '\(type)'", at: start) }
        return .literal(converted)
    }

    // MARK: Tokens

    private var current: ODataTokenizer.Token { tokens[index].token }

    private mutating func take(_ token: ODataTokenizer.Token) -> Bool {
        guard current == token else { return false }
        index += 1
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        take(.identifier(word))
    }

    private mutating func deepen() throws(ODataError) {
        depth += 1
        guard depth <= Self.maximumDepth else { throw error("Expression too deep") }
    }

    private func error(_ message: String) -> ODataError {
        .syntax(message, at: tokens[index].position)
    }
}

/// One key of an order.
struct ODataOrder: Equatable, Sendable {
    let expression: ODataExpression
    let isDescending: Bool
}
