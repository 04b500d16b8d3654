extension Query {
    /// Refuses a predicate that holds something against a value of another kind, for which no row can satisfy it.
    ///
    /// To a store such values differ, and what is computed from them is null; so ``Query`` says. An app that writes this has
    /// made a mistake, and its tables say so. The number types are one kind, and null is of every kind.
    ///
    /// - Parameter table: The declaration of the table; columns that it does not have may be of any kind.
    /// - Throws: ``StoreError/Code/invalidQuery``; the message names both kinds, and never a value.
    package func checkKinds(for table: TableDefinition) throws(StoreError) {
        guard let predicate = try predicate?.normalized() else { return }
        try KindCheck(table: table).check(predicate)
    }
}

/// What compares with one another.
private enum ValueKind: String {
    case bool = "a truth value"
    case number = "a number"
    case text = "text"
    case date = "a date"
    case bytes = "bytes"
    case json = "JSON"

    init(_ type: ColumnType) {
        self =
            switch type {
            case .bool: .bool
            case .int64, .double, .decimal: .number
            case .string: .text
            case .date: .date
            case .bytes: .bytes
            case .json: .json
            }
    }

    /// Nil for null.
    init?(_ value: FieldValue) {
        switch value {
        case .null: return nil
        case .bool: self = .bool
        case .int64, .double, .decimal: self = .number
        case .string: self = .text
        case .date: self = .date
        case .bytes: self = .bytes
        case .json: self = .json
        }
    }
}

private struct KindCheck {
    let table: TableDefinition

    func check(_ predicate: QueryPredicate) throws(StoreError) {
        switch predicate {
        case .constant, .words: break
        case .all(let parts), .any(let parts): for part in parts { try check(part) }
        case .not(let part): try check(part)
        case .comparison(let left, _, let right): try compare(left, right)
        case .isAnyOf(let expression, let values): for value in values { try compare(expression, .value(value)) }
        case .match(let left, _, let right):
            try require(left, .text)
            try require(right, .text)
        }
    }

    private func compare(_ left: QueryExpression, _ right: QueryExpression) throws(StoreError) {
        guard let first = try kind(of: left), let second = try kind(of: right), first != second else { return }
        throw .invalidQuery(
            "\(name(of: left)) of '\(table.name)' is \(first.rawValue), and is compared with \(name(of: right)), which is"
                + " \(second.rawValue): no row can satisfy that; compare values of one kind."
        )
    }

    private func require(_ expression: QueryExpression, _ kind: ValueKind) throws(StoreError) {
        guard let found = try self.kind(of: expression), found != kind else { return }
        throw .invalidQuery(
            "\(name(of: expression)) in a query of '\(table.name)' is \(found.rawValue), where \(kind.rawValue) is wanted:"
                + " no row can satisfy that."
        )
    }

    /// The kind of what an expression gives; nil when it may be any. The expression must be part of a normalized predicate.
    private func kind(of expression: QueryExpression) throws(StoreError) -> ValueKind? {
        switch expression {
        case .value(let value): return ValueKind(value)
        case .column("id"): return table.idKind == .int64 ? .number : .text
        case .column(SyncStateTerm.name): return .text
        case .column(let name): return table.type(of: name).map(ValueKind.init)
        case .function(let function, let operand):
            let (taken, given) = function.kinds
            try require(operand, taken)
            return given
        case .operation(let left, let symbol, let right):
            let (taken, given) = symbol.kinds
            try require(left, taken)
            try require(right, taken)
            return given
        case .substring(let text, let start, let count):
            try require(text, .text)
            try require(start, .number)
            if let count { try require(count, .number) }
            return .text
        }
    }

    /// The name of an expression in a message; of a value no more than that it is one.
    private func name(of expression: QueryExpression) -> String {
        switch expression {
        case .column(let name): "column '\(name)'"
        case .value: "the value given"
        case .function(let function, let operand): "'\(function)' of \(name(of: operand))"
        case .operation(_, let symbol, _): "what '\(symbol)' gives"
        case .substring(let text, _, _): "a part of \(name(of: text))"
        }
    }
}

extension QueryFunction {
    /// What it takes and what it gives.
    fileprivate var kinds: (ValueKind, ValueKind) {
        switch self {
        case .lowercased, .uppercased, .folded, .trimmed: (.text, .text)
        case .length: (.text, .number)
        case .rounded, .floor, .ceiling: (.number, .number)
        case .year, .month, .day, .hour, .minute, .second: (.date, .number)
        }
    }
}

extension QueryOperator {
    /// What it takes and what it gives.
    fileprivate var kinds: (ValueKind, ValueKind) {
        switch self {
        case .add, .subtract, .multiply, .divide, .remainder: (.number, .number)
        case .concatenate: (.text, .text)
        case .position: (.text, .number)
        }
    }
}
