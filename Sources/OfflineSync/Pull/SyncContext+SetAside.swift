public import RemoteContract
internal import SyncContract

extension SyncContext {
    /// The rows of the server that do not fit their table, or that the server cannot hand over, with the reason, by table
    /// and id.
    ///
    /// Each leaves the list when it comes. It comes with the pull after its next change; one that the server has failed on, or
    /// whose answer could not be read when it was asked for, is asked for once more by the next pull, since that may have been so
    /// for a while only; it is asked for again after the declaration of its table has changed, by each pull until the server has
    /// answered about it, and by ``retrySetAsideRows()``. One that does not come then is on the server no longer, and leaves the
    /// list as well; but one that a pull with ``PullOptions/parameters`` has met, or that such a pull does not bring, may need
    /// them: it stays, and the next pull with parameters asks for it.
    public func setAsideRows() async throws -> [SetAsideRow] {
        let schema = store.schema
        return try await store.read { try SetAsideStorage.all(schema, &$0) }
    }

    /// Asks for the rows set aside again. A table that the server refuses or fails on keeps those behind it from nothing: its
    /// error is thrown behind them.
    ///
    /// - Returns: What came, and what is set aside still.
    /// - Throws: As ``pull(_:_:options:)``.
    @discardableResult
    public func retrySetAsideRows() async throws -> PullReport {
        try checkRemote()
        return try await coordination.pullGate.withTurn {
            do {
                try await checkReset()
                try await prepareExchangeInTurn()
                let tables = store.schema.syncedTables
                try await store.write { transaction in
                    for table in tables { try SetAsideStorage.makeDue(table, &transaction) }
                }
                return try await pullEach(tables, .init()) { table, work in
                    try await runner(table, .init()).retrySetAside(all: true, &work)
                }
            } catch {
                guard let ending = SyncError(ending: error) else { throw error }
                throw ending
            }
        }
    }
}
