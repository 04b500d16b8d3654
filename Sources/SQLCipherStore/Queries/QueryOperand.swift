import QueryEvaluation
import SyncContract

/// One side of a comparison, as far as it is known before a row is looked at.
enum QueryOperand {
    /// A value that is the same for every row.
    case value(FieldValue)
    /// A column as it is stored.
    case column(Column)
    /// What is computed from columns: SQL hands it to a ``RowCondition``.
    case computed

    /// Whether it is a column or value whose values that are not null are texts.
    var isText: Bool {
        switch self {
        case .value(.string): true
        case .column(let column): column.kind == .string
        default: false
        }
    }

    /// A column: its name, the kind of its values that are not null, and whether their folded form is meant.
    struct Column: Sendable, Hashable {
        let name: String
        let kind: ColumnType
        var isFolded = false

        var sql: String { isFolded ? SearchIndex.folded(name) : name.sqlIdentifier }
    }
}

extension PredicateCompiler {
    /// Reduces an expression.
    func operand(_ expression: QueryExpression) -> QueryOperand {
        switch expression {
        case .value(let value): return .value(value)
        case .column(let name): return column(name).map(QueryOperand.column) ?? .value(.null)
        case .function(.folded, .column(let name)):
            guard let column = column(name), column.kind == .string else { return .value(.null) }
            return .column(QueryOperand.Column(name: name, kind: .string, isFolded: true))
        case .function, .operation, .substring:
            var columns: [String] = []
            expression.collectColumns(into: &columns)
            return columns.isEmpty ? .value(expression.value { _ in .null }) : .computed
        }
    }

    /// A declared column; nil for others, which the check of the query has refused.
    func column(_ name: String) -> QueryOperand.Column? {
        let idKind: ColumnType = layout.definition.idKind == .int64 ? .int64 : .string
        let kind = name == "id" ? idKind : layout.definition.type(of: name)
        return kind.map { QueryOperand.Column(name: name, kind: $0) }
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
