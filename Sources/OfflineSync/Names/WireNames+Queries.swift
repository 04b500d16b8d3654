internal import SyncContract

/// Queries in the names of the server.
extension WireNames {
    /// A query as the server is asked it. Columns that stay here must not be in it.
    func outgoing(_ query: Query) -> Query {
        var query = query
        query.table = table.name
        query.predicate = query.predicate.map(outgoing)
        query.order = query.order.map { entry in
            QueryOrder(column: wireName(of: entry.column), direction: entry.direction, isFolded: entry.isFolded)
        }
        query.selection = query.selection.map { $0.map(wireName) }
        return query
    }

    private func outgoing(_ predicate: QueryPredicate) -> QueryPredicate {
        switch predicate {
        case .constant: predicate
        case .comparison(let left, let comparison, let right): .comparison(outgoing(left), comparison, outgoing(right))
        case .match(let text, let match, let pattern): .match(outgoing(text), match, outgoing(pattern))
        case .isAnyOf(let expression, let values): .isAnyOf(outgoing(expression), values)
        case .words(let text, let match, let columns): .words(text, match, in: columns.map(wireName))
        case .all(let parts): .all(parts.map(outgoing))
        case .any(let parts): .any(parts.map(outgoing))
        case .not(let part): .not(outgoing(part))
        }
    }

    private func outgoing(_ expression: QueryExpression) -> QueryExpression {
        switch expression {
        case .column(let name): .column(wireName(of: name))
        case .value: expression
        case .function(let function, let operand): .function(function, outgoing(operand))
        case .operation(let left, let symbol, let right): .operation(outgoing(left), symbol, outgoing(right))
        case .substring(let text, let start, let count):
            .substring(outgoing(text), from: outgoing(start), count: count.map(outgoing))
        }
    }
}
