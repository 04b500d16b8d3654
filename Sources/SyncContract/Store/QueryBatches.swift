extension SyncContextDataSource {
    /// The rows of a query in batches of at most the given size, in the query's order, for results larger than memory.
    ///
    /// ```swift
    /// for try await records in store.batches(of: Query("Photo").ordered(by: "takenAt"), size: 500) { … }
    /// ```
    ///
    /// No transaction stays open from one batch to the next: writers are not held up, and each batch sees the state of
    /// its own instant. The next batch begins behind the last row of the one before, by that row's values in the
    /// order's columns and its id. So a row that satisfies the predicate all the time and whose values in the order's
    /// columns do not change is given exactly once, whatever else is written; one that comes, goes or moves in between
    /// may be missed or given twice. The offset counts rows at the instant of the first batch. For all rows of one
    /// instant use `StoreReading.forEach(_:_:)` in one transaction.
    ///
    /// No more than one batch is in memory. A batch is found by an index when the order is by id, or begins with an
    /// ascending column that an index begins with; otherwise each batch goes through the table.
    ///
    /// A total count is not taken. Iteration throws what `SyncContextDataSource.read(_:)` throws, `CancellationError`
    /// included, and ``StoreError/Code/invalidQuery`` for a size below 1 and a predicate that is too large with the
    /// condition for the place: it adds up to three levels. After an error it ends.
    public func batches(of query: Query, size: Int) -> QueryBatches {
        QueryBatches(store: self, query: query, size: size, table: nil)
    }

    /// As ``batches(of:size:)``, refusing what no row of a table can satisfy.
    package func batches(of query: Query, size: Int, checkedFor table: TableDefinition) -> QueryBatches {
        QueryBatches(store: self, query: query, size: size, table: table)
    }
}

/// The rows of a query in batches: see ``SyncContextDataSource/batches(of:size:)``. Each iteration begins anew.
public struct QueryBatches: AsyncSequence, Sendable {
    fileprivate let store: any SyncContextDataSource
    fileprivate let query: Query
    fileprivate let size: Int
    /// The table whose columns have what the query compares them with.
    fileprivate let table: TableDefinition?

    /// Begins with the first batch.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads one batch after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let batches: QueryBatches
        private var next: Query?

        fileprivate init(_ batches: QueryBatches) {
            self.batches = batches
            var first = batches.query
            first.includesTotalCount = false
            // The place of the last row is known by these.
            let ordering = first.order.map(\.column)
            first.selection = first.selection.map { $0 + ordering.filter { $0 != SyncStateTerm.name } }
            first.includesSyncStates = first.includesSyncStates || ordering.contains(SyncStateTerm.name)
            next = first
        }

        /// The next batch, which is never empty; nil when there are no more rows.
        public mutating func next() async throws -> [Record]? {
            guard var query = next else { return nil }
            next = nil
            guard batches.size > 0 else { throw StoreError.invalidQuery("Batches need a size of 1 or more.") }
            if let table = batches.table { try batches.query.checkKinds(for: table) }
            let remaining = query.limit
            query.limit = Swift.min(batches.size, remaining ?? batches.size)
            let batch = query
            var records = try await batches.store.read { try $0.records(batch) }
            guard let last = records.last else { return nil }
            if records.count == batches.size {
                query.limit = remaining.map { $0 - records.count }
                query.offset = 0
                let place = QueryPredicate.follows(last, in: query.order)
                query.predicate = batches.query.predicate.map { $0 && place } ?? place
                next = query.limit == 0 ? nil : query
            }
            if batch.includesSyncStates, !batches.query.includesSyncStates {
                for index in records.indices { records[index].syncState = nil }
            }
            guard let selection = batches.query.selection else { return records }
            return records.map { $0.selecting(selection) }
        }
    }
}

extension QueryPredicate {
    /// Whether a row comes behind another in an order that ends with the id.
    package static func follows(_ row: Record, in order: [QueryOrder]) -> QueryPredicate {
        var same: [QueryPredicate] = []
        var alternatives: [QueryPredicate] = []
        for entry in order + [QueryOrder(column: "id")] {
            let term = entry.term
            let value = row[entry.column] ?? .null
            if let larger = term.isBehind(value, entry.direction) { alternatives.append(.all(same + [larger])) }
            // No two rows have one id: what the order says after it decides nothing.
            if entry.isUnique { break }
            same.append(term == value)
        }
        let follows = QueryPredicate.any(alternatives)
        // Said once more at the start, because SQLite finds the place by an index through this and not through the rest.
        guard let first = order.first, !first.isUnique, first.direction == .ascending, let value = row[first.column],
            !value.isNull
        else { return follows }
        return first.term >= value && follows
    }
}

extension QueryOrder {
    /// What rows are ordered by. A comparison of folded text folds the value as well.
    fileprivate var term: ComputedTerm<FieldValue> {
        ComputedTerm(isFolded ? .folded(.column(column)) : .column(column))
    }

    fileprivate var isUnique: Bool { column == "id" && !isFolded }
}

extension QueryTerm<FieldValue> {
    /// Whether the term comes behind a value; nil when it never does. Nulls are smaller than anything.
    fileprivate func isBehind(_ value: FieldValue, _ direction: QueryOrder.Direction) -> QueryPredicate? {
        switch (direction, value.isNull) {
        case (.ascending, true): self != .null
        case (.ascending, false): self > value
        case (.descending, true): nil
        case (.descending, false): self < value || self == .null
        }
    }
}
