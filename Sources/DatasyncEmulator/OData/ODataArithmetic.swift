extension ODataExpression.Arithmetic {
    /// The result: whole for whole numbers, binary when either is binary, else decimal. Null for operands that are no
    /// numbers, a division by zero, and results out of range.
    func value(_ left: ODataValue, _ right: ODataValue) -> ODataValue {
        switch (left, right) {
        case (.integer(let first), .integer(let second)): whole(first, second)
        case (.double, _), (_, .double): binary(left.double, right.double)
        default: decimal(left.decimal, right.decimal)
        }
    }

    private func whole(_ first: Int64, _ second: Int64) -> ODataValue {
        if self == .mod, second == -1 { return .integer(0) }
        let (result, overflow) =
            switch self {
            case .add: first.addingReportingOverflow(second)
            case .sub: first.subtractingReportingOverflow(second)
            case .mul: first.multipliedReportingOverflow(by: second)
            case .div: first.dividedReportingOverflow(by: second)
            case .mod: first.remainderReportingOverflow(dividingBy: second)
            }
        return overflow ? .null : .integer(result)
    }

    private func binary(_ first: Double?, _ second: Double?) -> ODataValue {
        guard let first, let second else { return .null }
        let result =
            switch self {
            case .add: first + second
            case .sub: first - second
            case .mul: first * second
            case .div: first / second
            case .mod: first.truncatingRemainder(dividingBy: second)
            }
        return result.isFinite ? .double(result) : .null
    }

    private func decimal(_ first: ODataDecimal?, _ second: ODataDecimal?) -> ODataValue {
        guard let first, let second else { return .null }
        let result =
            switch self {
            case .add: first + second
            case .sub: first - second
            case .mul: first * second
            case .div: first / second
            case .mod: first % second
            }
        return result.map(ODataValue.decimal) ?? .null
    }
}
