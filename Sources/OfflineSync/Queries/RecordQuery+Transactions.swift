public import SyncContract

// Queries of untyped rows inside of transactions.
extension SyncReading where Self: ~Copyable {
    /// The rows of a query, in order.
    public mutating func read(_ query: some RecordQuerying) throws -> [Record] { try read(query.records.source) }

    /// The first row of a query; nil when there is none.
    public mutating func first(_ query: some RecordQuerying) throws -> Record? { try first(query.records.source) }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public mutating func count(_ query: some RecordQuerying) throws -> Int { try count(query.records.source) }

    /// Hands every row of a query to a closure, in order.
    public mutating func forEach(_ query: some RecordQuerying, _ body: (Record) throws -> Void) throws {
        try forEach(query.records.source, body)
    }
}

extension SyncTransaction {
    /// Inserts an item. As ``SyncTable/insert(_:id:)``; an empty id is replaced by a new UUID.
    ///
    /// - Returns: The item as it is stored.
    @discardableResult
    public mutating func insert(_ item: Record, into table: SyncTable<Record>) throws -> Record {
        let id = item.id == .string("") ? .string(ItemID.make()) : item.id
        return try add(Record(id: id, item.fields), into: table)
    }

    /// Deletes a row that was read. As ``SyncTable/delete(_:version:)-(String,_)``.
    @_disfavoredOverload
    public mutating func delete(_ id: RecordID, from table: SyncTable<Record>) throws {
        try delete(table.changes.itemID(id), from: table)
    }

    /// Deletes the rows of a query, here and with the next push on the server. As ``delete(_:)``.
    @discardableResult
    public mutating func delete(_ query: some RecordQuerying) throws -> Int { try delete(query.records.source) }
}

extension SyncTable where Item == Record {
    /// The row with the id of another one that was read; nil when there is none, which is no error.
    @_disfavoredOverload
    public func read(_ id: RecordID) async throws -> Record? { try await read(changes.itemID(id)) }

    /// Deletes a row that was read: `delete(row.id)`. As ``delete(_:version:)-(String,_)``.
    @_disfavoredOverload
    public func delete(_ id: RecordID) async throws { try await delete(changes.itemID(id)) }
}

extension RecordQuerying {
    /// Brings the rows that changed on the server since the last pull of the same rows, or with the same query id.
    ///
    /// See ``SyncContext/pull(_:_:options:)`` and ``SyncContext/pull(_:queryID:options:)``.
    @discardableResult
    public func pull(queryID: String? = nil, options: PullOptions = .init()) async throws -> PullReport {
        let (context, source) = (records.table.context, records.source)
        guard let queryID else { return try await context.pull(source, options: options) }
        return try await context.pull(source, queryID: queryID, options: options)
    }

    /// Removes the rows here without telling the server, when no change of them waits, and says how many there were. See
    /// ``SyncContext/purge(_:resettingDeltaTokens:)``.
    @discardableResult
    public func purge(resettingDeltaTokens: Bool? = nil) async throws -> Int {
        try await records.table.context.purge(records.source, resettingDeltaTokens: resettingDeltaTokens)
    }

    /// Removes the rows here with the changes of them that wait, and says how many changes that were. See
    /// ``SyncContext/forcePurge(_:resettingDeltaTokens:)``.
    @discardableResult
    public func forcePurge() async throws -> Int { try await records.table.context.forcePurge(records.source) }
}
