public import SyncContract

/// Untyped rows of a table: which, in what order, how many:
/// `todos.filtered(by: Column("complete") == false).ordered(by: "due").limited(to: 10)`.
///
/// A value. Nothing is read until a verb such as `read()` is called; what can be asked is at ``RecordQuerying``.
public struct RecordQuery: RecordQuerying, SyncSource {
    /// The table.
    public let table: SyncTable<Record>

    /// The query itself, for stores and tools.
    public internal(set) var source: Query

    /// The query itself.
    public var records: RecordQuery { self }
}

/// What can be asked of untyped rows: of a whole table and of a part of its rows alike. Items of a type have the same with
/// their properties as columns: ``TableQuerying``.
public protocol RecordQuerying: Sendable {
    /// The rows that are meant.
    var records: RecordQuery { get }
}

extension SyncTable: RecordQuerying where Item == Record {
    /// All rows.
    public var records: RecordQuery { RecordQuery(table: self, source: query) }
}

extension RecordQuerying {
    /// These rows as far as they satisfy a condition: `todos.filtered(by: Column("due") < date)`.
    public func filtered(by predicate: QueryPredicate) -> RecordQuery {
        changed { $0 = $0.filtered(by: predicate) }
    }

    /// These rows in the order of a column. A further order is a weaker one. See `Query.ordered(by:_:folded:)`.
    public func ordered(
        by column: String,
        _ direction: QueryOrder.Direction = .ascending,
        folded: Bool = false
    ) -> RecordQuery {
        changed { $0 = $0.ordered(by: column, direction, folded: folded) }
    }

    /// At most so many of these rows.
    public func limited(to count: Int) -> RecordQuery { changed { $0.limit = Swift.min(count, $0.limit ?? count) } }

    /// At most so many of these rows, behind the first ones, which are left out.
    public func limited(to count: Int, skipping offset: Int) -> RecordQuery { limited(to: count).skipping(offset) }

    /// These rows without the first ones.
    public func skipping(_ count: Int) -> RecordQuery { changed { $0.offset = count } }

    /// The rows, in order.
    ///
    /// - Throws: As `SyncTable.read(_:)`.
    public func read() async throws -> [Record] { try await records.table.read(records.source).records }

    /// The first row; nil when there is none.
    ///
    /// - Throws: As ``read()``.
    public func first() async throws -> Record? { try await limited(to: 1).read().first }

    /// How many rows satisfy the condition, whatever limit and offset say.
    ///
    /// - Throws: As ``read()``.
    public func count() async throws -> Int { try await records.table.count(records.source) }

    /// The rows, in order: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`.
    public func observe() -> StoreObservation<[Record]> {
        let (table, source) = (records.table, records.source)
        return table.context.store.observe(tables: source.readTables) {
            try table.check(source)
            return try $0.records(source)
        }
    }

    /// The rows in batches of at most so many, for results larger than memory. See
    /// `SyncContextDataSource.batches(of:size:)`.
    public func batches(of size: Int) -> QueryBatches {
        let (table, source) = (records.table, records.source)
        return table.context.store.batches(of: source, size: size, checkedFor: table.definition)
    }

    /// Deletes the rows here, and with the next push on the server: all or nothing.
    ///
    /// - Returns: How many there were.
    /// - Throws: As `SyncTransaction.delete(_:)`.
    @discardableResult
    public func delete() async throws -> Int {
        let source = records.source
        return try await records.table.context.write { try $0.delete(source) }
    }

    private func changed(_ change: (inout Query) -> Void) -> RecordQuery {
        var result = records
        change(&result.source)
        return result
    }
}
