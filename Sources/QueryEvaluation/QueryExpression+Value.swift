package import SyncContract

extension QueryExpression {
    /// The value for the row whose values the closure knows. The expression must be part of a normalized predicate.
    package func value(_ row: (String) -> FieldValue) -> FieldValue {
        switch self {
        case .value(let value): value
        case .column(let name): row(name)
        case .function(let function, let operand): function.value(operand.value(row))
        case .operation(let left, let symbol, let right): symbol.value(left.value(row), right.value(row))
        case .substring(let text, let start, let count):
            Self.substring(text.value(row), from: start.value(row), count: count?.value(row))
        }
    }

    /// Values in the form in which they compare with this expression: folded, when this is folded text.
    package func alike(_ values: [FieldValue]) -> [FieldValue] {
        guard case .function(.folded, _) = self else { return values }
        return values.map { value in value.stringValue.map { .string(TextFolding.fold($0)) } ?? value }
    }

    private static func substring(_ text: FieldValue, from start: FieldValue, count: FieldValue?) -> FieldValue {
        guard let text = text.stringValue, let start = start.int64Value, start >= 0 else { return .null }
        guard let count else { return .string(text.scalars(from: start, count: .max)) }
        guard let count = count.int64Value, count >= 0 else { return .null }
        return .string(text.scalars(from: start, count: count))
    }
}

extension QueryFunction {
    fileprivate func value(_ operand: FieldValue) -> FieldValue {
        switch self {
        case .lowercased: operand.mapText { .string($0.asciiLowercased()) }
        case .uppercased: operand.mapText { .string($0.asciiUppercased()) }
        case .folded: operand.mapText { .string(TextFolding.fold($0)) }
        case .trimmed: operand.mapText { .string($0.withoutOuterSpaces()) }
        case .length: operand.mapText { .int64($0.scalarCount) }
        case .rounded: operand.withoutFraction(.toNearestOrAwayFromZero)
        case .floor: operand.withoutFraction(.down)
        case .ceiling: operand.withoutFraction(.up)
        case .year: operand.mapDate(\.year)
        case .month: operand.mapDate { Int64($0.month) }
        case .day: operand.mapDate { Int64($0.day) }
        case .hour: operand.mapDate { Int64($0.hour) }
        case .minute: operand.mapDate { Int64($0.minute) }
        case .second: operand.mapDate { Int64($0.second) }
        }
    }
}

extension QueryOperator {
    fileprivate func value(_ left: FieldValue, _ right: FieldValue) -> FieldValue {
        switch self {
        case .add: left.computing(.add, right)
        case .subtract: left.computing(.subtract, right)
        case .multiply: left.computing(.multiply, right)
        case .divide: left.computing(.divide, right)
        case .remainder: left.computing(.remainder, right)
        case .concatenate: left.mapText { text in right.mapText { text.concatenated(with: $0) } }
        case .position: left.mapText { text in right.mapText { .int64(text.firstScalarPosition(of: $0) ?? -1) } }
        }
    }
}

extension FieldValue {
    fileprivate func mapText(_ body: (String) -> FieldValue) -> FieldValue {
        if case .string(let text) = self { body(text) } else { .null }
    }

    fileprivate func mapDate(_ body: (CivilTime) -> Int64) -> FieldValue {
        if case .date(let date) = self { .int64(body(CivilTime(milliseconds: date.milliseconds))) } else { .null }
    }
}
