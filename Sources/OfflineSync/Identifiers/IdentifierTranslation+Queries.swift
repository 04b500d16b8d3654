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
            let names = try names(of: value, column, &transaction)
            return Self.membership(of: column, comparison, names)
                ?? .comparison(.column(column), comparison, .value(names[0]))
        case .comparison(.value(let value), let comparison, .column(let column)):
            let names = try names(of: value, column, &transaction)
            return Self.membership(of: column, comparison, names)
                ?? .comparison(.value(names[0]), comparison, .column(column))
        case .isAnyOf(.column(let column), let values):
            return .isAnyOf(.column(column), try values.flatMap { try names(of: $0, column, &transaction) })
        case .all(let parts): return .all(try parts.map { try outgoing($0, &transaction) })
        case .any(let parts): return .any(try parts.map { try outgoing($0, &transaction) })
        case .not(let part): return .not(try outgoing(part, &transaction))
        default: return predicate
        }
    }

    /// The comparison with several names of one row; nil where one of them is enough, or none is more equal than another.
    private static func membership(
        of column: String,
        _ comparison: QueryComparison,
        _ names: [FieldValue]
    ) -> QueryPredicate? {
        guard names.count > 1 else { return nil }
        return switch comparison {
        case .equal: .isAnyOf(.column(column), names)
        case .notEqual: .not(.isAnyOf(.column(column), names))
        default: nil
        }
    }

    /// The values by which rows of the server may name the row that a value names here: that is the server's id, and those that
    /// the row had before it was made anew there, in their order. There is always one.
    private func names(
        of value: FieldValue,
        _ column: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [FieldValue] {
        let name = try outgoing(value, column, &transaction)
        guard let other = references.first(where: { $0.column == column })?.table, let id = value.stringValue else {
            return [name]
        }
        let former = try IdentifierMapping.formerIDs(of: id, in: other, &transaction).map(FieldValue.string)
        return [name] + former.filter { $0 != name }
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
