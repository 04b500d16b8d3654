public import ItemCoding
public import SyncContract

// What is computed over rows, in the types of their properties. What sums, smallest and largest values are is said at
// `Aggregate`, and that it is a store's: nulls are left out, and no example stands in for them.
extension TableQuerying {
    /// The sum of a number over the rows: `late.sum(of: \.amount)`; 0 for none. Whole numbers and decimals are exact.
    ///
    /// - Throws: As ``read()``; `StoreError` with code `outOfRange` for a sum that the type cannot hold.
    public func sum<Item, Number: NumericColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>
    ) async throws -> Number.Base where Table == SyncTable<Item> {
        try await computed(rows.sum(Columns()[keyPath: column]))
    }

    /// The smallest value over the rows; nil when none has one.
    ///
    /// - Throws: As ``read()``; ``SyncError`` with code ``SyncError/Code/invalidItem`` for a value that is none of the type.
    public func min<Item, Value: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Value>>
    ) async throws -> Value.Base? where Table == SyncTable<Item> {
        let column = Columns<Item>()[keyPath: column]
        return try await computed(rows.extreme(.minimum(of: column.name), of: column))
    }

    /// The largest value over the rows; nil when none has one.
    ///
    /// - Throws: As ``min(of:)``.
    public func max<Item, Value: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Value>>
    ) async throws -> Value.Base? where Table == SyncTable<Item> {
        let column = Columns<Item>()[keyPath: column]
        return try await computed(rows.extreme(.maximum(of: column.name), of: column))
    }

    /// The average of a number over the rows that have one; nil when none has. It is the exact sum, divided once: of decimals
    /// a `Decimal` of at most 38 digits, rounded, of other numbers a `Double`.
    ///
    /// - Throws: As ``sum(of:)``, but there is an average also where the sum does not fit its type.
    public func average<Item, Number: NumericColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>
    ) async throws -> Number.Average? where Table == SyncTable<Item> {
        try await computed(rows.average(Columns()[keyPath: column]))
    }

    /// How many rows there are for each value of a column: `invoices.count(by: \.status)[.paid, default: 0]`. Where the
    /// property is not optional, the example's value stands in for null.
    ///
    /// - Throws: As ``min(of:)``.
    public func count<Item, Group: ColumnValue>(
        by group: KeyPath<Columns<Item>, Column<Group>>
    ) async throws -> [Group: Int] where Table == SyncTable<Item> {
        try await computed(rows.count(by: Columns()[keyPath: group]))
    }

    /// The sum of a number for each value of a column. Where the property is not optional, the example's value stands in for
    /// null as a group.
    ///
    /// - Throws: As ``sum(of:)`` and ``min(of:)``.
    public func sum<Item, Number: NumericColumnValue, Group: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>,
        by group: KeyPath<Columns<Item>, Column<Group>>
    ) async throws -> [Group: Number.Base] where Table == SyncTable<Item> {
        try await computed(rows.sum(Columns()[keyPath: column], by: Columns()[keyPath: group]))
    }

    private func computed<Item, Result: Sendable>(_ aggregate: ColumnAggregate<Result>) async throws -> Result
    where Table == SyncTable<Item> {
        try await rows.table.context.read { reader in try aggregate.computed { try reader.aggregate($0) } }
    }
}

// The same inside of a transaction. What each is and throws is said at ``TableQuerying``.
extension SyncReading where Self: ~Copyable {
    /// The sum of a number over the rows of a query; 0 for none.
    public mutating func sum<Item, Number: NumericColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> Number.Base {
        try computed(query.rows.sum(Columns()[keyPath: column]))
    }

    /// The smallest value over the rows of a query; nil when none has one.
    public mutating func min<Item, Value: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Value>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> Value.Base? {
        let column = Columns<Item>()[keyPath: column]
        return try computed(query.rows.extreme(.minimum(of: column.name), of: column))
    }

    /// The largest value over the rows of a query; nil when none has one.
    public mutating func max<Item, Value: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Value>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> Value.Base? {
        let column = Columns<Item>()[keyPath: column]
        return try computed(query.rows.extreme(.maximum(of: column.name), of: column))
    }

    /// The average of a number over the rows of a query that have one; nil when none has.
    public mutating func average<Item, Number: NumericColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> Number.Average? {
        try computed(query.rows.average(Columns()[keyPath: column]))
    }

    /// How many rows of a query there are for each value of a column.
    public mutating func count<Item, Group: ColumnValue>(
        by group: KeyPath<Columns<Item>, Column<Group>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> [Group: Int] {
        try computed(query.rows.count(by: Columns()[keyPath: group]))
    }

    /// The sum of a number over the rows of a query for each value of a column.
    public mutating func sum<Item, Number: NumericColumnValue, Group: ColumnValue>(
        of column: KeyPath<Columns<Item>, Column<Number>>,
        by group: KeyPath<Columns<Item>, Column<Group>>,
        in query: some TableQuerying<SyncTable<Item>>
    ) throws -> [Group: Number.Base] {
        try computed(query.rows.sum(Columns()[keyPath: column], by: Columns()[keyPath: group]))
    }

    private mutating func computed<Result>(_ aggregate: ColumnAggregate<Result>) throws -> Result {
        try aggregate.computed { try self.aggregate($0) }
    }
}
