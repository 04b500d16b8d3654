internal import SyncContract

/// Conditions in the server's ids.
extension IdentifierTranslation {
    /// A query as the server is asked it: the values with which ids, and columns that hold ids, are compared are the server's.
    /// Those that the server has not given stay as they are, and are found nowhere.
    func outgoing(_ query: Query, _ transaction: inout some StoreReading & ~Copyable) throws -> Query {
        guard isNeeded, let predicate = query.predicate else { return query }
        var query = query
        query.predicate = try outgoing(predicate, &transaction)
        return query
    }

    private func outgoing(
        _ predicate: QueryPredicate,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> QueryPredicate {
        switch predicate {
        case .comparison(.column(let column), let comparison, .value(let value)):
            return .comparison(.column(column), comparison, .value(try outgoing(value, column, &transaction)))
        case .comparison(.value(let value), let comparison, .column(let column)):
            return .comparison(.value(try outgoing(value, column, &transaction)), comparison, .column(column))
        case .isAnyOf(.column(let column), let values):
            return .isAnyOf(.column(column), try values.map { try outgoing($0, column, &transaction) })
        case .all(let parts): return .all(try parts.map { try outgoing($0, &transaction) })
        case .any(let parts): return .any(try parts.map { try outgoing($0, &transaction) })
        case .not(let part): return .not(try outgoing(part, &transaction))
        default: return predicate
        }
    }

    private func outgoing(
        _ value: FieldValue,
        _ column: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> FieldValue {
        let other = column == "id" && table.assignsIDs ? table : references.first { $0.column == column }?.table
        guard let other, let id = value.stringValue else { return value }
        return try IdentifierMapping.serverIDs(of: [id], in: other, &transaction).values.first
            .map(FieldValue.string) ?? value
    }
}
