public import RemoteContract
public import SyncContract

/// Keeps the tables of a local store in step with a server.
///
/// Local changes are written to the store together with an operation that waits for the next ``push()``. Pushes, pulls
/// and purges run one at a time, in the order they were asked for; local reads and changes never wait for the network.
///
/// Use one context per store.
public final class SyncContext: Sendable {
    /// The local store.
    public let store: any SyncContextDataSource

    let remote: any SyncRemote
    private let pageSize: Int?
    private let parallelOperations: Int
    private let gate = SerialGate()

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - store: The local store.
    ///   - remote: The server.
    ///   - pageSize: How many rows a pull asks for at a time, 1 or more; nil leaves it to the server.
    public convenience init(store: any SyncContextDataSource, remote: any SyncRemote, pageSize: Int? = nil) {
        self.init(store: store, remote: remote, options: SyncOptions(pageSize: pageSize))
    }

    /// Creates a context with settings.
    ///
    /// - Parameters:
    ///   - store: The local store.
    ///   - remote: The server.
    ///   - options: The settings.
    public init(store: any SyncContextDataSource, remote: any SyncRemote, options: SyncOptions) {
        self.store = store
        self.remote = remote
        pageSize = options.pageSize.map { max(1, $0) }
        parallelOperations = options.parallelOperations
    }

    /// A table by name, with untyped records.
    ///
    /// - Throws: `StoreError` with code `tableNotFound` when the store's schema does not declare it.
    public func table(_ name: String) throws -> SyncTable {
        guard let definition = store.schema.tables.first(where: { $0.name == name }) else {
            throw StoreError.tableNotFound(name)
        }
        return SyncTable(context: self, definition: definition)
    }

    /// A table by name, with items of a `Codable` type.
    ///
    /// - Throws: `StoreError` with code `tableNotFound` when the store's schema does not declare it.
    public func table<Item>(_ name: String, of type: Item.Type = Item.self) throws -> SyncItemTable<Item> {
        SyncItemTable(table: try table(name))
    }

    // MARK: Push and pull

    /// Sends the changes that wait, in the order they were made: of all tables, or of some.
    ///
    /// Changes that were made in a group are sent in its order, see ``write(_:)``; under
    /// ``SyncOptions/parallelOperations`` others may overtake each other, those of one item never. When tables are named,
    /// changes of other tables are sent only where a group puts them before one of a table that was named.
    ///
    /// A change that the server refuses, or that meets another version there, is recorded and the next one is sent:
    /// these are in the report and are not errors. They are not sent again until they are edited or resolved. A change
    /// on which the server fails may have been carried out: the next push looks at the row before it sends the change
    /// again, and after five pushes that fail in the same way it counts as refused. Changes made while the push runs
    /// wait for the next one.
    ///
    /// When the push ends early, nothing further is sent, and what is under way is waited for and recorded; only
    /// cancelling the task cancels it.
    ///
    /// - Parameter tables: The tables whose changes are sent; all when none is given. Of a query, its table counts.
    /// - Returns: What was taken, and what was not.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/pushAbortedNetwork``,
    ///   ``SyncError/Code/pushAbortedAuthentication`` (also when every change was forbidden) or
    ///   ``SyncError/Code/pushAbortedAddress``, `StoreError` when the store fails, `CancellationError`. What the server
    ///   accepted before is recorded; everything else is still queued. `StoreError` with code `tableNotFound` for a table
    ///   that is not declared.
    @discardableResult
    public func push(_ tables: any SyncSource...) async throws -> PushReport {
        let names = try tables.map { try table($0.source.table).name }
        return try await gate.withTurn {
            try await PushRunner(store: store, remote: remote, parallelOperations: parallelOperations)
                .run(names.isEmpty ? nil : Set(names))
        }
    }

    /// Brings the rows of a query that changed on the server since the last pull with the same query id.
    ///
    /// When changes of the table wait, everything that waits is pushed first. Rows with a local change that still waits
    /// are left alone. Rows that the server deleted are removed. Rows that no longer satisfy the predicate stay. Rows that
    /// the server cannot hand over, or that do not fit the table, are set aside and named in the report, and are asked
    /// for again by later pulls.
    ///
    /// How late a change may become visible on the server for this to find it is a setting of the remote
    /// (`DatasyncOptions.settlingTime`); ``pullAll(_:)`` finds what was later.
    ///
    /// A row of the server takes the place of the local one, also when only its content differs and not its version. A
    /// column that rows of the table have shown and that is absent becomes null; a declared one that was never shown
    /// keeps its value, and ``status()`` names it; columns declared `isLocal` are never touched.
    ///
    /// - Parameters:
    ///   - query: The table and a predicate. A predicate other than the last one under this id starts from the
    ///     beginning.
    ///   - queryID: A name for the query, 1 to 128 characters.
    /// - Returns: What changed locally.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidParameter`` for an order, limit, offset, selection or
    ///   total count in the query, and for a predicate that names a local column; ``SyncError/Code/pullAborted`` when
    ///   the server cannot be reached or answers something else than rows, with what the push before did in
    ///   ``SyncError/push``; what ``push()`` throws; `StoreError`; `CancellationError`.
    @discardableResult
    public func pull(_ query: Query, queryID: String) async throws -> PullReport {
        let table = try checked(query)
        guard query.limit == nil, (1...128).contains(queryID.count) else {
            throw SyncError(
                .invalidParameter,
                "An incremental pull takes a query without a limit, and a query id of 1 to 128 characters."
            )
        }
        return try await pull(table) { try await $0.runIncrementally(query, queryID: queryID) }
    }

    /// Brings all rows of a query, whether or not they changed. Otherwise as ``pull(_:queryID:)``.
    ///
    /// It also finds changes that became visible on the server too late for incremental pulls. Rows that the server has
    /// removed without leaving a tombstone stay: purge the table first where a server does that.
    ///
    /// - Parameter query: The table and a predicate; a limit bounds the number of rows.
    /// - Returns: What changed locally.
    /// - Throws: As ``pull(_:queryID:)``.
    @discardableResult
    public func pullAll(_ query: Query) async throws -> PullReport {
        let table = try checked(query)
        return try await pull(table) { try await $0.runFully(query) }
    }

    // MARK: Purge

    /// Removes rows locally, without telling the server.
    ///
    /// - Parameters:
    ///   - query: Which rows.
    ///   - resettingDeltaTokens: Whether the table's next incremental pulls start from the beginning. Otherwise rows
    ///     that were removed come back only when they change on the server, or did so shortly before the last pull.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/purgeAbortedPendingChanges`` when changes of the table wait.
    public func purge(_ query: Query, resettingDeltaTokens: Bool = false) async throws {
        let table = try self.table(query.table).definition
        try await gate.withTurn {
            try await store.write { transaction in
                let waiting = try OperationQueue.count(of: table.name, &transaction)
                guard waiting == 0 else {
                    throw SyncError(
                        .purgeAbortedPendingChanges,
                        "\(waiting) changes of table '\(table.name)' were not sent; push them first, or force the purge"
                            + " to give them up."
                    )
                }
                try transaction.delete(query)
                // Otherwise the next pull would bring a discarded item back.
                if query.predicate == nil { try ConfigurationTable.removeRefetches(in: table.name, &transaction) }
                if resettingDeltaTokens { try PullCursorStorage.removeAll(of: table.name, &transaction) }
            }
        }
    }

    /// Removes all rows of a table locally, with the changes that wait, their errors and the delta tokens.
    ///
    /// The changes are lost: the server never learns of them. All or nothing. The name may be that of a table that is
    /// not declared any more: its rows, which are out of reach then, stay, and its changes are given up.
    ///
    /// - Returns: How many changes were given up, those in conflict and those that failed included.
    @discardableResult
    public func forcePurge(_ table: String) async throws -> Int {
        let isDeclared = store.schema.tables.contains { $0.name == table }
        return try await gate.withTurn {
            try await store.write { transaction in
                let givenUp = try OperationQueue.removeAll(of: table, &transaction)
                try PullCursorStorage.removeAll(of: table, &transaction)
                try ConfigurationTable.removeRefetches(in: table, &transaction)
                try ConfigurationTable.removeShownColumns(of: table, &transaction)
                try ItemMemoryStorage.removeAll(of: table, &transaction)
                if isDeclared { try transaction.delete(Query(table)) }
                return givenUp
            }
        }
    }

    // MARK: Queue and conflicts

    /// How many local changes wait, over all tables, and what the server does not have.
    public func status() async throws -> SyncStatus {
        let schema = store.schema
        return try await store.read { transaction in
            SyncStatus(
                pending: try OperationQueue.count(of: nil, state: .pending, &transaction),
                conflicts: try OperationQueue.count(of: nil, state: .conflicted, &transaction),
                failed: try OperationQueue.count(of: nil, state: .failed, &transaction),
                undeclared: try OperationQueue.countUndeclared(&transaction, schema),
                unshownColumns: try ConfigurationTable.unshownColumns(schema, &transaction)
            )
        }
    }

    /// The operations that wait, in the order they will be sent.
    public func operations() async throws -> [TableOperation] {
        let schema = store.schema
        return try await store.read { try OperationQueue.all(of: nil, &$0, schema) }
    }

    /// What the server did not take, in the order of the operations: conflicts and refusals.
    public func operationErrors() async throws -> [TableOperationError] {
        let schema = store.schema
        return try await store.read { try OperationErrorCoding.all(&$0, schema) }
    }

    /// Settles what the server did not take.
    ///
    /// Row, operation and error change together or not at all. Nothing is sent.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` when the item was edited or the error
    ///   resolved since it was read.
    public func resolve(_ error: TableOperationError, with resolution: ConflictResolution) async throws {
        let resolver = resolver(try table(error.table).definition)
        try await store.write { try resolver.resolve(error, resolution, &$0) }
    }

    /// Gives up a change that waits, whatever its state: the row is again as the server last had it. See
    /// ``ConflictResolution/discard``.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/operationChanged`` when the item was edited, or the operation
    ///   answered, since it was read.
    public func discard(_ operation: TableOperation) async throws {
        let resolver = resolver(try table(operation.table).definition)
        try await store.write { try resolver.discard(operation, &$0) }
    }

    private func resolver(_ table: TableDefinition) -> ConflictResolver {
        ConflictResolver(
            table: table,
            schema: store.schema,
            storesUndeclaredColumns: store.capabilities.contains(.unknownColumns)
        )
    }

    private func pull(
        _ table: TableDefinition,
        _ body: (PullRunner) async throws -> PullReport
    ) async throws -> PullReport {
        try await gate.withTurn {
            let waiting = try await store.read {
                try OperationQueue.countToSend(of: table.name, &$0)
            }
            let push =
                waiting > 0
                ? try await PushRunner(store: store, remote: remote, parallelOperations: parallelOperations).run() : nil
            do {
                var report = try await body(
                    PullRunner(store: store, remote: remote, table: table, pageSize: pageSize)
                )
                report.push = push
                return report
            } catch var error as SyncError {
                // What was sent has arrived, whatever became of the rest.
                error.push = push
                throw error
            }
        }
    }

    private func checked(_ query: Query) throws -> TableDefinition {
        let table = try self.table(query.table).definition
        guard query.order.isEmpty, query.offset == 0, query.selection == nil, !query.includesTotalCount else {
            throw SyncError(
                .invalidParameter,
                "A pull takes a query with a predicate only: no order, offset, selection or total count."
            )
        }
        var columns: [String] = []
        try query.validated(for: table).predicate?.collectColumns(into: &columns)
        if let local = table.columns.first(where: { $0.isLocal && columns.contains($0.name) }) {
            throw SyncError(
                .invalidParameter,
                "Column '\(local.name)' stays on this device; the server cannot be asked by it."
            )
        }
        return table
    }
}
