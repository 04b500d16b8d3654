public import ItemCoding
public import SyncContract

/// Rows of a table: which, in what order, how many: `todos.where { $0.due < date && !$0.complete }.limited(to: 10)`.
///
/// A value. Nothing is read until a verb such as `read()` is called; what can be asked is at ``TableQuerying``.
public struct TableQuery<Table: QueryableTable>: TableQuerying {
    /// The table.
    public let table: Table

    /// The query without the items' type.
    public internal(set) var source: Query

    /// The query itself.
    public var rows: TableQuery<Table> { self }
}

/// A table with items that answers queries: ``SyncTable`` from the device, ``RemoteTable`` from the server.
public protocol QueryableTable: Sendable {
    /// The items' type.
    associatedtype Item: TableItem where Item.ID: RowID

    /// The name.
    var name: String { get }

    /// The items of a query, in order. A row that has none is left out and told as an event. Programs write
    /// `todos.where { … }.read()`.
    func read(_ query: Query) async throws -> [Item]

    /// The items of a query, in order, with the ids of the rows that have none, and why.
    func read(_ query: Query, onUndecodable report: (RecordID, any Error) -> Void) async throws -> [Item]

    /// The first item of a query; nil when there is none. Rows that have none are passed over and told as events.
    func first(_ query: Query) async throws -> Item?

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    func count(_ query: Query) async throws -> Int
}

extension QueryableTable {
    /// The items of a query that was made before. As ``TableQuerying/read()``.
    public func read(_ query: TableQuery<Self>) async throws -> [Item] { try await query.read() }

    /// How many rows satisfy the condition of a query that was made before. As ``TableQuerying/count()``.
    public func count(_ query: TableQuery<Self>) async throws -> Int { try await query.count() }
}

/// A table on this device: ``SyncTable``.
public protocol LocalTable: QueryableTable {}

/// What can be asked: of a whole table and of a part of its rows alike.
public protocol TableQuerying<Table>: Sendable {
    /// The table's type.
    associatedtype Table: QueryableTable

    /// The rows that are meant.
    var rows: TableQuery<Table> { get }
}

extension TableQuerying {
    /// These rows as far as they satisfy a condition: `todos.where { !$0.complete && $0.due < .now }`.
    ///
    /// Inside, the columns are there by the names of the item's properties; a comparison with a value of another type does
    /// not compile. See `Columns`.
    public func `where`(_ condition: (Columns<Table.Item>) -> QueryPredicate) -> TableQuery<Table> {
        filtered(by: condition(Columns()))
    }

    /// These rows as far as they satisfy a predicate that was made elsewhere.
    public func filtered(by predicate: QueryPredicate) -> TableQuery<Table> {
        changed { $0 = $0.filtered(by: predicate) }
    }

    /// These rows in an order: `ordered(by: \.due)`. A further order is a weaker one. See `QueryOrder.Direction`.
    public func ordered<Value: ColumnValue>(
        by column: KeyPath<Columns<Table.Item>, Column<Value>>,
        _ direction: QueryOrder.Direction = .ascending
    ) -> TableQuery<Table> {
        let name = Columns<Table.Item>()[keyPath: column].name
        return changed { $0 = $0.ordered(by: name, direction) }
    }

    /// These rows in the order of a text as people sort: `ordered(by: \.text.folded)`. See `QueryTerm.folded`.
    public func ordered<Value: TextColumnValue>(
        by column: KeyPath<Columns<Table.Item>, FoldedColumn<Value>>,
        _ direction: QueryOrder.Direction = .ascending
    ) -> TableQuery<Table> {
        let name = Columns<Table.Item>()[keyPath: column].name
        return changed { $0 = $0.ordered(by: name, direction, folded: true) }
    }

    /// These rows in the order of a column given by name.
    public func ordered(
        by column: String,
        _ direction: QueryOrder.Direction = .ascending,
        folded: Bool = false
    ) -> TableQuery<Table> {
        changed { $0 = $0.ordered(by: column, direction, folded: folded) }
    }

    /// At most so many of these rows.
    public func limited(to count: Int) -> TableQuery<Table> {
        changed { $0.limit = Swift.min(count, $0.limit ?? count) }
    }

    /// At most so many of these rows, behind the first ones, which are left out: `limited(to: 20, skipping: 40)`.
    public func limited(to count: Int, skipping offset: Int) -> TableQuery<Table> {
        limited(to: count).skipping(offset)
    }

    /// These rows without the first ones.
    public func skipping(_ count: Int) -> TableQuery<Table> { changed { $0.offset = count } }

    /// The rows, in order. One that the type cannot be made from is left out, and told as
    /// ``SyncEvent/itemLeftOut(table:id:reason:)``: a limit counts it, and so does ``count()``.
    ///
    /// - Throws: `StoreError` with code `invalidQuery`, among others for a computed property and for a column that is
    ///   compared with a value of another kind; what the table's reads throw.
    public func read() async throws -> [Table.Item] { try await rows.table.read(rows.source) }

    /// The rows, in order, with the ids of those that the type cannot be made from, and why: they are not told as events.
    ///
    /// - Throws: As ``read()``.
    public func read(onUndecodable report: (RecordID, any Error) -> Void) async throws -> [Table.Item] {
        try await rows.table.read(rows.source, onUndecodable: report)
    }

    /// The first row that the type can be made from; nil when there is none.
    ///
    /// - Throws: As ``read()``.
    public func first() async throws -> Table.Item? { try await rows.table.first(rows.source) }

    /// How many rows satisfy the condition, whatever limit and offset say.
    ///
    /// - Throws: As ``read()``.
    public func count() async throws -> Int { try await rows.table.count(rows.source) }

    /// The same as ``rows``: `todos.query.count()`. Where a query without the items' type is expected, ``SyncTable/query`` is one.
    public var query: TableQuery<Table> { rows }

    private func changed(_ change: (inout Query) -> Void) -> TableQuery<Table> {
        var result = rows
        change(&result.source)
        return result
    }
}

extension TableQuerying {
    /// The rows for which a truth value is true: `todos.where { $0.complete }`.
    public func `where`<Term: QueryTerm>(_ condition: (Columns<Table.Item>) -> Term) -> TableQuery<Table>
    where Term.Value == Bool {
        filtered(by: condition(Columns()) == true)
    }
}

extension SyncTable: QueryableTable, LocalTable, TableQuerying where Item: Codable, Item.ID: RowID {
    /// All rows.
    public var rows: TableQuery<SyncTable<Item>> { TableQuery(table: self, source: query) }
}

extension RemoteTable: QueryableTable, TableQuerying where Item: Codable, Item.ID: RowID {
    /// All rows.
    public var rows: TableQuery<RemoteTable<Item>> { TableQuery(table: self, source: query) }
}
