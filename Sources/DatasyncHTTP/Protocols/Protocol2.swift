internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

/// Protocol 2, Azure Mobile Apps.
struct Protocol2: WireProtocol {
    /// Whether the server is one for .NET, which knows `contains` alone where that of Node knows `substringof` alone.
    var isForDotNet = false

    var version: String { "2.0.0" }
    var replacesWholeRows: Bool { false }
    var hidesDeletedRows: Bool { true }
    var reservesCreatedAt: Bool { true }
    var answersWithBareLists: Bool { true }
    var columnsBeginWithValues: Bool { true }
    var inWordsOfDotNet: (any WireProtocol)? { isForDotNet ? nil : Protocol2(isForDotNet: true) }

    func restore(_ id: String, in table: TableDefinition, version: String?) -> WireRequest? {
        WireRequest(method: .post, table: table.name, id: id, ifMatch: version)
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) throws(RemoteError) -> WireRequest {
        try change(record, in: table, version: version, [:])
    }

    func restoringChange(
        _ record: Record,
        in table: TableDefinition,
        version: String?
    ) throws(RemoteError) -> WireRequest {
        try change(record, in: table, version: version, ["deleted": false])
    }

    private func change(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        _ added: [String: FieldValue]
    ) throws(RemoteError) -> WireRequest {
        guard table.columns.contains(where: { !$0.isLocal }) else {
            // The server fails on a change of no column, and dropping the change without a word would be worse.
            throw .invalidRequest("Table '\(table.name)' declares no columns to write; declare those that change.")
        }
        let names = table.columns.filter { !$0.isLocal }.map(\.name)
        var row = record.selecting(names)
        // The record is the whole row, so one without any value is a row of nulls.
        if row.fields.isEmpty { for name in names { row[name] = .null } }
        for (name, value) in added { row[name] = value }
        return try patch(row, of: table, version: version)
    }

    /// Servers refuse a body that says `deleted`.
    func insertTombstone(_ record: Record, into table: TableDefinition) throws(RemoteError) -> WireRequest {
        try insert(record, into: table)
    }

    /// A change leaves a deleted row deleted.
    func updateTombstone(
        _ record: Record,
        in table: TableDefinition,
        version: String
    ) throws(RemoteError) -> WireRequest {
        try change(record, in: table, version: version, [:])
    }

    /// The row by its id hides tombstones, so a row is looked up by a query.
    func lookup(_ id: String, in table: TableDefinition) throws(RemoteError) -> WireRequest {
        try lookupInList(id, in: table)
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) throws(RemoteError) -> WireRequest {
        let printer = ODataPrinter(.azureMobileApps, table, knowsContains: isForDotNet)
        var request = WireRequest(method: .get, table: table.name)
        request.query.add("$filter", try printer.filter(query))
        request.query.add("$orderby", try printer.order(query))
        request.query.add("$top", try printer.top(query))
        request.query.add("$skip", try printer.skip(query))
        request.query.add("$select", try printer.selection(query))
        request.query.add("$inlinecount", query.includesTotalCount ? "allpages" : nil)
        // In this spelling only: the server compares the name exactly.
        if includesDeleted { request.query.add("__includeDeleted", "true") }
        return request
    }
}
