internal import SyncContract

extension QueryExpression {
    /// The kind of an expression's values, as far as it is known without the table.
    enum Kind {
        /// No row has a value.
        case null
        case text
        case number
        case date
        /// A truth value, bytes or JSON, which no function takes.
        case other
        /// A column's, which only the server knows.
        case unknown
    }

    /// The kind of the values that are not null.
    var kind: Kind {
        switch self {
        case .column: .unknown
        case .value(let value): value.kind
        case .function(let function, let operand): operand.mayBe(function.operandKind) ? function.kind : .null
        case .operation(let left, let symbol, let right):
            left.mayBe(symbol.operandKind) && right.mayBe(symbol.operandKind) ? symbol.kind : .null
        case .substring(let text, let start, let count):
            text.mayBe(.text) && start.mayBe(.number) && count?.mayBe(.number) ?? true ? .text : .null
        }
    }

    /// Whether a row may have a value of the kind.
    func mayBe(_ kind: Kind) -> Bool {
        let own = self.kind
        return own == kind || own == .unknown
    }
}

extension FieldValue {
    fileprivate var kind: QueryExpression.Kind {
        switch self {
        case .null: .null
        case .int64, .double, .decimal: .number
        case .string: .text
        case .date: .date
        case .bool, .bytes, .json: .other
        }
    }
}

extension QueryFunction {
    /// The function's name, which both dialects share; nil for one that no server has.
    var word: String? {
        switch self {
        case .folded: nil
        case .lowercased: "tolower"
        case .uppercased: "toupper"
        case .trimmed: "trim"
        case .length: "length"
        case .rounded: "round"
        case .floor: "floor"
        case .ceiling: "ceiling"
        case .year: "year"
        case .month: "month"
        case .day: "day"
        case .hour: "hour"
        case .minute: "minute"
        case .second: "second"
        }
    }

    fileprivate var operandKind: QueryExpression.Kind {
        switch self {
        case .lowercased, .uppercased, .folded, .trimmed, .length: .text
        case .rounded, .floor, .ceiling: .number
        case .year, .month, .day, .hour, .minute, .second: .date
        }
    }

    fileprivate var kind: QueryExpression.Kind {
        switch self {
        case .lowercased, .uppercased, .folded, .trimmed: .text
        default: .number
        }
    }
}

extension QueryOperator {
    /// The operator's or function's name, which both dialects share.
    var word: String {
        switch self {
        case .add: "add"
        case .subtract: "sub"
        case .multiply: "mul"
        case .divide: "div"
        case .remainder: "mod"
        case .concatenate: "concat"
        case .position: "indexof"
        }
    }

    /// Whether it stands before its operands in parentheses, and not between them.
    var isFunction: Bool { self == .concatenate || self == .position }

    fileprivate var operandKind: QueryExpression.Kind { isFunction ? .text : .number }

    fileprivate var kind: QueryExpression.Kind { self == .concatenate ? .text : .number }
}
