public import SyncContract

// Untyped rows.
extension SyncTable<Record> {
    /// Inserts an item.
    ///
    /// System properties in the record are ignored: only the server sets them.
    ///
    /// - Parameters:
    ///   - fields: The values by column.
    ///   - id: The id, which may stand among the fields instead; nil for a new UUID. See ``ItemID`` for what ids may contain.
    /// - Returns: The item as stored, with its id.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID``, or ``SyncError/Code/invalidAction`` when the
    ///   table has an item with this id; ``SyncError/Code/invalidItem`` for a column that is
    ///   not declared, for a number that is not finite, and for a date outside the years 1 to 9999 in a column that is sent;
    ///   `StoreError`.
    @discardableResult
    public func insert(_ fields: [String: FieldValue], id: String? = nil) async throws -> Record {
        try await context.write(isGroup: false) { try $0.insert(fields, id: id, into: self) }
    }

    /// Inserts an item. An empty text as its id is replaced by a new UUID. Otherwise as ``insert(_:id:)``.
    ///
    /// - Returns: The item as stored, with its id.
    /// - Throws: As ``insert(_:id:)``; ``SyncError`` with code ``SyncError/Code/invalidItemID`` also for a number as its id.
    @discardableResult
    public func insert(_ item: Record) async throws -> Record {
        var fields = item.fields
        fields["id"] = item.id.fieldValue
        return try await insert(fields)
    }

    /// Changes an item: values given replace the stored ones, nulls clear, absent keys stay.
    ///
    /// A `version` in the record says which state of the server the change is based on: give it when the record was
    /// read some time ago, so that a change made since is found out as a conflict. Undeclared columns that the record
    /// brings back unchanged are fine; the id keeps the casing the server knows.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when the item is not in the store, or a delete
    ///   of it waits; ``SyncError/Code/invalidItem`` for an undeclared column that would change, and for
    ///   what an insert refuses; `StoreError`.
    public func update(_ item: Record) async throws {
        try await context.write(isGroup: false) { try $0.update(item, in: self) }
    }

    /// Deletes an item. One that is not in the store is deleted on the server all the same.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - version: The state of the server the decision is based on; nil for that of the stored row, and without one
    ///     for whatever the server has when it is asked; what others write after that is a conflict.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when a delete of the item waits already;
    ///   ``SyncError/Code/invalidItemID``; ``SyncError/Code/invalidParameter`` when the app writes items itself, has
    ///   removed the row, and gives no version; `StoreError`.
    public func delete(_ id: String, version: String? = nil) async throws {
        try await context.write(isGroup: false) { try $0.delete(id, version: version, from: self) }
    }

    /// Takes back a deletion, with what waited before it: the row is there again, and so is the change that it replaced.
    ///
    /// That goes as long as the deletion was not sent; where an insert that was not sent and its deletion have cancelled
    /// each other, until the next push starts; where none starts, as in a store without a server, for a week by this device's
    /// clock. One that was sent, and may have been carried out, is followed by the row's content.
    ///
    /// Of a deletion that has deleted other rows or changed them, as their columns declare, this takes back what became of
    /// this row alone: the rows that went with it come back in the same way, each by its id, and a column that was cleared
    /// is set again by an update.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when no deletion of the item waits; `StoreError`.
    public func undoDelete(_ id: String) async throws {
        try await context.write(isGroup: false) { try $0.undoDelete(id, in: self) }
    }

    /// The rows that were deleted here, as they were then, as long as the server is not known to have deleted them: also those
    /// whose deletion it did not take. ``undoDelete(_:)-(String)`` takes each deletion back.
    ///
    /// A row that was inserted and deleted before anything was sent is not among them: nothing waits.
    ///
    /// - Returns: The rows in the order of the operations.
    public func deletedItems() async throws -> [Record] {
        let (definition, schema) = (definition, context.store.schema)
        return try await context.store.read { try OperationQueue.deletedRows(of: definition, &$0, schema) }
    }

    /// Gives up what waits for an item, whatever its state: the row is again as the server last had it; one that the server
    /// never had is removed. Without a change that waits, nothing happens.
    ///
    /// What was sent and may still arrive is taken back by the next push. See ``ConflictResolution/discard``.
    public func revert(_ id: String) async throws {
        try await context.write(isGroup: false) { try $0.revert(id, in: self) }
    }

    /// The item with an id; nil when there is none, which is no error.
    public func read(_ id: String) async throws -> Record? {
        try await context.store.read(table: name, itemID: .string(id))
    }

    /// The rows of a query. See ``query``.
    ///
    /// `Column.syncState` in its condition is where a row stands between this device and the server; a query that
    /// is `includingSyncStates()` gives that beside each row.
    ///
    /// - Throws: `StoreError`, with code `invalidQuery` also for a column that is compared with a value of another kind: the
    ///   message names both.
    public func read(_ query: Query) async throws -> QueryResult {
        try check(query)
        let store = context.store
        // A transaction answers for a store that does not; a way of the store's own may not.
        guard query.asksForSyncStates, !store.capabilities.contains(.syncStates) else {
            return try await store.read(query)
        }
        return try await store.read { try $0.read(query) }
    }

    /// The rows of a query: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`.
    public func observe(_ query: Query) -> StoreObservation<QueryResult> {
        let table = self
        return context.store.observe(tables: query.readTables) {
            try table.check(query)
            return try $0.read(query)
        }
    }

    /// The item with an id, nil while there is none: now, and after each commit that changes it.
    public func observe(_ id: String) -> StoreObservation<Record?> { context.store.observe(.string(id), in: name) }
}
