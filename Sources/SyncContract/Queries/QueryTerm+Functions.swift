/// Arithmetic: see ``QueryOperator``. Numbers of two types are computed with as decimals: see ``decimal``.
extension QueryTerm where Value: NumericColumnValue {
    /// The sum.
    public static func + (term: Self, value: Value) -> ComputedTerm<Value> { term.with(.add, value) }

    /// The sum.
    public static func + (value: Value, term: Self) -> ComputedTerm<Value> { term.after(value, .add) }

    /// The sum.
    public static func + <Other: QueryTerm>(left: Self, right: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { left.with(.add, right.expression) }

    /// The difference.
    public static func - (term: Self, value: Value) -> ComputedTerm<Value> { term.with(.subtract, value) }

    /// The difference.
    public static func - (value: Value, term: Self) -> ComputedTerm<Value> { term.after(value, .subtract) }

    /// The difference.
    public static func - <Other: QueryTerm>(left: Self, right: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { left.with(.subtract, right.expression) }

    /// The opposite number: 0 without the term.
    public static prefix func - (term: Self) -> ComputedTerm<Value> {
        ComputedTerm(.operation(.value(0), .subtract, term.expression))
    }

    /// The product.
    public static func * (term: Self, value: Value) -> ComputedTerm<Value> { term.with(.multiply, value) }

    /// The product.
    public static func * (value: Value, term: Self) -> ComputedTerm<Value> { term.after(value, .multiply) }

    /// The product.
    public static func * <Other: QueryTerm>(left: Self, right: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { left.with(.multiply, right.expression) }

    /// The quotient; of whole numbers without its fraction.
    public static func / (term: Self, value: Value) -> ComputedTerm<Value> { term.with(.divide, value) }

    /// The quotient; of whole numbers without its fraction.
    public static func / (value: Value, term: Self) -> ComputedTerm<Value> { term.after(value, .divide) }

    /// The quotient; of whole numbers without its fraction.
    public static func / <Other: QueryTerm>(left: Self, right: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { left.with(.divide, right.expression) }

    /// The remainder, with the sign of the first number.
    public static func % (term: Self, value: Value) -> ComputedTerm<Value> { term.with(.remainder, value) }

    /// The remainder, with the sign of the first number.
    public static func % (value: Value, term: Self) -> ComputedTerm<Value> { term.after(value, .remainder) }

    /// The remainder, with the sign of the first number.
    public static func % <Other: QueryTerm>(left: Self, right: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { left.with(.remainder, right.expression) }
}

/// Numbers without fraction: see ``QueryFunction``.
extension QueryTerm where Value: NumericColumnValue {
    /// The nearest number without fraction; a half goes away from zero.
    public var rounded: ComputedTerm<Value> { applying(.rounded) }

    /// The largest number without fraction that is not larger.
    public var floor: ComputedTerm<Value> { applying(.floor) }

    /// The smallest number without fraction that is not smaller.
    public var ceiling: ComputedTerm<Value> { applying(.ceiling) }
}

/// Text: see ``QueryFunction``. Positions count Unicode scalars from 0.
extension QueryTerm where Value: TextColumnValue {
    /// The text with A to Z made lower-case.
    public var lowercased: ComputedTerm<Value> { applying(.lowercased) }

    /// The text with a to z made upper-case.
    public var uppercased: ComputedTerm<Value> { applying(.uppercased) }

    /// The text without the spaces at its start and end.
    public var trimmed: ComputedTerm<Value> { applying(.trimmed) }

    /// The number of Unicode scalars.
    public var length: ComputedTerm<Value.Number> { applying(.length) }

    /// The text followed by other text.
    public func appending(_ text: String) -> ComputedTerm<Value> { with(.concatenate, .value(.string(text))) }

    /// The text followed by another.
    public func appending<Other: QueryTerm>(_ other: Other) -> ComputedTerm<Value>
    where Other.Value.Base == Value.Base { with(.concatenate, other.expression) }

    /// Where other text begins for the first time; -1 when it does not occur.
    public func position(of text: String) -> ComputedTerm<Value.Number> { with(.position, .value(.string(text))) }

    /// Where another text begins for the first time; -1 when it does not occur.
    public func position<Other: QueryTerm>(of other: Other) -> ComputedTerm<Value.Number>
    where Other.Value.Base == Value.Base { with(.position, other.expression) }

    /// The text from a position on, to its end or for a number of scalars.
    public func substring(from position: Int64, count: Int64? = nil) -> ComputedTerm<Value> {
        ComputedTerm(.substring(expression, from: .value(.int64(position)), count: count.map { .value(.int64($0)) }))
    }
}

/// The parts of a date, in UTC: see ``QueryFunction``.
extension QueryTerm where Value: DateColumnValue {
    /// The year.
    public var year: ComputedTerm<Value.Number> { applying(.year) }

    /// The month, 1 to 12.
    public var month: ComputedTerm<Value.Number> { applying(.month) }

    /// The day of the month, 1 to 31.
    public var day: ComputedTerm<Value.Number> { applying(.day) }

    /// The hour, 0 to 23.
    public var hour: ComputedTerm<Value.Number> { applying(.hour) }

    /// The minute, 0 to 59.
    public var minute: ComputedTerm<Value.Number> { applying(.minute) }

    /// The second, 0 to 59.
    public var second: ComputedTerm<Value.Number> { applying(.second) }
}

extension QueryTerm {
    fileprivate func with(_ symbol: QueryOperator, _ value: Value) -> ComputedTerm<Value> {
        with(symbol, .value(value.fieldValue))
    }

    fileprivate func with<Result>(_ symbol: QueryOperator, _ other: QueryExpression) -> ComputedTerm<Result> {
        ComputedTerm(.operation(expression, symbol, other))
    }

    fileprivate func after(_ value: Value, _ symbol: QueryOperator) -> ComputedTerm<Value> {
        ComputedTerm(.operation(.value(value.fieldValue), symbol, expression))
    }

    fileprivate func applying<Result>(_ function: QueryFunction) -> ComputedTerm<Result> {
        ComputedTerm(.function(function, expression))
    }
}
