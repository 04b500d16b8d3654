public import SyncContract

/// A server as the sync engine sees it: rows of tables, one request at a time.
///
/// An adapter translates these calls to a wire protocol. It keeps no rows and makes no decision about conflicts.
/// A change is sent once: whether it is sent again is for the engine to decide. Columns that the table does not declare
/// come with rows and go back with them; columns that stay on this device, and system properties, are never sent.
/// `createdAt` is such a property unless the remote says otherwise (``keepsCreatedAt``).
/// Cancelling the calling task ends a request early with `CancellationError`; the server may still have carried it out.
/// For reports, it tells ``RequestCounter/countRequest()`` of every request that it sends.
///
/// A row that does not fit its table is an error with code ``RemoteError/Code/unfitRow`` where a single row is read or
/// written, and is set aside in pages. A write that throws it was carried out, in all its steps. In a conflict such a row is
/// the ``RemoteError/cause``, and ``RemoteError/serverRecord`` nil: what is decided can then go over its version.
public protocol SyncRemote: Sendable {
    /// Whether ``update(_:in:version:restoring:)`` replaces the whole row, so that a column left out is blanked.
    ///
    /// True for protocol 3. The engine then refuses to update rows of a store that cannot keep undeclared columns.
    var replacesWholeRows: Bool { get }

    /// Which ids of new rows the server takes: ``RowIDRule/standard`` by default.
    var idRule: RowIDRule { get }

    /// The most operations that ``send(_:)`` takes at a time, 1 or more: 1 by default. With 1 the engine makes single calls.
    var maximumBatchSize: Int { get }

    /// Sends changes together; one by one by default.
    ///
    /// They are independent of each other: one that is not taken stops none behind it, so those that depend on another one
    /// belong into another batch. No two are of one row.
    ///
    /// - Parameter batch: At most ``maximumBatchSize`` operations; for none, nothing is sent.
    /// - Returns: What became of each, in the order of the batch: what its single call returns, or the error that it throws.
    /// - Throws: ``RemoteError`` and `CancellationError`, which then say the same of every operation. Where a server
    ///   refuses a batch because of one of them, or for its size, the remote makes the single calls instead.
    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>]

    /// Whether bringing a row back takes several requests, so that the tombstone is better written first; see
    /// ``writeTombstone(_:in:version:)``. True for protocol 2.
    var restoresInSteps: Bool { get }

    /// Whether `createdAt` is a column like any other to the server, so that its values are handed over and go back with their
    /// rows: a server that replaces whole rows would blank it otherwise. True for protocol 3.
    var keepsCreatedAt: Bool { get }

    /// Creates a row and returns it as the server keeps it, system properties included. In a table that assigns ids the
    /// record's id is not sent, and the row has the one that the server has chosen.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/conflict`` when the id exists; its
    ///   ``RemoteError/serverRecord`` is the server's row, tombstones included, or nil when it cannot be had, and
    ///   ``RemoteError/Code/refused`` where the server does not say that it is for the id; with code
    ///   ``RemoteError/Code/storedUnderAnotherID`` and that row when the server chose another id.
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
    ///   such table, see ``confirm(_:)``, or something in front of the server: the engine looks the row up.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/conflict`` when `version` is given and the server's is
    ///   another one.
    @discardableResult
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion

    /// Makes sure that a row is a tombstone that no request sent earlier can undo when it arrives late.
    ///
    /// Without a version the row is created as deleted, so that an insert that may still arrive finds the id taken. With
    /// the version of a tombstone, that tombstone is written anew: it stays deleted under another version, so that a
    /// restore that was based on the old one cannot succeed any more.
    ///
    /// This is also the first step of bringing a row back where the remote ``restoresInSteps``: the tombstone gets the
    /// content, and the restoring update, with the version that came back, shows it. Nobody sees what was deleted in
    /// between, and whoever is interrupted goes on from a version that is known.
    ///
    /// A server that has no such request is asked in steps, creating or restoring the row first and deleting it with the
    /// version that came back. When this ends in between, the row is there with the record's content.
    ///
    /// - Parameters:
    ///   - record: The whole row: what was last sent, or what is to be brought back. System properties in it are not sent.
    ///   - table: The table.
    ///   - version: The tombstone's version; nil for a row of which the server is believed to know nothing.
    /// - Returns: The tombstone; nil when the server does not show it.
    /// - Throws: ``RemoteError``: ``RemoteError/Code/conflict`` with the server's row, tombstones included, when the id
    ///   exists and no version is given, or when the server's version is another one; ``RemoteError/Code/notFound`` when
    ///   a version is given and there is no such row, so that there is nothing to restore.
    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record?

    /// One row, tombstones included; nil when the server answers that it has none. So does an address that has no such
    /// table: see ``confirm(_:)``.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/unfitRow`` for a row that does not fit the table.
    func record(_ id: String, in table: TableDefinition) async throws -> Record?

    /// Makes sure that the address has the table: asks for a page without rows.
    ///
    /// The answer to an unknown row is also that of an unknown table and of a wrong path. The engine believes it only
    /// after this has succeeded in the same push or pull.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/notFound``, which names the address, when it answers with
    ///   anything else than a page.
    func confirm(_ table: TableDefinition) async throws

    /// One page of a pull, tombstones included.
    ///
    /// Paging is the remote's: it says where the pull goes on, and where the next one starts. What it promises is that
    /// pulls which follow one cursor after the other bring every change of every row, whatever is written meanwhile; rows
    /// may come again. A row that changes while it is looked for may come in the next pull only. A row that cannot be had
    /// is set aside and holds up no other.
    ///
    /// - Parameters:
    ///   - query: The table and a predicate, the same for all pages of a pull. A limit bounds the number of rows of a
    ///     pull of everything; other pulls have none.
    ///   - table: The table.
    ///   - position: Which page: the first one of a kind of pull, or what the page before names as the next.
    ///   - pageSize: How many rows to ask for at a time, 1 or more; nil leaves it to the server.
    /// - Returns: The page, and where the pull goes on.
    /// - Throws: ``RemoteError``, ``RemoteError/Code/invalidRequest`` before anything is sent for a query that the
    ///   server would refuse.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage

    /// The same with further parameters for the service, by name; the same ones for all pages of a pull.
    ///
    /// A remote that leaves this out takes no parameters.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage

    /// Refuses further parameters that no pull can have, such as ones that are the protocol's own. The engine asks before it
    /// sends anything for a pull with parameters, the changes that are pushed before it included.
    ///
    /// A remote that leaves this out accepts all; what its pages refuse then ends the pull.
    ///
    /// - Parameter parameters: The parameters by name.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/invalidRequest``, which names the parameter.
    func check(parameters: [String: String]) throws

    /// Whether a pull from a cursor on may bring a row again that has not changed since it came last.
    ///
    /// Rows that were removed from the device alone are kept away by their versions as long as this says so. It is true
    /// in a remote that leaves this out: their ids and versions are then kept until their table is purged as a whole.
    ///
    /// - Parameters:
    ///   - row: The row's id, version and stamp, as far as the table keeps them.
    ///   - table: The table.
    ///   - cursor: Where the pull starts.
    /// - Returns: False when only a change can bring the row again.
    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool
}

extension SyncRemote {
    /// True: whoever does not say otherwise replaces whole rows, and the engine takes the care that this asks for.
    public var replacesWholeRows: Bool { true }

    /// False: one request brings a row back.
    public var restoresInSteps: Bool { false }

    /// What ``replacesWholeRows`` says: what such a server does not get it loses.
    public var keepsCreatedAt: Bool { replacesWholeRows }

    /// In steps, for servers that have no request of their own for it: creates or restores the row, and deletes it with
    /// the version that came back. Others see the row in between.
    public func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        let row: Record
        do {
            row =
                if let version {
                    try await update(record, in: table, version: version, restoring: true)
                } else {
                    try await insert(record, into: table)
                }
        } catch let error as RemoteError where error.code == .unfitRow {
            // It is there, whatever it holds, and is deleted next.
            guard let written = error.serverRecord else { throw error }
            row = written
        }
        guard !row.isDeleted else { return row }
        guard let id = row.id.stringValue else {
            throw RemoteError(.invalidResponse, "The row has a number as its id.")
        }
        do {
            return try await confirmedDeletion(of: id, from: table, version: row.version)
        } catch var error as RemoteError {
            error.wasPartlyDone = true
            throw error
        }
    }

    /// Deletes a row, and looks it up where nothing but the row itself can tell whether it is deleted.
    ///
    /// - Returns: The tombstone, where it was looked up and there is one.
    /// - Throws: As ``delete(_:from:version:)``, ``record(_:in:)`` and ``confirm(_:)``; ``RemoteError`` with code
    ///   ``RemoteError/Code/serverFailure`` when the row is still there as it was, and ``RemoteError/Code/conflict`` with the row
    ///   when it is another version than the one given.
    @discardableResult
    package func confirmedDeletion(of id: String, from table: TableDefinition, version: String?) async throws -> Record?
    {
        guard try await delete(id, from: table, version: version) != .confirmed else { return nil }
        do {
            return try await confirmDeletion(of: id, from: table, version: version)
        } catch var error as RemoteError {
            // The deletion was.
            error.wasNotSent = false
            throw error
        }
    }

    /// Looks a row up whose deletion was not confirmed.
    ///
    /// - Returns: Its tombstone; nil when there is none.
    /// - Throws: `RemoteError` with code `conflict` for a row in another version, `serverFailure` for one that is still there, and
    ///   what looking it up throws, but for a row that does not fit its table: whatever it holds, it is there.
    package func confirmDeletion(of id: String, from table: TableDefinition, version: String?) async throws -> Record? {
        let found: String?
        var (shown, misfit): (Record?, RemoteError?)
        do {
            guard let row = try await record(id, in: table) else {
                // That there is none is believed of a table that is there.
                try await confirm(table)
                return nil
            }
            guard !row.isDeleted else { return row }
            (found, shown) = (row.version, row)
        } catch let error as RemoteError where error.code == .unfitRow {
            (found, misfit) = (error.serverRecord?.version ?? version, error)
        }
        guard version == nil || found == version else {
            throw RemoteError(
                .conflict,
                "The row has changed on the server since; take that into account, and delete it again.",
                serverRecord: shown,
                cause: misfit
            )
        }
        throw RemoteError(
            .serverFailure,
            "The deletion of a row in table '\(table.name)' was not confirmed, and the row is still there; try again."
        )
    }
}

/// What a server said to a deletion that it did not refuse.
public enum RemoteDeletion: Sendable, Hashable {
    /// The row is deleted; nothing but a table answers like this.
    case confirmed
    /// The server has no such row (404, 410), or said nothing at all.
    case unconfirmed(status: Int)
}
