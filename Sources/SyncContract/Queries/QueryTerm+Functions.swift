/// Arithmetic: see ``QueryOperator``.
extension QueryTerm {
    /// The sum.
    public static func + (term: Self, value: FieldValue) -> ComputedTerm { term.with(.add, .value(value)) }

    /// The sum.
    public static func + (value: FieldValue, term: Self) -> ComputedTerm { term.after(value, .add) }

    /// The sum.
    public static func + (left: Self, right: some QueryTerm) -> ComputedTerm { left.with(.add, right.expression) }

    /// The difference.
    public static func - (term: Self, value: FieldValue) -> ComputedTerm { term.with(.subtract, .value(value)) }

    /// The difference.
    public static func - (value: FieldValue, term: Self) -> ComputedTerm { term.after(value, .subtract) }

    /// The difference.
    public static func - (left: Self, right: some QueryTerm) -> ComputedTerm { left.with(.subtract, right.expression) }

    /// The opposite number: 0 without the term.
    public static prefix func - (term: Self) -> ComputedTerm { term.after(0, .subtract) }

    /// The product.
    public static func * (term: Self, value: FieldValue) -> ComputedTerm { term.with(.multiply, .value(value)) }

    /// The product.
    public static func * (value: FieldValue, term: Self) -> ComputedTerm { term.after(value, .multiply) }

    /// The product.
    public static func * (left: Self, right: some QueryTerm) -> ComputedTerm { left.with(.multiply, right.expression) }

    /// The quotient; of whole numbers without its fraction.
    public static func / (term: Self, value: FieldValue) -> ComputedTerm { term.with(.divide, .value(value)) }

    /// The quotient; of whole numbers without its fraction.
    public static func / (value: FieldValue, term: Self) -> ComputedTerm { term.after(value, .divide) }

    /// The quotient; of whole numbers without its fraction.
    public static func / (left: Self, right: some QueryTerm) -> ComputedTerm { left.with(.divide, right.expression) }

    /// The remainder, with the sign of the first number.
    public static func % (term: Self, value: FieldValue) -> ComputedTerm { term.with(.remainder, .value(value)) }

    /// The remainder, with the sign of the first number.
    public static func % (value: FieldValue, term: Self) -> ComputedTerm { term.after(value, .remainder) }

    /// The remainder, with the sign of the first number.
    public static func % (left: Self, right: some QueryTerm) -> ComputedTerm { left.with(.remainder, right.expression) }

    fileprivate func with(_ symbol: QueryOperator, _ other: QueryExpression) -> ComputedTerm {
        ComputedTerm(.operation(expression, symbol, other))
    }

    private func after(_ value: FieldValue, _ symbol: QueryOperator) -> ComputedTerm {
        ComputedTerm(.operation(.value(value), symbol, expression))
    }
}

/// Numbers without fraction: see ``QueryFunction``.
extension QueryTerm {
    /// The nearest number without fraction; a half goes away from zero.
    public var rounded: ComputedTerm { applying(.rounded) }

    /// The largest number without fraction that is not larger.
    public var floor: ComputedTerm { applying(.floor) }

    /// The smallest number without fraction that is not smaller.
    public var ceiling: ComputedTerm { applying(.ceiling) }
}

/// Text: see ``QueryFunction``. Positions count Unicode scalars from 0.
extension QueryTerm {
    /// The text with A to Z made lower-case.
    public var lowercased: ComputedTerm { applying(.lowercased) }

    /// The text with a to z made upper-case.
    public var uppercased: ComputedTerm { applying(.uppercased) }

    /// The text without the spaces at its start and end.
    public var trimmed: ComputedTerm { applying(.trimmed) }

    /// The number of Unicode scalars.
    public var length: ComputedTerm { applying(.length) }

    /// The text followed by other text.
    public func appending(_ text: String) -> ComputedTerm { with(.concatenate, .value(.string(text))) }

    /// The text followed by another.
    public func appending(_ other: some QueryTerm) -> ComputedTerm { with(.concatenate, other.expression) }

    /// Where other text begins for the first time; -1 when it does not occur.
    public func position(of text: String) -> ComputedTerm { with(.position, .value(.string(text))) }

    /// Where another text begins for the first time; -1 when it does not occur.
    public func position(of other: some QueryTerm) -> ComputedTerm { with(.position, other.expression) }

    /// The text from a position on, to its end or for a number of scalars.
    public func substring(from position: Int64, count: Int64? = nil) -> ComputedTerm {
        ComputedTerm(.substring(expression, from: .value(.int64(position)), count: count.map { .value(.int64($0)) }))
    }
}

/// The parts of a date, in UTC: see ``QueryFunction``.
extension QueryTerm {
    /// The year.
    public var year: ComputedTerm { applying(.year) }

    /// The month, 1 to 12.
    public var month: ComputedTerm { applying(.month) }

    /// The day of the month, 1 to 31.
    public var day: ComputedTerm { applying(.day) }

    /// The hour, 0 to 23.
    public var hour: ComputedTerm { applying(.hour) }

    /// The minute, 0 to 59.
    public var minute: ComputedTerm { applying(.minute) }

    /// The second, 0 to 59.
    public var second: ComputedTerm { applying(.second) }

    fileprivate func applying(_ function: QueryFunction) -> ComputedTerm {
        ComputedTerm(.function(function, expression))
    }
}
