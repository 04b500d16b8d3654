internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// A device whose server chooses ids: a store that stays, and an app that is started again.
///
/// Used on the thread of its simulation only.
final class ChosenDevice: @unchecked Sendable {
    let number: Int
    unowned let world: ChosenIDs
    private let store: any SyncContextDataSource
    private(set) var life: ChosenStore
    private(set) var context: SyncContext
    private var delegate: ChosenDelegate?
    /// The origins of rows that were here, by table and local id.
    private(set) var origins: [RowKey: String] = [:]
    /// Rows that were deleted here, the latest last.
    private var deleted: [RowKey] = []

    init(_ number: Int, _ store: any SyncContextDataSource, _ world: ChosenIDs) {
        self.number = number
        self.world = world
        self.store = store
        (life, context) = Self.start(number, store, world)
        delegate = ChosenDelegate(self)
        haveASay()
    }

    var name: String { Device.name(number) }

    private static func start(
        _ number: Int,
        _ store: any SyncContextDataSource,
        _ world: ChosenIDs
    ) -> (ChosenStore, SyncContext) {
        let life = ChosenStore(store, world.executor)
        var options = SyncOptions(parallelOperations: world.settings.parallelOperations)
        options.queuePortion = world.settings.queuePortion
        let context = SyncContext(
            store: life,
            remote: ChoosingRemote(server: world.server, device: number),
            options: options,
            clock: StandingClock()
        )
        return (life, context)
    }

    func restart() {
        world.note("\(name) starts again.")
        (life, context) = Self.start(number, store, world)
        haveASay()
    }

    private func haveASay() {
        context.delegate = delegate
        context.conflictPolicy = delegate?.policy ?? .store
    }

    func willDie(after transactions: Int) {
        world.note("\(name) will die after \(transactions) transactions.")
        life.willDie(after: transactions)
    }

    func place(_ origin: String) -> ChosenLedger.Place { .init(device: number, origin: origin) }

    // MARK: What is here

    /// The rows of a table, in an order that does not depend on ids.
    func rows(_ table: String) async throws -> [Record] {
        try await world.executor.waitingElsewhere { try await store.read(Query(table)).records }
            .sorted { ($0["origin"]?.stringValue ?? "") < ($1["origin"]?.stringValue ?? "") }
    }

    /// Takes note of which rows are here.
    func look() async throws {
        for table in ChosenIDs.tableNames { note(try await rows(table), table) }
    }

    private func note(_ rows: [Record], _ table: String) {
        for row in rows {
            origins[RowKey(table: table, id: row.id.stringValue ?? "")] = row["origin"]?.stringValue
        }
    }

    // MARK: Syncing

    /// Pushes; that it may be cut short is what is tried.
    func push() async throws {
        world.note("\(name) pushes.")
        try await expecting {
            let report = try await self.context.push()
            self.world.note("\(self.name) has pushed: \(report)")
        }
    }

    func pull(reconciles: Bool = false) async throws {
        world.note("\(name) pulls\(reconciles ? " everything" : "").")
        try await expecting {
            for table in ["items", "lists"] {
                if reconciles {
                    _ = try await self.context.pull(Query(table), options: PullOptions(reconciles: true))
                } else {
                    _ = try await self.context.pull(Query(table), queryID: "all")
                }
            }
        }
    }

    private func expecting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as SyncError where error.code != .damagedQueue {
            world.note("\(name): \(error)")
        } catch is Killed {
            world.note("\(name) has died.")
        }
        try await look()
    }

    // MARK: Editing

    /// Makes changes that were chosen some time before, those that still make sense.
    func perform(_ changes: [ChosenChange], isGroup: Bool = false) async throws {
        guard !changes.isEmpty else { return }
        let tables = try Dictionary(uniqueKeysWithValues: ChosenIDs.tableNames.map { ($0, try context.table($0)) })
        let batches = isGroup ? [changes] : changes.map { [$0] }
        for batch in batches {
            let steps = try await ChosenStore.$isUsersChange.withValue(true) {
                try await context.write { transaction in
                    var steps = [try ChosenSnapshot(&transaction)]
                    for change in batch {
                        try change.perform(tables, &transaction)
                        steps.append(try ChosenSnapshot(&transaction))
                    }
                    return steps
                }
            }
            var tokens: [[String]] = []
            for (before, after) in zip(steps, steps.dropFirst()) { tokens += changed(before, after) }
            world.ledger.group(tokens, by: number)
            world.note("\(name) changes \(tokens), and has \(steps.last?.story ?? [])")
        }
    }

    /// Takes note of what the user has changed.
    ///
    /// - Returns: The tokens of the changes, those that a deletion leads to before it; of these there is no order.
    private func changed(_ before: ChosenSnapshot, _ after: ChosenSnapshot) -> [[String]] {
        var tokens: [[String]] = []
        for table in ["items", "lists"] {
            for (id, row) in after.rows[table] ?? [:] {
                guard let text = row["text"]?.stringValue, let origin = row["origin"]?.stringValue else { continue }
                let old = before.rows[table]?[id]
                origins[RowKey(table: table, id: id)] = origin
                guard old?["text"]?.stringValue != text else {
                    if old?["list"] != row["list"] {
                        world.ledger.clear(at: place(origin))
                        let list = old?["list"]?.stringValue.flatMap { before.rows["lists"]?[$0] }
                        if let list = list?["origin"]?.stringValue { world.ledger.clear(at: place(list)) }
                    }
                    continue
                }
                world.ledger.edit(text, at: place(origin), over: old?["text"]?.stringValue, isNew: old == nil)
                tokens.append([text])
            }
            var deletions: [String] = []
            let gone = (before.rows[table] ?? [:]).filter { after.rows[table]?[$0.key] == nil }
            for (origin, id) in gone.map({ ($0.value["origin"]?.stringValue ?? "", $0.key) }).sorted(by: <) {
                deleted.append(RowKey(table: table, id: id))
                deletions.append(world.ledger.delete(at: place(origin), over: gone[id]?["text"]?.stringValue))
            }
            if !deletions.isEmpty { tokens.append(deletions) }
        }
        return tokens
    }

    /// Takes the deletion of some row back, if it still waits.
    func takeBackDeletion() async throws {
        guard let key = deleted.popLast(), let origin = origins[key] else { return }
        do {
            try await context.table(key.table).undoDelete(key.id)
        } catch let error as SyncError where error.code == .invalidAction {
            // It was sent, or given up.
            return
        }
        let row = try await rows(key.table).first { $0.id == .string(key.id) }
        world.note(
            "\(name) takes back the deletion of \(origin), and has \(row.map(ChoosingServer.Write.story) ?? "nothing")"
        )
        world.ledger.takeBackDeletion(at: place(origin), row?["text"]?.stringValue)
    }

    /// Gives up some change that waits.
    func giveUpAny() async throws {
        let operations = try await context.operations()
        guard !operations.isEmpty else { return }
        let operation = world.random.pick(operations)
        let isMine =
            origins[RowKey(table: operation.table, id: operation.itemID)].map { world.ledger.maker(of: $0) } == number
        // What takes a deletion back makes the row anew.
        if world.settings.deletesForGood, operation.kind == .delete, !isMine { return }
        let key = RowKey(table: operation.table, id: operation.itemID)
        guard let origin = origins[key] else { return world.fail("\(name) knows nothing of \(key)") }
        let isUndo = try await isTakenBack(operation)
        do {
            try await context.discard(operation)
        } catch let error as SyncError where error.code == .operationChanged {
            // It was answered meanwhile.
            return
        }
        world.note("\(name) gives up what waits for \(origin).")
        if !isUndo { world.ledger.giveUp(at: place(origin)) }
    }

    /// Whether an operation takes back what was given up before.
    private func isTakenBack(_ operation: TableOperation) async throws -> Bool {
        let rows = try await world.executor.waitingElsewhere {
            try await store.read(Query(SystemTables.operations.name)).records
        }
        return rows.contains { row in
            row.id == .int64(operation.id)
                && row["properties"]?.bytesValue.map { String(decoding: $0, as: UTF8.self).contains("\"undo\":true") }
                    ?? false
        }
    }
}

/// A change that was chosen, and can be made some time later.
struct ChosenChange: Sendable {
    enum Kind: Sendable {
        case insert
        case update
        case delete
    }

    let kind: Kind
    let table: String
    let id: String
    let values: [String: FieldValue]

    func perform(_ tables: [String: SyncTable<Record>], _ transaction: inout SyncTransaction) throws {
        guard let table = tables[table] else { return }
        // It may have been deleted since.
        guard try kind == .insert || transaction.read(id, in: table) != nil else { return }
        switch kind {
        case .insert: try transaction.insert(values, id: id, into: table)
        case .update: try transaction.update(Record(id: .string(id), values), in: table)
        case .delete: try transaction.delete(id, from: table)
        }
    }
}

/// The rows of a device at one instant.
struct ChosenSnapshot: Sendable {
    private(set) var rows: [String: [String: Record]] = [:]

    init(_ transaction: inout SyncTransaction) throws {
        for table in ChosenIDs.tableNames {
            try transaction.forEach(Query(table)) { rows[table, default: [:]][$0.id.stringValue ?? ""] = $0 }
        }
    }

    var story: [String] { rows.values.flatMap(\.values).map(ChoosingServer.Write.story).sorted() }
}
