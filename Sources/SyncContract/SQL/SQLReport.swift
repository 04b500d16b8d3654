internal import Synchronization

/// What a statement in SQL gives: to be read, or to be observed. A value; nothing is read before.
public struct SQLReport<Row: Sendable>: Sendable {
    private let store: any SyncContextDataSource
    private let query: SQLQuery
    private let decode: @Sendable ([SQLRow]) throws -> [Row]

    package init(
        _ store: any SyncContextDataSource,
        _ query: SQLQuery,
        _ decode: @escaping @Sendable ([SQLRow]) throws -> [Row]
    ) {
        self.store = store
        self.query = query
        self.decode = decode
    }

    /// The rows, as of one instant. Cancelling the task ends a statement that runs, however long it would.
    ///
    /// - Throws: As ``StoreReading/rows(_:)``, and ``StoreError/Code/invalidItem`` for a row that does not fit the
    ///   type.
    public func read() async throws -> [Row] {
        try await decode(store.read { [query] in try $0.rows(query) })
    }

    /// The first row; nil when there is none. The others are read as well: `LIMIT 1` in the statement spares them.
    ///
    /// - Throws: As ``read()``.
    public func first() async throws -> Row? { try await read().first }

    /// The rows now, and again after each commit that changes them. A commit that touches no table that the statement
    /// reads is not looked at. What else is promised, and how it ends, is said at ``StoreObservation``.
    public func observe() -> StoreObservation<[Row]> {
        // What it reads is known when it was read for the first time.
        let tables = ReadTables(Set(store.schema.tables.map(\.name)))
        return StoreObservation(of: store, tables: tables.names) { [query] reader in
            var rows: [SQLRow] = []
            tables.names = try reader.forEach(query) { rows.append($0) }
            return rows
        } transform: { [decode] in
            try decode($0)
        }
    }
}

/// The tables that a statement reads.
private final class ReadTables: Sendable {
    private let value: Mutex<Set<String>>

    init(_ names: Set<String>) { value = Mutex(names) }

    var names: Set<String> {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

extension SyncContextDataSource {
    /// A report in SQL, as rows without a type: see ``SQLQuery``.
    ///
    /// For stores with the capability ``StoreCapabilities/sql``; reading throws ``StoreError/Code/unsupported``
    /// otherwise.
    public func sql(_ query: SQLQuery) -> SQLReport<SQLRow> { SQLReport(self, query) { $0 } }
}

extension StoreReadBackend {
    /// Refuses: this store has no SQL.
    public func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        throw StoreError(
            .unsupported,
            "This store has no SQL; its capability 'sql' would say so. Use queries and aggregates, which every store"
                + " answers."
        )
    }
}

extension StoreReading where Self: ~Copyable {
    /// The rows of a statement in SQL, in its order.
    ///
    /// - Throws: ``StoreError/Code/unsupported`` without the capability ``StoreCapabilities/sql``;
    ///   ``StoreError/Code/invalidQuery`` for a statement that is not taken, and for one that fails while it runs;
    ///   ``StoreError/Code/outOfRange`` for a sum that is too large; `CancellationError`.
    public mutating func rows(_ query: SQLQuery) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try forEach(query) { rows.append($0) }
        return rows
    }
}
