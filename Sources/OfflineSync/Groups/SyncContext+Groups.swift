public import SyncContract

extension SyncContext {
    /// Changes any number of items of any tables as one transaction, together with their operations: all or nothing.
    ///
    /// What is changed here is a group. Its changes are sent in the order in which they were made, after those of earlier
    /// groups that changed the same items. When one of them is not taken, the later ones wait until that is settled, and so
    /// do later groups that changed an item that waits; other changes pass by. Where groups changed the same items in
    /// opposite orders, these are sent one right after the other.
    ///
    /// The closure waits for nothing: there is no `await` in it. It may run on any thread.
    ///
    /// - Parameter body: Reads and changes. A change that it makes in spite of an error thrown by the store before is not
    ///   kept: the whole group fails with that error.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws, after which nothing was changed; `StoreError` when the commit fails, likewise;
    ///   `CancellationError` when the task was cancelled before the transaction began.
    @discardableResult
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout SyncTransaction) throws -> Value
    ) async throws -> Value {
        try await write(isGroup: true, body)
    }

    /// Reads the state of one instant.
    ///
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws; `StoreError`; `CancellationError`.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout SyncReader) throws -> Value
    ) async throws -> Value {
        try await store.read { reader in
            var reader = SyncReader(self, StoreReader(reader.backend))
            return try body(&reader)
        }
    }

    /// What a closure reads of one instant: now, and again after every commit that changes it.
    ///
    /// The tables that it reads are noticed; a commit that touches none of them is not looked at. What is promised, and how
    /// it ends, is said at `StoreObservation`.
    ///
    /// - Parameter body: A read that gives the same value for the same rows.
    /// - Returns: The live query. Nothing is read before it is iterated.
    public func observe<Value: Sendable & Equatable>(
        _ body: @escaping @Sendable (inout SyncReader) throws -> Value
    ) -> StoreObservation<Value> {
        let (tables, told) = (ReadTables(of: store), RowsToldByClosure())
        return StoreObservation(of: store, tables: tables.names) { reader in
            var reader = SyncReader(self, StoreReader(reader.backend), noticing: tables)
            let value = try RowsToldByClosure.$current.withValue(told) { try body(&reader) }
            tables.ran()
            return value
        } transform: {
            $0
        }
    }

    /// Runs one change or a group of them.
    func write<Value: Sendable>(
        isGroup: Bool,
        _ body: @escaping @Sendable (inout SyncTransaction) throws -> Value
    ) async throws -> Value {
        try await followDeclarations()
        return try await store.write { transaction in
            var transaction = SyncTransaction(self, StoreTransaction(transaction.backend), isGroup: isGroup)
            let value = try body(&transaction)
            try transaction.end()
            return value
        }
    }

    /// Refuses a table of another context, whose rows another store has.
    func check(_ table: SyncTable<Record>) throws(SyncError) {
        guard table.context === self else {
            throw SyncError(
                .invalidParameter,
                "Table '\(table.name)' is another context's; take it from the one whose store is read or changed."
            )
        }
    }
}
