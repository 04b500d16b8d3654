/// What is computed over the rows of a query.
///
/// - A count is that of the rows, nulls included; a count of values is that of the rows with a value in a column.
/// - A sum is that of the values of a column of numbers, nulls left out, and has the column's type; without a value it
///   is 0. Sums of whole numbers and of decimals are exact, and do not depend on the order of the rows. A sum of whole
///   numbers that does not fit 64 bits is an error, and so is one of decimals that have a digit other than zero more
///   than 100,000 places before or behind the point. A decimal sum is written without an exponent, and without zeros
///   that mean nothing. A sum of doubles is the exact sum, rounded once: it does not depend on the order of the rows
///   either. An infinity makes the sum infinite; infinities of both signs are an error.
/// - The smallest and the largest value are those by the comparison that ``Query`` describes, nulls left out; without a
///   value they are null. Of decimals that are the same number, the smallest has the text that comes first by its
///   bytes, and the largest the one that comes last. Dates come in whole milliseconds.
public enum Aggregate: Sendable, Hashable {
    /// How many rows there are.
    case count
    /// How many rows have a value in a column of any type, `id` included.
    case valueCount(of: String)
    /// The sum of a column of whole numbers, doubles or decimals.
    case sum(of: String)
    /// The smallest value of a column of any type, `id` included.
    case minimum(of: String)
    /// The largest value of a column of any type, `id` included.
    case maximum(of: String)

    /// The column it is computed from; nil for a count.
    package var column: String? {
        switch self {
        case .count: nil
        case .valueCount(let column), .sum(let column), .minimum(let column), .maximum(let column): column
        }
    }
}

/// What to compute over the rows of a query, as a value: made by ``Query/aggregating(_:by:)``.
///
/// The rows are those that the query gives, its order, offset and limit included; its selection does not matter.
public struct AggregateQuery: Sendable, Hashable {
    /// Whose rows are looked at.
    public var rows: Query

    /// What is computed, for all rows or for each group of them.
    public var aggregates: [Aggregate]

    /// The column by whose values the rows are put into groups; nil for all rows as one.
    ///
    /// Any declared column, `id`, and the name of ``Column/syncState``. Values that compare equal are one group, and so
    /// are nulls. A group of decimals has the text that comes first by its bytes, one of dates comes in whole
    /// milliseconds.
    public var group: String?

    /// Creates a query.
    public init(_ rows: Query, _ aggregates: [Aggregate], by group: String? = nil) {
        self.rows = rows
        self.aggregates = aggregates
        self.group = group
    }
}

/// What was computed over one group of rows.
public struct AggregateGroup: Sendable, Hashable {
    /// The value that the rows share in the column they were grouped by; null without such a column.
    public var group: FieldValue

    /// The results, in the order in which they were asked for.
    public var values: [FieldValue]

    /// Creates a result.
    public init(group: FieldValue = .null, values: [FieldValue]) {
        self.group = group
        self.values = values
    }
}

extension Query {
    /// What to compute over the rows of this query, for all of them or by the values of a column.
    ///
    /// ```swift
    /// let open = Query("Invoice").filtered(by: Column("paid") == false)
    /// let totals = try await store.aggregate(open.aggregating(.count, .sum(of: "amount"), by: "customer"))
    /// ```
    public func aggregating(_ aggregates: Aggregate..., by group: String? = nil) -> AggregateQuery {
        AggregateQuery(self, aggregates, by: group)
    }
}

extension AggregateQuery {
    /// Refuses what a column cannot be asked for.
    ///
    /// So does every store, before it reads a row, beside what ``Query/validate(for:)`` refuses.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidQuery`` for a column that is not declared, and for a
    ///   sum of a column that holds no numbers.
    public func validate(for table: TableDefinition) throws(StoreError) {
        for column in aggregates.compactMap(\.column) + [group].compactMap(\.self) where table.kind(of: column) == nil {
            if column == group, column == SyncStateTerm.name { continue }
            throw .invalidQuery(
                "Table '\(table.name)' has no declared column '\(column)'; declare it to compute with it."
            )
        }
        for case .sum(let column) in aggregates {
            switch table.kind(of: column) {
            case .int64, .double, .decimal: break
            default:
                throw .invalidQuery("Column '\(column)' of '\(table.name)' holds no numbers; its values have no sum.")
            }
        }
    }

    /// Whether the states of rows matter.
    package var asksForSyncStates: Bool { group == SyncStateTerm.name || rows.asksForSyncStates }

    /// The tables that decide what the query gives.
    package var readTables: Set<String> {
        asksForSyncStates ? rows.readTables.union([SystemTables.operations.name]) : rows.readTables
    }

    /// The query whose rows have what it takes, and nothing else.
    package var neededRows: Query {
        var needed = rows
        needed.selection =
            aggregates.compactMap(\.column) + [group].compactMap(\.self).filter { $0 != SyncStateTerm.name }
        needed.includesTotalCount = false
        needed.includesSyncStates = group == SyncStateTerm.name
        // The order decides only which rows a limit leaves.
        if needed.limit == nil, needed.offset == 0 { needed.order = [] }
        return needed
    }
}

extension TableDefinition {
    /// The type of a column's values, that of `id` included; nil for a column that is not declared.
    package func kind(of column: String) -> ColumnType? {
        guard column == "id" else { return type(of: column) }
        return idKind == .int64 ? .int64 : .string
    }
}
