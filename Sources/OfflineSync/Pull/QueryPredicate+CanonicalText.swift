internal import SyncContract

extension QueryPredicate {
    /// A text that is the same for equal predicates and differs for different ones: a delta token belongs to it. The
    /// predicate must be normalized.
    var canonicalText: String {
        switch self {
        case .constant(let value): "(\(value))"
        case .all(let parts): "(and " + parts.map(\.canonicalText).joined(separator: " ") + ")"
        case .any(let parts): "(or " + parts.map(\.canonicalText).joined(separator: " ") + ")"
        case .not(let part): "(not \(part.canonicalText))"
        case .comparison(let left, let comparison, let right):
            "(\(comparison) \(left.canonicalText) \(right.canonicalText))"
        case .match(let text, let match, let pattern): "(\(match) \(text.canonicalText) \(pattern.canonicalText))"
        case .words(let text, let match, let columns):
            "(words \(JSONText.quoted(text)) \(match) " + columns.joined(separator: " ") + ")"
        case .isAnyOf(let expression, let values):
            "(in \(expression.canonicalText) " + values.map(\.canonicalText).joined(separator: " ") + ")"
        }
    }
}

extension QueryExpression {
    fileprivate var canonicalText: String {
        switch self {
        case .column(let name): name
        case .value(let value): value.canonicalText
        case .function(let function, let operand): "(\(function) \(operand.canonicalText))"
        case .operation(let left, let symbol, let right): "(\(symbol) \(left.canonicalText) \(right.canonicalText))"
        case .substring(let text, let start, let count):
            "(substring \(text.canonicalText) \(start.canonicalText)" + (count.map { " " + $0.canonicalText } ?? "")
                + ")"
        }
    }
}

extension FieldValue {
    fileprivate var canonicalText: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .double(let value): "double:\(value)"
        case .decimal(let value): "decimal:\(value)"
        case .string(let value): JSONText.quoted(value)
        case .date(let value): "date:\(value.milliseconds)"
        case .bytes(let value): "bytes:\(value)"
        case .json(let value): "json:\(JSONText.quoted(value.text))"
        }
    }
}
