internal import ItemCoding
public import RemoteContract
internal import Synchronization
public import SyncContract

/// Keeps the tables of a local store in step with a server.
///
/// Local changes are written to the store together with an operation that waits for the next `push()`. Pushes run one
/// at a time, in the order they were asked for, and so do pulls and purges; a push waits for a pull no longer than one of
/// its pages is written. Local reads and changes never wait for the network.
///
/// Several contexts over one store take turns as one does. Of stores of a value type, those with the same content are one.
public final class SyncContext: Sendable {
    /// The local store.
    public let store: any SyncContextDataSource

    /// The server, spoken to in the names of this device.
    let remote: any SyncRemote
    /// Whether there is a server.
    private let hasRemote: Bool
    let pageSize: Int?
    package let order: PullOptions.Order
    let clock: any Clock<Duration>
    private let parallelOperations: Int
    private let queuePortion: Int
    let coordination: SyncCoordination
    let policies = ConflictPolicies()
    let weakDelegate = Mutex(WeakDelegate())
    let companions = Companions()
    let cancelledInserts: CancelledInsertClock

    /// What happens in the engine, as it happens.
    public let events: SyncEvents

    /// Creates a context over any store.
    ///
    /// - Parameters:
    ///   - store: The local store.
    ///   - remote: The server. Without one nothing is sent: changes wait until the store has a context with a server, for
    ///     ever if need be.
    ///   - options: The settings.
    ///   - clock: What ``PullOptions/maximumTime`` is measured by, and how long answers wait to be recorded together.
    public convenience init(
        store: any SyncContextDataSource,
        remote: (any SyncRemote)? = nil,
        options: SyncOptions = .init(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(store: store, remote: remote, options: options, clock: clock, now: { .current })
    }

    /// The same, with the time of day, by which inserts that deletions have cancelled are kept for a week.
    package init(
        store: any SyncContextDataSource,
        remote: (any SyncRemote)? = nil,
        options: SyncOptions = .init(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        cancelledInserts = CancelledInsertClock(now)
        events = SyncEvents(log: options.log)
        self.store = store
        self.clock = clock
        coordination = .of(store)
        hasRemote = remote != nil
        let given = remote ?? UnavailableRemote(RemoteError(.unreachable, "This context has no server."))
        let isNamedOtherwise = store.schema.syncedTables.contains(where: WireNames.areNeeded)
        self.remote = isNamedOtherwise ? given.inLocalNames() : given
        pageSize = options.pageSize.flatMap { $0 > 0 ? $0 : nil }
        order = options.order
        parallelOperations = options.parallelOperations
        queuePortion = options.queuePortion
    }

    /// Refuses what wants a server. Nothing may be remembered as sent that never was.
    func checkRemote() throws(SyncError) {
        guard hasRemote else {
            throw SyncError(
                .unsupported,
                "This context has no server; open the store with one to sync. Changes wait until then."
            )
        }
    }

    /// A table by name, with untyped records.
    ///
    /// - Throws: `StoreError` with code `tableNotFound` when the store's schema does not declare it.
    public func table(_ name: String) throws -> SyncTable<Record> {
        SyncTable(context: self, definition: try definition(of: name))
    }

    /// A table by name, with items of a `Codable` type.
    ///
    /// - Throws: `StoreError` with code `tableNotFound` when the store's schema does not declare it, and with code
    ///   `invalidSchema` when a property of the type does not fit the declared column of its name, when its ids are
    ///   UUIDs and the table tells upper from lower case in ids, and when its items do not get the ids of their rows.
    public func table<Item: TableItem>(
        _ name: String,
        of type: Item.Type = Item.self
    ) throws -> SyncTable<Item> where Item.ID: RowID {
        let definition = try definition(of: name)
        try definition.check(against: type)
        try definition.check(identityOf: type)
        return SyncTable(context: self, definition: definition)
    }

    /// The table of a `Codable` type, which has the name of the type.
    ///
    /// - Throws: As ``table(_:of:)``.
    public func table<Item: TableItem>(
        _ type: Item.Type
    ) throws -> SyncTable<Item> where Item.ID: RowID {
        try table("\(type)", of: type)
    }

    /// The declaration of a table that is kept in step with the server.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - what: What of it was asked for, as a participle, that has no meaning for a table which stays here.
    /// - Returns: The declaration.
    /// - Throws: `StoreError` with code `tableNotFound`; ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a table
    ///   that is local only.
    func syncedTable(_ name: String, _ what: String) throws -> TableDefinition {
        let table = try definition(of: name)
        try table.checkSynced(what)
        return table
    }

    func definition(of name: String) throws -> TableDefinition {
        guard let definition = store.schema.tables.first(where: { $0.name == name }) else {
            throw StoreError.tableNotFound(name)
        }
        return definition
    }

    // MARK: Push

    /// Sends the changes that wait, in the order they were made: of all tables, or of some.
    ///
    /// Changes that were made in a group are sent in its order, see ``write(_:)``; under
    /// ``SyncOptions/parallelOperations`` others may overtake each other, those of one item never. A row that is still to be
    /// inserted, or brought back, goes before those that refer to it, whatever their order and groups, and a deletion
    /// behind the changes of rows that referred to the row, but for those of groups when it is of a group. While what
    /// goes before is in conflict or refused, what goes after it waits, and ``PushReport/waiting`` counts it: the next
    /// push after that is settled or given up sends it. Rows that refer to each other in a circle are sent all the
    /// same, but for new rows to which the server gives ids: one of those is refused, and waits to be retried when one of the
    /// references was cleared. When tables are named, changes of other tables are sent only where a group puts them before one of a table
    /// that was named, or where such a one has to go after them.
    ///
    /// A change that the server refuses, or that meets another version there, is recorded and the next one is sent:
    /// these are in the report and are not errors. They are not sent again until they are edited or resolved. A change
    /// on which the server fails may have been carried out: the next push looks at the row before it sends the change
    /// again, and after five pushes in a row that fail with the same status, all at the look or all at the change, it counts
    /// as refused, whatever the server says with it; while the table itself does not answer, the push ends early instead.
    /// Changes made while the push runs wait for the next one.
    ///
    /// When the push ends early, nothing further is sent, and what is under way is waited for and recorded; only
    /// cancelling the task cancels it. A change at which two pushes have ended, by a 401 or a web page with a status of 400
    /// to 499, counts as refused by the third when the table answers and the change gets the same once more: what stands
    /// behind it would wait for ever.
    ///
    /// - Parameter tables: The tables whose changes are sent; all when none is given. Of a query, its table counts.
    /// - Returns: What was taken, and what was not.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/pushAbortedNetwork``,
    ///   ``SyncError/Code/pushAbortedAuthentication`` (also when every change was forbidden) or
    ///   ``SyncError/Code/pushAbortedAddress``, ``SyncError/Code/storeUnavailable`` when the store is locked or closed
    ///   meanwhile, `StoreError` when the store fails otherwise, `CancellationError`. What the server accepted
    ///   before is recorded, unless it is the store that has ended the push; everything else is still queued.
    ///   `StoreError` with code `tableNotFound` for a table that is not declared. ``SyncError/Code/invalidParameter`` for a
    ///   table that is local only. ``SyncError/Code/unsupported`` without
    ///   a server. ``SyncError/Code/historyLost`` while everything is to be brought anew. What a delegate or a policy
    ///   throws.
    public func push(_ tables: any SyncSource...) async throws -> PushReport {
        try checkRemote()
        let names = try tables.map { try syncedTable($0.source.table, "pushed").name }
        return try await push(names.isEmpty ? nil : Set(names), partOf: nil)
    }

    /// Sends the changes of some tables, or of all, as a part of something else when that is given.
    func push(_ names: Set<String>?, partOf whole: RequestCounter?) async throws -> PushReport {
        do {
            return try await pushTellingApp(names, partOf: whole)
        } catch {
            throw error.ofApp
        }
    }

    /// Sends all changes. What code of the app throws is an ``AppFailure``.
    package func pushTellingApp() async throws -> PushReport {
        try checkRemote()
        return try await pushTellingApp(nil, partOf: nil)
    }

    func pushTellingApp(_ names: Set<String>?, partOf whole: RequestCounter?) async throws -> PushReport {
        do {
            let report = try await pushInTurn(names, partOf: whole)
            await delegate?.syncContext(self, didPush: report)
            return report
        } catch let error as SyncError {
            if let report = error.push { await delegate?.syncContext(self, didPush: report) }
            throw error
        } catch let stopped as PushStoppedByStore {
            await delegate?.syncContext(self, didPush: stopped.report)
            throw stopped.error
        } catch {
            // A store that is not there before anything was begun.
            throw SyncError(ending: error) ?? error
        }
    }

    private func pushInTurn(_ names: Set<String>?, partOf whole: RequestCounter?) async throws -> PushReport {
        try await coordination.gate.withTurn {
            try await checkReset()
            events.send(.pushStarted)
            do {
                try await prepareExchange()
                let report = try await PushRunner(
                    store: store,
                    remote: remote,
                    parallelOperations: parallelOperations,
                    queuePortion: queuePortion,
                    coordination: coordination,
                    decisions: PushDecisions(self),
                    clock: clock
                )
                .run(names, partOf: whole)
                events.send(.pushEnded(report))
                return report
            } catch {
                events.send(.pushAborted((error as? PushStoppedByStore)?.error ?? error.ofApp))
                throw error
            }
        }
    }

    // MARK: Queue

    /// Whether a push, pull or purge of this store waits for what the task does, or is taken to.
    package var isWithinSync: Bool { coordination.isWithinTurn }

    /// How many local changes wait, over all tables, and what the server does not have.
    public func status() async throws -> SyncStatus {
        let schema = store.schema
        return try await store.read { try SyncStatus(&$0, schema) }
    }

    /// What ``status()`` gives: now, and whenever it changes.
    public func observeStatus() -> StoreObservation<SyncStatus> {
        let schema = store.schema
        let tables: Set = [SystemTables.operations.name, SystemTables.configuration.name]
        return store.observe(tables: tables) { try SyncStatus(&$0, schema) }
    }

    /// The operations that wait, in the order they will be sent.
    public func operations() async throws -> [TableOperation] {
        let schema = store.schema
        return try await store.read { try OperationQueue.all(&$0, schema) }
    }
}
