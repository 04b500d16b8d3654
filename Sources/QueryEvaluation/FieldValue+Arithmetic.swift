import SyncContract

/// The five operations that ``QueryOperator`` has on numbers.
enum Arithmetic {
    case add, subtract, multiply, divide, remainder
}

extension FieldValue {
    /// The result of an operation as ``QueryExpression`` says; null when there is none.
    func computing(_ operation: Arithmetic, _ other: FieldValue) -> FieldValue {
        switch (self, other) {
        case (.int64(let a), .int64(let b)): Self.wholeNumber(a, operation, b)
        case (.double, _), (_, .double): Self.double(nearestDouble, operation, other.nearestDouble)
        default: Self.decimal(computableDigits, operation, other.computableDigits)
        }
    }

    /// The number without its fraction.
    func withoutFraction(_ rule: FloatingPointRoundingRule) -> FieldValue {
        switch self {
        case .int64: self
        case .double(let value): value.isNaN ? .null : .double(value.rounded(rule))
        case .decimal: computableDigits?.withoutFraction(rule).map(Self.decimal) ?? .null
        default: .null
        }
    }

    private static func wholeNumber(_ a: Int64, _ operation: Arithmetic, _ b: Int64) -> FieldValue {
        let (result, overflow) =
            switch operation {
            case .add: a.addingReportingOverflow(b)
            case .subtract: a.subtractingReportingOverflow(b)
            case .multiply: a.multipliedReportingOverflow(by: b)
            case .divide: a.dividedReportingOverflow(by: b)
            // Nothing is left, though the quotient of the smallest number does not fit.
            case .remainder: b == -1 ? (0, false) : a.remainderReportingOverflow(dividingBy: b)
            }
        return overflow ? .null : .int64(result)
    }

    private static func double(_ a: Double?, _ operation: Arithmetic, _ b: Double?) -> FieldValue {
        guard let a, let b else { return .null }
        let result =
            switch operation {
            case .add: a + b
            case .subtract: a - b
            case .multiply: a * b
            case .divide: a / b
            case .remainder: a.truncatingRemainder(dividingBy: b)
            }
        return result.isFinite ? .double(result) : .null
    }

    private static func decimal(_ a: DecimalDigits?, _ operation: Arithmetic, _ b: DecimalDigits?) -> FieldValue {
        guard let a, let b else { return .null }
        let result =
            switch operation {
            case .add: a.adding(b)
            case .subtract: a.subtracting(b)
            case .multiply: a.multiplied(by: b)
            case .divide: a.divided(by: b)
            case .remainder: a.remainder(dividingBy: b)
            }
        return result.map(decimal) ?? .null
    }

    private static func decimal(_ digits: DecimalDigits) -> FieldValue { .decimal(DecimalText(digits)) }

    private var nearestDouble: Double? {
        switch self {
        case .int64(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.text)
        default: nil
        }
    }

    private var computableDigits: DecimalDigits? {
        switch self {
        case .int64(let value): DecimalDigits(String(value))
        case .decimal(let value): DecimalDigits(value.text).computable
        default: nil
        }
    }
}
