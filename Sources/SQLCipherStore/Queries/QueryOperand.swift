import SyncContract

/// One side of a comparison, as far as it is known before a row is looked at.
enum QueryOperand {
    /// A value that is the same for every row.
    case value(FieldValue)
    /// An expression over a column: its SQL, and the kind of its values that are not null.
    case column(sql: String, kind: ColumnType)

    /// Whether the values that are not null are texts.
    var isText: Bool {
        switch self {
        case .value(.string), .column(_, .string): true
        default: false
        }
    }
}

extension PredicateCompiler {
    /// Reduces an expression; text functions over something else than text are null.
    func operand(_ expression: QueryExpression) throws(StoreError) -> QueryOperand {
        var expression = expression
        var function: String?
        // Only the outermost function counts: it undoes the others.
        while true {
            switch expression {
            case .lowercased(let inner):
                function = function ?? SQLFunctions.lower
                expression = inner
                continue
            case .uppercased(let inner):
                function = function ?? SQLFunctions.upper
                expression = inner
                continue
            case .value(let value):
                guard let function else { return .value(value) }
                guard case .string(let text) = value else { return .value(.null) }
                return .value(.string(function == SQLFunctions.lower ? text.asciiLowercased() : text.asciiUppercased()))
            case .column(let name):
                let kind = try kind(of: name)
                guard let function else { return .column(sql: name.sqlIdentifier, kind: kind) }
                guard kind == .string else { return .value(.null) }
                return .column(sql: "\(function)(\(name.sqlIdentifier))", kind: .string)
            }
        }
    }

    private func kind(of column: String) throws(StoreError) -> ColumnType {
        if column == "id" { return layout.definition.idKind == .int64 ? .int64 : .string }
        guard let type = layout.definition.type(of: column) else {
            throw StoreError(
                .invalidQuery,
                "table '\(layout.definition.name)' has no declared column '\(column)'; declare it to query it"
            )
        }
        return type
    }
}

extension FieldValue {
    /// The kind of a value that compares with others; nil for null and NaN.
    var comparableKind: ColumnType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int64: .int64
        case .double(let value): value.isNaN ? nil : .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .bytes: .bytes
        case .json: .json
        }
    }

    /// The value in the form of a column's own, if that form compares with every value of the column as this one does.
    func native(to kind: ColumnType) -> FieldValue? {
        switch (self, kind) {
        case (.int64(let value), .double):
            // Up to here every whole number is a double of its own, with the same digits.
            value.magnitude <= 1 << 53 ? .double(Double(value)) : nil
        case (.int64(let value), .decimal): .decimal(DecimalText(value))
        case (.double(let value), .decimal): DecimalText(shortestOf: value).map(FieldValue.decimal)
        default: comparableKind == kind ? self : nil
        }
    }
}

extension ColumnType {
    var isNumeric: Bool { self == .int64 || self == .double || self == .decimal }

    /// Whether values of two kinds compare.
    func compares(with other: ColumnType) -> Bool { self == other || isNumeric && other.isNumeric }
}
