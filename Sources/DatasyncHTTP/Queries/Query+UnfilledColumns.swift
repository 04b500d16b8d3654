internal import SyncContract

extension Query {
    /// The columns that it names besides the server's own, by their names in lower case: servers take either. The predicate must
    /// be normalized.
    var namedColumns: [String: String] {
        var names = order.map(\.column) + (selection ?? [])
        predicate?.collectColumns(into: &names)
        return Dictionary(names.map { ($0.lowercased(), $0) }) { first, _ in first }
            .filter { !["id", "createdat", "updatedat", "version", "deleted"].contains($0.key) }
    }

    /// Whether it asks for rows by their ids: what was found out for those that it follows holds.
    var asksByID: Bool {
        guard case .all(let parts)? = predicate else { return predicate?.namesIDs ?? false }
        return parts.contains(where: \.namesIDs)
    }

    /// The same query where some columns, in lower case, are null in every row, without naming them.
    func withoutValues(in columns: Set<String>) -> Query {
        var query = self
        query.predicate = query.predicate?.withoutValues(in: columns)
        query.order.removeAll { columns.contains($0.column.lowercased()) }
        query.selection?.removeAll { columns.contains($0.lowercased()) }
        return query
    }
}

extension QueryPredicate {
    fileprivate var namesIDs: Bool { if case .isAnyOf(.column("id"), _) = self { true } else { false } }

    fileprivate func withoutValues(in columns: Set<String>) -> QueryPredicate {
        switch self {
        case .constant, .words: return self
        case .all(let parts): return .all(parts.map { $0.withoutValues(in: columns) })
        case .any(let parts): return .any(parts.map { $0.withoutValues(in: columns) })
        case .not(let part): return .not(part.withoutValues(in: columns))
        case .comparison(let left, let comparison, let right):
            let (left, right) = (left.withoutValues(in: columns), right.withoutValues(in: columns))
            // Said here, where it is known: servers need not be asked about a null and a value.
            guard case (.value(let one), .value(let other)) = (left, right), one.isNull || other.isNull else {
                return .comparison(left, comparison, right)
            }
            switch comparison {
            case .equal: return .constant(one.isNull && other.isNull)
            case .notEqual: return .constant(one.isNull != other.isNull)
            case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
            }
        case .match(let text, let match, let pattern):
            let (text, pattern) = (text.withoutValues(in: columns), pattern.withoutValues(in: columns))
            return text.kind == .null || pattern.kind == .null ? .constant(false) : .match(text, match, pattern)
        case .isAnyOf(let expression, let values):
            let expression = expression.withoutValues(in: columns)
            guard case .value(.null) = expression else { return .isAnyOf(expression, values) }
            return .constant(values.contains(where: \.isNull))
        }
    }
}

extension QueryExpression {
    /// The expression, or null where it has a value in no row any more.
    fileprivate func withoutValues(in columns: Set<String>) -> QueryExpression {
        let expression: QueryExpression =
            switch self {
            case .column(let name): columns.contains(name.lowercased()) ? .value(.null) : self
            case .value: self
            case .function(let function, let operand): .function(function, operand.withoutValues(in: columns))
            case .operation(let left, let symbol, let right):
                .operation(left.withoutValues(in: columns), symbol, right.withoutValues(in: columns))
            case .substring(let text, let start, let count):
                .substring(
                    text.withoutValues(in: columns),
                    from: start.withoutValues(in: columns),
                    count: count?.withoutValues(in: columns)
                )
            }
        return expression.kind == .null ? .value(.null) : expression
    }
}
