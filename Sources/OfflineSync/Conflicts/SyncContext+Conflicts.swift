internal import Synchronization
public import SyncContract
internal import SyncMachines

extension SyncContext {
    /// What is done about a conflict in a table that says nothing of its own. Applies to the conflicts met from now on,
    /// those stored already stay stored, but for those whose push was cancelled or killed before whoever had a say then
    /// was asked: the next push asks, at its beginning.
    ///
    /// Who decides is asked in this order: ``delegate``, the table's policy (`SyncTable.conflictPolicy`), this one.
    public var conflictPolicy: ConflictPolicy<Record> {
        get { policies.context }
        set { policies.context = newValue }
    }

    /// Asked before an operation is sent, and about each one that the server did not take. Held weakly.
    public var delegate: (any SyncContextDelegate)? {
        get { weakDelegate.withLock(\.delegate) }
        set { weakDelegate.withLock { $0.delegate = newValue } }
    }

    /// What the server did not take, in the order of the operations: conflicts and refusals. Typed:
    /// `SyncTable.operationErrors()`.
    public func operationErrors() async throws -> [TableOperationError<Record>] {
        let schema = store.schema
        return try await store.read { try OperationErrorCoding.all(&$0, schema) }
    }

    /// Settles what the server did not take.
    ///
    /// Row, operation and error change together or not at all. Nothing is sent.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` when the item was edited or the error
    ///   resolved since it was read; ``SyncError/Code/invalidAction`` when the resolution gives the item another id;
    ///   ``SyncError/Code/invalidItem`` for a row with a number that is not finite or a date that
    ///   cannot be sent, or with a column that is neither declared nor as the error shows it; `StoreError` with code `invalidRecord` for a value that
    ///   does not fit its column.
    public func resolve(
        _ error: TableOperationError<Record>,
        with resolution: ConflictResolution<Record>
    ) async throws {
        let resolver = ConflictResolver(changes: try table(error.table).changes)
        try await store.write { try resolver.resolve(error, resolution, &$0) }
    }

    /// The same about items of a type.
    ///
    /// - Throws: As ``resolve(_:with:)-(TableOperationError<Record>,_)``; ``SyncError`` with code
    ///   ``SyncError/Code/invalidItem`` when the item cannot be encoded.
    public func resolve<Item: TableItem>(
        _ error: TableOperationError<Item>,
        with resolution: ConflictResolution<Item>
    ) async throws where Item.ID: RowID {
        let table: SyncTable<Item> = try table(error.table)
        let resolver = ConflictResolver(changes: table.changes)
        let untyped = error.mapped { _, _ in Record?.none }
        let encoded = try resolution.mapped(table.encode)
        try await store.write { transaction in
            // What the server has is taken from the store: the type may not show all of it.
            let stored = try OperationErrorCoding.error(untyped.id, &transaction, resolver.schema) ?? untyped
            try resolver.resolve(
                stored,
                encoded.decided(about: stored, in: resolver.table, as: Item.self),
                &transaction
            )
        }
    }

    /// Gives up a change that waits, whatever its state: the row is again as the server last had it. See
    /// ``ConflictResolution/discard``.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` when the item was edited, or the operation
    ///   answered, since it was read.
    public func discard(_ operation: TableOperation) async throws {
        let resolver = ConflictResolver(changes: try table(operation.table).changes)
        try await store.write { try resolver.discard(operation, &$0) }
    }

    /// Lets the next push send everything again that the server refused, or failed on too often. Conflicts stay.
    ///
    /// - Returns: How many changes wait again.
    @discardableResult
    public func retryRefused() async throws -> Int {
        let schema = store.schema
        return try await store.write { transaction in
            let parked = try OperationQueue.all(in: .failed, &transaction, schema)
            for operation in parked { try Self.retry(operation, schema, &transaction) }
            return parked.count
        }
    }

    /// Lets the next push send a change again that the server refused, or failed on too often.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` when it is not refused any more.
    public func retry(_ operation: TableOperation) async throws {
        let schema = store.schema
        try await store.write { transaction in
            guard let current = try OperationQueue.operation(operation.id, &transaction, schema),
                current.editCounter == operation.editCounter, current.state == .failed
            else { throw ConflictResolver.changed }
            try Self.retry(current, schema, &transaction)
        }
    }

    private static func retry(
        _ operation: TableOperation,
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let table = schema.table(operation.table) else { return }
        var operation = operation
        operation.change.state = .pending
        operation.isRetried = false
        operation.unknownOutcome?.pushes = 0
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
    }

    /// What policies have decided without asking, the newest first: the last thousand decisions.
    public func journal() async throws -> [JournalEntry] {
        let schema = store.schema
        return try await store.read { try JournalStorage.all(&$0, schema) }
    }

    /// Forgets what policies have decided.
    public func clearJournal() async throws { try await store.write { try JournalStorage.removeAll(&$0) } }
}

extension SyncTable<Record> {
    /// What is done about a conflict in this table; nil for what the context says. See ``SyncContext/conflictPolicy``.
    public var conflictPolicy: ConflictPolicy<Record>? {
        get { context.policies[name] }
        nonmutating set { context.policies[name] = newValue }
    }

    /// What the server did not take of this table, in the order of the operations.
    public func operationErrors() async throws -> [TableOperationError<Record>] {
        try await context.operationErrors().filter { $0.table == name }
    }
}

extension SyncTable where Item: Codable, Item.ID: RowID {
    /// What is done about a conflict in this table, decided in items; nil for what the context says. See
    /// ``SyncContext/conflictPolicy``.
    ///
    /// In the error of a merge, a row that the type cannot be made from is nil.
    public var conflictPolicy: ConflictPolicy<Item>? {
        get { context.policies[name]?.mapped(untyped) { resolution, _ in try resolution.mapped(decode) } }
        nonmutating set {
            context.policies[name] = newValue?
                .mapped(typed) { try $0.mapped(encode).decided(about: $1, in: definition, as: Item.self) }
        }
    }

    /// What the server did not take of this table, in the order of the operations. A row that the type cannot be made from
    /// is nil in it, and so is what is deleted: ``TableOperationError/item`` of a deletion, and
    /// ``TableOperationError/serverItem`` when the row is deleted on the server.
    public func operationErrors() async throws -> [TableOperationError<Item>] {
        try await table.operationErrors().map(typed)
    }

    private func typed(_ error: TableOperationError<Record>) -> TableOperationError<Item> {
        let changed: SyncState = error.isConflict ? .conflicted : .failed
        var typed = error.mapped { record, isChange -> Item? in
            do {
                var record = record
                record.syncState = isChange ? changed : .synced
                return try decode(record)
            } catch {
                // The others are shown all the same, and the untyped error has it.
                return nil
            }
        }
        // Nothing of a type says that it is deleted: a merge of it would bring it back.
        if error.kind == .delete { typed.item = nil }
        if error.isDeletedOnServer { typed.serverItem = nil }
        return typed
    }

    private func untyped(_ error: TableOperationError<Item>) -> TableOperationError<Record> {
        error.mapped { item, _ in
            do {
                return try encode(item)
            } catch {
                // It was a row before.
                return nil
            }
        }
    }
}
