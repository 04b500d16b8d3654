internal import RemoteContract
public import SyncContract

/// A table on the server. Every call is a request and fails without a network; nothing is kept here, and nothing waits for a
/// push or pull.
///
/// `RemoteTable<TodoItem>` has items of a `Codable` type, `RemoteTable<Record>` untyped rows; both are read and changed with the
/// same calls. For items only are `where`, orders and the other calls of ``TableQuerying``, in whose place rows have `read(_:)`,
/// `first(_:)` and `count(_:)` of a `Query`: `table.read(table.query.filtered(by: Column("due") < date))`. Properties are columns as
/// in ``SyncTable``.
///
/// Errors of the server and of the way there are `RemoteError`s: there is no queue that would make them another thing.
/// ``SyncError`` says only that a call is not acceptable.
public struct RemoteTable<Item: Identifiable & Sendable>: Sendable {
    /// The declaration: of the local store, or of this table alone.
    public let definition: TableDefinition

    /// Further parameters for the service, by name, that every request for this table carries; none at first. One that is the
    /// protocol's own is refused by each call, with `RemoteError` and code `invalidRequest`.
    public var parameters: [String: String] = [:]

    /// Whether what is read has the rows that are deleted as well, which say so in `deleted`; false at first.
    public var includesDeleted = false

    let base: any OnlineRemote
    let events: SyncEvents

    init(_ definition: TableDefinition, _ base: any OnlineRemote, _ events: SyncEvents) {
        self.definition = definition
        self.base = base
        self.events = events
    }

    /// What carries the requests.
    var remote: any OnlineRemote {
        get throws { parameters.isEmpty ? base : try base.adding(parameters: parameters) }
    }

    /// The name.
    public var name: String { definition.name }

    /// A query for all rows of this table.
    public var query: Query { Query(name) }

    /// The same table with untyped rows.
    public var table: RemoteTable<Record> {
        var table = RemoteTable<Record>(definition, base, events)
        table.parameters = parameters
        table.includesDeleted = includesDeleted
        return table
    }
}

// Untyped rows.
extension RemoteTable<Record> {
    // MARK: Reading

    /// The rows of a query, in order, however many pages the server makes of them. Without an order, they come by id.
    ///
    /// Rows that others insert or delete meanwhile may shift the pages of a query with an order of its own.
    ///
    /// - Throws: `RemoteError`, with code `invalidResponse` for a row that does not fit the table; `pages(_:size:)` goes
    ///   on behind such a row.
    public func read(_ query: Query) async throws -> [Record] {
        var records: [Record] = []
        for try await page in try pages(query) {
            if let row = page.setAside.first {
                throw RemoteError(
                    .invalidResponse,
                    "A row of table '\(name)' cannot be read: \(row.reason); correct it on the server, or read by pages."
                )
            }
            records += page.records
        }
        return records
    }

    /// The rows of a query page by page, as the server gives them: for tables that are better not held in memory.
    ///
    /// - Parameters:
    ///   - query: What to read.
    ///   - size: How many rows to ask for at a time, 1 or more; nil leaves it to the server.
    /// - Returns: The pages. Each iteration starts anew, and asks for a page when it is wanted.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a query of another table, or one that names a
    ///   column which stays on this device; `StoreError` with code `invalidQuery` for a column that is compared with a value of another kind.
    public func pages(_ query: Query, size: Int? = nil) throws -> RemotePages {
        try check(query)
        return RemotePages(table: self, query: query, size: size.map { Swift.max(1, $0) })
    }

    /// The first row of a query; nil when there is none.
    public func first(_ query: Query) async throws -> Record? {
        try await read(query.limited(to: Swift.min(query.limit ?? 1, 1))).first
    }

    /// How many rows satisfy a query, whatever its limit and offset.
    ///
    /// - Throws: `RemoteError`, with code `invalidResponse` when the server does not count.
    public func count(_ query: Query) async throws -> Int {
        try check(query)
        var counting = Query(name)
        counting.predicate = query.predicate
        counting.limit = 0
        counting.includesTotalCount = true
        guard let count = try await remote.page(counting, of: definition, includesDeleted: includesDeleted).totalCount
        else {
            throw RemoteError(.invalidResponse, "The server does not say how many rows table '\(name)' has.")
        }
        return count
    }

    /// The server's row with an id; nil when there is none, or it is deleted and ``includesDeleted`` is false.
    public func read(_ id: String) async throws -> Record? {
        let row = try await remote.record(id, in: definition)
        if row == nil { try await remote.confirm(definition) }
        return row.flatMap { $0.isDeleted && !includesDeleted ? nil : $0 }
    }

    // MARK: Changing

    /// Inserts a row and returns it as the server keeps it, with its id. System properties in it are not sent, but for
    /// `createdAt` in protocol 3, where that is a column.
    ///
    /// - Parameters:
    ///   - fields: The values by column.
    ///   - id: The id, which may stand among the fields instead; nil for a new UUID. See ``ItemID`` for what ids may contain.
    /// - Returns: The row, with the server's id where the server chooses ids.
    /// - Throws: `RemoteError`, with code `conflict` and the server's row when the id exists; ``SyncError`` with code
    ///   ``SyncError/Code/invalidItemID``.
    @discardableResult
    public func insert(_ fields: [String: FieldValue], id: String? = nil) async throws -> Record {
        let id = try ItemID.given(id, among: fields)
        if let id { try ItemID.validate(id, by: base.idRule) }
        let row = Record(id: .string(id ?? ItemID.make()), fields)
        do {
            return try await remote.insert(row, into: definition)
        } catch let error as RemoteError where error.code == .storedUnderAnotherID {
            guard let stored = error.serverRecord else { throw error }
            return stored
        }
    }

    /// Replaces a row: declared columns that are not given become null, and in protocol 3 all others as well.
    ///
    /// - Parameter row: The row. Its `version`, when it has one, must be the server's; without one, whatever the server
    ///   has is replaced.
    /// - Returns: The row as the server keeps it now.
    /// - Throws: `RemoteError`: `conflict` with the server's row when its version is another one or the row is deleted,
    ///   `notFound` when there is none.
    @discardableResult
    public func update(_ row: Record) async throws -> Record {
        var whole = row
        for column in definition.columns where whole[column.name] == nil { whole[column.name] = .null }
        let remote = try remote
        return try await remote.update(
            whole,
            in: definition.covering(row, for: remote),
            version: row.version,
            restoring: false
        )
    }

    /// Changes some columns of a row; null clears, and the others stay as the server has them.
    ///
    /// A server that replaces whole rows is asked for the row first, and what others change at the same time stays.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - fields: The columns to change.
    ///   - version: The server version the change is based on; nil for whatever the server has.
    /// - Returns: The row as the server keeps it now.
    /// - Throws: As `update(_:)`; ``SyncError`` with code ``SyncError/Code/invalidParameter`` when no column is given; `RemoteError`
    ///   with code `invalidResponse`, and nothing is written, when the row that the server was asked for does not fit the table.
    @discardableResult
    public func patch(_ id: String, _ fields: [String: FieldValue], version: String? = nil) async throws -> Record {
        let change = Record(id: .string(id), fields).withoutSystemProperties()
        guard !change.names.isEmpty else {
            throw SyncError(.invalidParameter, "A change of table '\(name)' names no column; name those that change.")
        }
        try checkSent(Array(change.names))
        let remote = try remote
        return try await remote.patch(
            id,
            change.fields,
            in: definition.covering(change, for: remote),
            version: version
        )
    }

    /// Deletes a row; with a version, only when it is still the server's. A row that is not there is no error.
    ///
    /// Where the answer does not come from the table beyond doubt (404, or nothing at all), the row is looked up.
    ///
    /// - Throws: `RemoteError`: `conflict` with the server's row when its version is another one, `notFound` when the
    ///   address has no such table, `serverFailure` when the row is still there.
    public func delete(_ id: String, version: String? = nil) async throws {
        try await remote.confirmedDeletion(of: id, from: definition, version: version)
    }

    /// Brings a deleted row back as it was. One that is not deleted stays as it is.
    ///
    /// - Returns: The row as the server keeps it now.
    /// - Throws: As `update(_:)`; `RemoteError` with code `invalidResponse`, and nothing is written, when the row does not fit the
    ///   table.
    @discardableResult
    public func undelete(_ id: String, version: String? = nil) async throws -> Record {
        let remote = try remote
        do {
            let row = try await remote.rowToChange(id, in: definition)
            return try await remote.undelete(id, in: definition.covering(row, for: remote), version: version)
        } catch let error as RemoteError where error.code == .notFound {
            // That there is none is believed of a table that is there.
            try await remote.confirm(definition)
            throw error
        }
    }

    private func check(_ query: Query) throws {
        guard query.table == name else {
            throw SyncError(.invalidParameter, "The query is for table '\(query.table)', and this is '\(name)'.")
        }
        try query.checkKinds(for: definition)
        var columns = query.order.map(\.column) + (query.selection ?? [])
        query.predicate?.collectColumns(into: &columns)
        try checkSent(columns)
    }

    /// Refuses columns that the server has not.
    private func checkSent(_ names: some Collection<String>) throws {
        guard let local = definition.columns.first(where: { $0.isLocal && names.contains($0.name) }) else { return }
        throw SyncError(
            .invalidParameter,
            "Column '\(local.name)' of table '\(name)' stays on this device; the server has no such column."
        )
    }
}

extension TableDefinition {
    /// This table with columns for all values of a row, for a server that is sent declared columns alone: of a table that is
    /// not declared, what is given is sent.
    fileprivate func covering(_ row: Record, for remote: any OnlineRemote) -> TableDefinition {
        // To whom rows are sent whole what is not declared is sent as well, and is read by what it looks like.
        guard !remote.replacesWholeRows else { return self }
        let declared = Set(columns.map(\.name))
        let others = row.withoutSystemProperties().fields.filter { !declared.contains($0.key) }
        guard !others.isEmpty else { return self }
        let added = others.sorted { $0.key < $1.key }.map { ColumnDefinition($0.key, $0.value.columnType) }
        return adding(added)
    }
}

extension FieldValue {
    /// The type of a column for this value; for null the one that takes whatever the server has.
    fileprivate var columnType: ColumnType {
        ColumnType.allCases.first { $0.accepting(self) == self && !isNull } ?? .json
    }
}
