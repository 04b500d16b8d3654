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

    typealias Dialect = EmulatorConfiguration.Dialect

    private let text: String
    private let tokens: [ODataTokenizer.Positioned]
    private let dialect: Dialect
    private let resolve: Resolver
    private var index = 0
    private var depth = 0
    /// How many casts of literals were read: the expression does not show them any more.
    private var casts = 0

    private init(_ text: String, _ dialect: Dialect, resolve: @escaping Resolver) throws(ODataError) {
        self.text = text
        tokens = try ODataTokenizer.tokens(of: text, dialect)
        self.dialect = dialect
        self.resolve = resolve
    }

    /// Parses a whole `$filter`.
    static func filter(
        _ text: String,
        _ dialect: Dialect,
        resolve: @escaping Resolver
    ) throws(ODataError) -> ODataExpression {
        try countingCasts(text, dialect, resolve: resolve).filter
    }

    /// Parses a whole `$filter`, and tells how many literals were cast in it.
    static func countingCasts(
        _ text: String,
        _ dialect: Dialect,
        resolve: @escaping Resolver
    ) throws(ODataError) -> (filter: ODataExpression, casts: Int) {
        var parser = try ODataParser(text, dialect, resolve: resolve)
        let expression = try parser.disjunction()
        guard parser.current == .end else { throw parser.syntaxError }
        return (expression, parser.casts)
    }

    /// Parses a whole `$orderby`.
    static func order(
        _ text: String,
        _ dialect: Dialect,
        resolve: @escaping Resolver
    ) throws(ODataError) -> [ODataOrder] {
        var parser = try ODataParser(text, dialect, resolve: resolve)
        var orders: [ODataOrder] = []
        repeat {
            let expression = try parser.disjunction()
            let isDescending = parser.take("desc")
            if !isDescending { _ = parser.take("asc") }
            orders.append(ODataOrder(expression: expression, isDescending: isDescending))
        } while parser.take(.comma)
        guard parser.current == .end else { throw parser.syntaxError }
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
        if let comparison = ODataExpression.Comparison(rawValue: keyword(name)) {
            index += 1
            return .comparison(comparison, left, try sum())
        }
        guard take("in") else { return left }
        guard take(.open) else { throw error("'(' expected") }
        if dialect == .datasync, take(.close) { return .member(left, []) }
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
        while case .identifier(let name) = current, let symbol = ODataExpression.Arithmetic(rawValue: keyword(name)),
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
        let isNegation = take("not")
        // A parenthesis after `not` counts for both.
        let depth = isNegation && current == .open ? 0 : 1
        try deepen(by: depth)
        defer { self.depth -= depth }
        if isNegation { return .not(try unary()) }
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
            if take(.open) { return keyword(name) == "cast" ? try cast() : try call(name, at: start) }
            switch resolve(name) {
            case .column(let column): return .property(column)
            case .alwaysNull: return .literal(.null)
            case .unknown: throw .unknownProperty(name, at: start)
            }
        case .close, .comma, .minus, .end: throw error("Expression expected")
        }
    }

    private mutating func call(_ name: String, at start: Int) throws(ODataError) -> ODataExpression {
        let function = try ODataFunction.named(name, in: dialect, at: start)
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
        let inner = try disjunction()
        guard take(.comma), case .identifier(let type) = current else { throw error("Type expected") }
        index += 1
        guard take(.close) else { throw error("')' expected") }
        if case .literal(let value) = inner, let literal = try Self.literal(value, castTo: type, at: start) {
            casts += 1
            return .literal(literal)
        }
        if dialect == .datasync, let number = ODataNumberType(rawValue: type) { return .cast(inner, number) }
        throw .syntax("Cannot cast to '\(type)'", at: start)
    }

    /// A literal as another type; nil where the type is not one of those that literals are cast to.
    private static func literal(
        _ value: ODataValue,
        castTo type: String,
        at start: Int
    ) throws(ODataError) -> ODataValue? {
        switch (type, value) {
        case ("Edm.DateTimeOffset", .instant), ("Edm.Date", .day), ("Edm.TimeOfDay", .time), ("Edm.Guid", .guid):
            return value
        case ("Edm.Guid", .string(let text)): return .guid(text.lowercased())
        case ("Edm.DateTimeOffset", .string), ("Edm.DateTimeOffset", .day), ("Edm.Date", .string),
            ("Edm.Date", .instant):
            throw ODataError(reason: .serverFailure, message: "Cannot cast to '\(type)'", position: start)
        default: return nil
        }
    }

    // MARK: Tokens

    private var current: ODataTokenizer.Token { tokens[index].token }

    private mutating func take(_ token: ODataTokenizer.Token) -> Bool {
        guard current == token else { return false }
        index += 1
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        guard case .identifier(let name) = current, keyword(name) == word else { return false }
        index += 1
        return true
    }

    /// A name as it is compared with those that the language has: in any case under protocol 3.
    private func keyword(_ name: String) -> String {
        dialect == .datasync ? name.lowercased() : name
    }

    private mutating func deepen(by levels: Int = 1) throws(ODataError) {
        depth += levels
        guard depth <= Self.maximumDepth else { throw error("Expression too deep") }
    }

    private var syntaxError: ODataError {
        error("Syntax error at position \(tokens[index].end) in '\(text)'.")
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
