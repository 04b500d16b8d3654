public import SyncContract

/// A server as the sync engine sees it: rows of tables, one request at a time.
///
/// An adapter translates these calls to a wire protocol. It keeps no rows and makes no decision about conflicts.
/// Cancelling the calling task ends a request early with `CancellationError`; the server may still have carried it out.
/// For reports, it tells ``RequestCounter/countRequest()`` of every request that it sends.
public protocol SyncRemote: Sendable {
    /// Whether ``update(_:in:version:restoring:)`` replaces the whole row, so that a column left out is blanked.
    ///
    /// True for protocol 3. The engine then refuses to update rows of a store that cannot keep undeclared columns.
    var replacesWholeRows: Bool { get }

    /// Creates a row and returns it as the server keeps it, system properties included.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/conflict`` when the id exists; its
    ///   ``RemoteError/serverRecord`` is the server's row, tombstones included, or nil when it cannot be had.
    func insert(_ record: Record, into table: TableDefinition) async throws -> Record

    /// Writes a row and returns it as the server keeps it, system properties included.
    ///
    /// - Parameters:
    ///   - record: The whole local row. System properties in it are not sent.
    ///   - table: The table.
    ///   - version: The server version the change is based on; nil overwrites whatever the server has.
    ///   - restoring: Whether a row that was deleted on the server is to be brought back.
    /// - Returns: The row as the server keeps it now.
    /// - Throws: ``RemoteError``: ``RemoteError/Code/conflict`` when the server's version is another one, or when the
    ///   row is deleted there and `restoring` is false; ``RemoteError/Code/notFound`` when there is no such row.
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record

    /// Deletes a row. A row that is deleted already, or does not exist, is no error.
    ///
    /// - Returns: What the server said. ``RemoteDeletion/unconfirmed(status:)`` is also what an address says that has no
    ///   such table: see ``confirm(_:)``.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/conflict`` when `version` is given and the server's is
    ///   another one.
    @discardableResult
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion

    /// One row, tombstones included; nil when the server answers that it has none. So does an address that has no such
    /// table: see ``confirm(_:)``.
    func record(_ id: String, in table: TableDefinition) async throws -> Record?

    /// Makes sure that the address has the table: asks for a page without rows.
    ///
    /// The answer to an unknown row is also that of an unknown table and of a wrong path. The engine believes it only
    /// after this has succeeded in the same push or pull.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/notFound``, which names the address, when it answers with
    ///   anything else than a page.
    func confirm(_ table: TableDefinition) async throws

    /// One page of a query's rows, in the query's order, tombstones included.
    func page(_ query: Query, of table: TableDefinition) async throws -> RemotePage
}

/// What a server said to a deletion that it did not refuse.
public enum RemoteDeletion: Sendable, Hashable {
    /// The row is deleted; nothing but a table answers like this.
    case confirmed
    /// The server has no such row (404, 410), or said nothing at all.
    case unconfirmed(status: Int)
}

/// One page of rows.
public struct RemotePage: Sendable, Hashable {
    /// The rows in the query's order. Tombstones have `deleted` set to true.
    public var records: [Record]

    /// Whether the server said that nothing follows. False when more follows or when it did not say.
    public var isKnownToBeLast: Bool

    /// How many rows satisfy the query, this page included; nil when the server did not say.
    public var totalCount: Int?

    /// Creates a page.
    public init(records: [Record], isKnownToBeLast: Bool, totalCount: Int? = nil) {
        self.records = records
        self.isKnownToBeLast = isKnownToBeLast
        self.totalCount = totalCount
    }
}
