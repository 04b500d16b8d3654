internal import HTTPTransport
internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// What distinguishes one protocol from another: how requests are worded. Pure functions; the answers of both are read
/// by one set of rules.
protocol WireProtocol: Sendable {
    /// The value of `ZUMO-API-VERSION`.
    var version: String { get }
    /// Whether a change replaces the whole row.
    var replacesWholeRows: Bool { get }
    /// Whether a row that was deleted may be answered as if it had never been.
    var hidesDeletedRows: Bool { get }
    /// Whether `createdAt` is the server's, which refuses a body that has it; otherwise it is a column like any other.
    var reservesCreatedAt: Bool { get }
    /// Whether a page may be an array of rows or `{results,count}`, and not only an object with `items`.
    var answersWithBareLists: Bool { get }

    /// Whether a column may begin with the first value in it, and queries that name it find nothing until then.
    var columnsBeginWithValues: Bool { get }
    /// The same protocol in the words that servers for .NET know in queries; nil where there are no others.
    var inWordsOfDotNet: (any WireProtocol)? { get }

    func insert(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest
    /// The request that has to bring a deleted row back before the update; nil when the update does it.
    func restore(_ id: String, in table: TableDefinition, version: String?) -> WireRequest?
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) throws(RemoteError) -> WireRequest
    /// The change as a PATCH that brings the row back as well.
    func restoringChange(
        _ record: Record,
        in table: TableDefinition,
        version: String?
    ) throws(RemoteError) -> WireRequest
    /// Creates the row as deleted where the protocol can say that; otherwise it is an insert like any other.
    func insertTombstone(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest
    /// Writes a tombstone that stays one.
    func updateTombstone(
        _ record: Record,
        in table: TableDefinition,
        version: String
    ) throws(RemoteError) -> WireRequest
    /// The request that reads one row, tombstones included. One without an id is answered by a list.
    func lookup(_ id: String, in table: TableDefinition) throws(RemoteError) -> WireRequest
    func page(
        _ query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) throws(RemoteError) -> WireRequest
}

extension WireProtocol {
    func page(_ query: Query, of table: TableDefinition) throws(RemoteError) -> WireRequest {
        try page(query, of: table, includesDeleted: true)
    }

    func insert(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest {
        // Nulls are left out: an absent column gets its default, and a null would be refused where none is allowed.
        let body = try Self.json(
            sent(record, of: table),
            of: table,
            includingNulls: false,
            includingID: !table.assignsIDs
        )
        return WireRequest(method: .post, table: table.name, body: body)
    }

    /// What of a row is sent: neither what the server sets nor what stays on the device.
    func sent(_ record: Record, of table: TableDefinition) -> Record {
        table.withoutLocalColumns(
            reservesCreatedAt ? record.withoutSystemProperties() : record.withoutServerProperties()
        )
    }

    /// Writes the columns that a row names, nulls included, and leaves alone the others.
    func patch(_ row: Record, of table: TableDefinition, version: String?) throws(RemoteError) -> WireRequest {
        WireRequest(
            method: .patch,
            table: table.name,
            id: try row.serverID(in: table),
            ifMatch: version,
            body: try Self.json(row, of: table, includingNulls: true)
        )
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) -> WireRequest {
        WireRequest(method: .delete, table: table.name, id: id, ifMatch: version)
    }

    /// The request that finds one row by a condition.
    func lookupInList(_ id: String, in table: TableDefinition) throws(RemoteError) -> WireRequest {
        try page(Query(table.name).filtered(by: Column("id") == .string(id)), of: table)
    }

    static func json(
        _ record: Record,
        of table: TableDefinition,
        includingNulls: Bool,
        includingID: Bool = true
    ) throws(RemoteError) -> [UInt8] {
        _ = try record.serverID(in: table)
        do throws(RecordCodingError) {
            return try RecordCoding.utf8(record, includingNulls: includingNulls, includingID: includingID)
        } catch {
            throw RemoteError(
                .invalidRequest,
                "A row of table '\(table.name)' cannot be sent; correct it: \(error.message)."
            )
        }
    }
}

extension Record {
    /// The id in the form that servers know: text.
    func serverID(in table: TableDefinition) throws(RemoteError) -> String {
        guard let id = id.stringValue else {
            throw .invalidRequest("A row of table '\(table.name)' has a number as its id; servers know texts only.")
        }
        return id
    }
}
