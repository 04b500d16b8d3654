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

    func insert(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest
    /// The request that has to bring a deleted row back before the update; nil when the update does it.
    func restore(_ id: String, in table: TableDefinition, version: String?) -> WireRequest?
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) throws(RemoteError) -> WireRequest
    /// The request that reads one row, tombstones included.
    func lookup(_ id: String, in table: TableDefinition) throws(RemoteError) -> WireRequest
    /// Whether the answer to ``lookup(_:in:)`` is a list of rows instead of a row.
    var lookupRespondsWithList: Bool { get }
    func page(_ query: Query, of table: TableDefinition) throws(RemoteError) -> WireRequest
}

extension WireProtocol {
    func insert(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest {
        // Nulls are left out: an absent column gets its default, and a null would be refused where none is allowed.
        let body = try Self.json(record.withoutSystemProperties(), of: table, includingNulls: false)
        return WireRequest(method: .post, table: table.name, body: body)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) -> WireRequest {
        WireRequest(method: .delete, table: table.name, id: id, ifMatch: version)
    }

    static func json(
        _ record: Record,
        of table: TableDefinition,
        includingNulls: Bool
    ) throws(RemoteError) -> String {
        _ = try record.serverID(in: table)
        do throws(RecordCodingError) {
            return try RecordCoding(table).object(record, includingNulls: includingNulls)
        } catch {
            throw RemoteError(
                .invalidRequest,
                "a row of table '\(table.name)' cannot be sent; correct it: \(error.message)"
            )
        }
    }
}

extension Record {
    /// The id in the form that servers know: text.
    func serverID(in table: TableDefinition) throws(RemoteError) -> String {
        guard let id = id.stringValue else {
            throw .invalidRequest("a row of table '\(table.name)' has a number as its id; servers know texts only")
        }
        return id
    }
}
