public import SyncContract

extension SyncContext {
    /// Removes rows locally, without telling the server.
    ///
    /// A whole table starts anew: its next pulls bring everything. Rows of a condition stay away as long as they do not
    /// change on the server, because the progress of pulls is kept; a reconciling pull brings them back, and so does a
    /// pull that starts from the beginning. What was here and what the server had by then may differ: a newer row that an
    /// earlier pull did not take while a change waited comes all the same. A whole table whose progress is kept is like a
    /// condition of all rows.
    ///
    /// Where the server chooses ids, rows that come back have their local ids again; after the purge of a whole table to
    /// which no column refers they have new ones, unless its progress is kept.
    ///
    /// A purge waits for the pull that is under way.
    ///
    /// - Parameters:
    ///   - source: A table, or a query.
    ///   - resettingDeltaTokens: Whether the table's next incremental pulls start from the beginning; nil when the
    ///     source is a whole table.
    /// - Returns: How many rows were removed. Changes are never given up; a forced purge counts those that were instead.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/purgeAbortedPendingChanges`` when changes of the rows wait,
    ///   for a whole table changes of any of its rows. Nothing is removed then. ``SyncError/Code/invalidParameter`` for a
    ///   table that is local only: its rows are nowhere else.
    @discardableResult
    public func purge(_ source: any SyncSource, resettingDeltaTokens: Bool? = nil) async throws -> Int {
        let query = source.source
        let table = try syncedTable(query.table, "purged")
        try query.checkKinds(for: table)
        let purge = Purge(query, table, remote, resettingDeltaTokens)
        let schema = store.schema
        try await followDeclarations()
        return try await coordination.pullGate.withTurn {
            try await coordination.gate.withTurn {
                // What leaves is to come back as what it was.
                try await prepareExchange()
                return try await store.write { transaction in
                    let waiting = try purge.waiting(&transaction)
                    guard waiting.isEmpty else {
                        throw SyncError(
                            .purgeAbortedPendingChanges,
                            "Changes of table '\(query.table)' were not sent (\(waiting.count)); push them and settle what the"
                                + " server does not take, or force the purge to give them up."
                        )
                    }
                    try AttachmentMarks.keepDue(in: table, schema, &transaction)
                    let removed = try purge.run(&transaction)
                    // What pulls still owe is asked for by the ids of before.
                    if purge.startsAnew {
                        try IdentifierMapping.removeUnreferenced(of: query.table, schema, &transaction)
                    }
                    return removed
                }
            }
        }
    }

    /// Removes the rows of a query locally, with the changes of exactly these rows that wait, and their errors.
    ///
    /// The changes are lost: the server never learns of them, but for those that are on their way. All or nothing. Which rows match, also by their sync states, is
    /// settled before any change is given up. Deletions that wait stay: their rows are here no longer. Otherwise as
    /// ``purge(_:resettingDeltaTokens:)``; a query for a whole table is as ``forcePurge(_:)``.
    ///
    /// - Returns: How many changes were given up, those in conflict and those that failed included; not how many rows went.
    @discardableResult
    public func forcePurge(_ query: Query, resettingDeltaTokens: Bool? = nil) async throws -> Int {
        let table = try syncedTable(query.table, "purged")
        try query.checkKinds(for: table)
        let purge = Purge(query, table, remote, resettingDeltaTokens)
        guard !purge.takesWholeTable else { return try await forcePurge(query.table) }
        let schema = store.schema
        try await followDeclarations()
        return try await coordination.pullGate.withTurn {
            try await coordination.gate.withTurn {
                // What leaves is to come back as what it was.
                try await prepareExchange()
                return try await store.write { transaction in
                    try AttachmentMarks.keepDue(in: table, givingUp: true, schema, &transaction)
                    let waiting = try purge.waiting(&transaction)
                    let operations = try waiting.compactMap { try OperationQueue.operation($0, &transaction, schema) }
                    // Before the changes go: they may be what the query asks for.
                    try purge.run(givingUp: operations, &transaction)
                    try purge.askForNews(of: operations, &transaction)
                    try Purge.remember(sentBy: operations, of: table, &transaction)
                    for operation in operations { try OperationQueue.remove(operation, &transaction) }
                    try AttachmentRemovals.withdrawAll(&transaction)
                    return waiting.count
                }
            }
        }
    }

    /// Removes all rows of a table locally, with the changes that wait, their errors and the delta tokens.
    ///
    /// The changes are lost: the server never learns of them, but for those that are on their way. All or nothing. The name may
    /// be that of a table that is not declared any more, or that has become local only: its rows stay, and the changes that wait
    /// since before are given up.
    ///
    /// - Returns: How many changes were given up, those in conflict and those that failed included; not how many rows went.
    @discardableResult
    public func forcePurge(_ table: String) async throws -> Int {
        let schema = store.schema
        let declared = schema.tables.first { $0.name == table }
        let synced = declared.flatMap { $0.isLocalOnly ? nil : $0 }
        try await followDeclarations()
        return try await coordination.pullGate.withTurn {
            try await coordination.gate.withTurn {
                // What leaves is to come back as what it was.
                do {
                    try await prepareExchange()
                } catch let error as SyncError where error.code == .damagedQueue {
                    // This is the remedy.
                }
                return try await store.write { transaction in
                    if let declared, synced == nil, try OperationQueue.count(of: table, state: nil, &transaction) == 0 {
                        try declared.checkSynced("purged")
                    }
                    if let synced {
                        try AttachmentMarks.keepDue(in: synced, givingUp: true, schema, &transaction)
                    }
                    var attempted: [TableOperation] = []
                    if let synced {
                        attempted = try OperationQueue.attempted(of: synced, &transaction, schema)
                        try Purge.remember(sentBy: attempted, of: synced, &transaction)
                    }
                    let givenUp = try OperationQueue.removeAll(of: table, &transaction)
                    try Purge.removeTraces(of: table, &transaction)
                    try PullCursorStorage.removeAll(of: table, &transaction)
                    try ConfigurationTable.removeShownColumns(of: table, &transaction)
                    try FilledColumns.removeAll(of: table, &transaction)
                    let ids = attempted.map(\.itemID)
                    try IdentifierMapping.removeUnreferenced(of: table, but: ids, schema, &transaction)
                    if synced != nil { try transaction.delete(Query(table)) }
                    try AttachmentRemovals.withdrawAll(&transaction)
                    return givenUp
                }
            }
        }
    }
}
