internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

/// Protocol 3, Datasync.
struct Protocol3: WireProtocol {
    var maximumFilterNodes: Int

    var version: String { "3.0.0" }
    var replacesWholeRows: Bool { true }
    var hidesDeletedRows: Bool { false }
    var reservesCreatedAt: Bool { false }
    var answersWithBareLists: Bool { false }
    var columnsBeginWithValues: Bool { false }
    var inWordsOfDotNet: (any WireProtocol)? { nil }

    func restore(_ id: String, in table: TableDefinition, version: String?) -> WireRequest? { nil }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) throws(RemoteError) -> WireRequest {
        // The row is replaced: undeclared columns go along, or they would be blanked. What is left out becomes null.
        try put(sent(record, of: table), of: table, version: version, evenIfDeleted: restoring)
    }

    func restoringChange(
        _ record: Record,
        in table: TableDefinition,
        version: String?
    ) throws(RemoteError) -> WireRequest {
        var row = sent(record, of: table)
        // A PATCH leaves alone what it does not name, and the record is the whole row.
        for column in table.columns where !column.isLocal && row[column.name] == nil { row[column.name] = .null }
        row["deleted"] = false
        return try patch(row, of: table, version: version)
    }

    func insertTombstone(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest {
        var row = sent(record, of: table)
        row["deleted"] = true
        return WireRequest(
            method: .post,
            table: table.name,
            body: try Self.json(row, of: table, includingNulls: false)
        )
    }

    func updateTombstone(
        _ record: Record,
        in table: TableDefinition,
        version: String
    ) throws(RemoteError) -> WireRequest {
        var row = sent(record, of: table)
        row["deleted"] = true
        return try put(row, of: table, version: version, evenIfDeleted: true)
    }

    private func put(
        _ row: Record,
        of table: TableDefinition,
        version: String?,
        evenIfDeleted: Bool
    ) throws(RemoteError) -> WireRequest {
        var request = WireRequest(method: .put, table: table.name, id: try row.serverID(in: table), ifMatch: version)
        request.body = try Self.json(row, of: table, includingNulls: false)
        if evenIfDeleted { request.query.add("__includedeleted", "true") }
        return request
    }

    func lookup(_ id: String, in table: TableDefinition) throws(RemoteError) -> WireRequest {
        guard RowAddress.problem(of: id) == nil else { return try lookupInList(id, in: table) }
        var request = WireRequest(method: .get, table: table.name, id: id)
        request.query.add("__includedeleted", "true")
        return request
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) throws(RemoteError) -> WireRequest {
        let printer = ODataPrinter(.datasync, table)
        var request = WireRequest(method: .get, table: table.name)
        let filter = try printer.filter(query)
        if let filter { try ODataLimits.check(filter: filter, of: table, maximumNodes: maximumFilterNodes) }
        try ODataLimits.check(order: query.order, of: table)
        request.query.add("$filter", filter)
        request.query.add("$orderby", try printer.order(query))
        request.query.add("$skip", try printer.skip(query))
        request.query.add("$top", try printer.top(query))
        request.query.add("$select", try printer.selection(query))
        // Always: without the count, the page that a limit filled would not tell whether it is the last one.
        request.query.add("$count", "true")
        if includesDeleted { request.query.add("__includedeleted", "true") }
        return request
    }
}
