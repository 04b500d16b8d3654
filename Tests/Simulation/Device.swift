internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// A device: a store that stays, and an app that is started again when it was killed.
final class Device: @unchecked Sendable {
    let number: Int
    unowned let world: World
    /// The store itself, which no scheduler holds up.
    private(set) var store: any SyncContextDataSource
    /// The version of the app, and of its tables.
    private(set) var version = 1
    private(set) var life: DeviceLife
    private var first: SyncContext
    /// Another one over the same store, where the app has two.
    private var second: SyncContext?
    /// What has a say in pushes; a context holds it weakly.
    private var delegate: PushDelegate?
    private var edits = 0

    /// A row that the user has had open for some time.
    var editor: (table: String, row: Record)?
    /// Whether rows were purged in a way that only a pull of everything mends.
    var hasPurged = false
    /// The rows the device has forgotten, whose ids it may choose again.
    var forgotten: Set<RowKey> = []

    /// Rows that were purged and stay away until they change.
    var purgedRows: [RowKey: PurgedRow] = [:]

    /// Rows that stay as they are here, whatever the server has, until they change here or there: what they say.
    var keptLocal: [RowKey: [String?]?] = [:]

    /// Of the rows among them of which the server had nothing how often it had been written to the row: nothing is told again.
    var keptOverNothing: [RowKey: Int] = [:]

    /// The marks of rows whose deletion waits.
    private var marksOfDeleted: [RowKey: String?] = [:]

    /// Whether the server has said that it was set up anew.
    var hasHeardOfReset = false

    /// Whether something was left to do when it was last tidied up.
    var isBusy = false

    /// What the app is doing.
    var running: [RunningStep] = []

    /// Whether a step goes through the second context.
    @TaskLocal static var usesOtherContext = false

    var context: SyncContext { Self.usesOtherContext ? second ?? first : first }

    static func name(_ number: Int) -> String { ["Ann", "Ben", "Cem", "Dora"][number] }

    var name: String { Self.name(number) }

    init(number: Int, store: any SyncContextDataSource, world: World) {
        self.number = number
        self.world = world
        self.store = store
        life = DeviceLife(device: number, names: world.settings.names(1))
        let contexts = Self.contexts(life, store, world)
        (first, second) = (contexts[0], contexts.dropFirst().first)
        haveASay()
    }

    private static func contexts(
        _ life: DeviceLife,
        _ store: any SyncContextDataSource,
        _ world: World
    ) -> [SyncContext] {
        let store = SimulatedStore(store: store, life: life, world: world)
        return (0..<(world.settings.hasTwoContexts ? 2 : 1))
            .map { _ in
                var options = SyncOptions(
                    parallelOperations: world.settings.parallelOperations,
                    pageSize: world.settings.pageSize
                )
                options.queuePortion = world.settings.queuePortion
                return SyncContext(
                    store: store,
                    remote: SimulatedRemote(life: life, world: world),
                    options: options,
                    clock: SimulatedClock(life: life, world: world)
                )
            }
    }

    /// Kills the app and starts it again. Requests that are under way stay so.
    func kill() {
        world.end(life)
        running = []
        editor = nil
        hasHeardOfReset = false
        start()
    }

    private func start() {
        life = DeviceLife(device: number, names: world.settings.names(version))
        let contexts = Self.contexts(life, store, world)
        (first, second) = (contexts[0], contexts.dropFirst().first)
        haveASay()
    }

    /// Kills the app and starts its next version, if that can take over what is here.
    func update() {
        guard version < WorldSettings.lastVersion, let migrate = world.migrate else { return }
        kill()
        Task(executorPreference: world.executor) { [self] in
            do {
                let before = try await snapshot()
                let schema = try world.settings.schema(version + 1)
                do {
                    store = try await world.executor.waitingElsewhere { [store] in try await migrate(store, schema) }
                } catch let error as StoreError where error.code == .migrationRefused {
                    return checkRefusal(before)
                }
                version += 1
                world.end(life)
                start()
                check(before, try await snapshot())
            } catch {
                world.fail("\(name) cannot get a new version: \(error)")
            }
        }
        world.executor.drain()
    }

    private func snapshot() async throws -> StoreSnapshot {
        let (settings, names) = (world.settings, life.names)
        return try await world.executor.waitingElsewhere { [store] in
            try await store.read { try StoreSnapshot(&$0, settings, names) }
        }
    }

    /// A column may go unless a change waits that has set a value in it.
    private func checkRefusal(_ before: StoreSnapshot) {
        world.note("\(name) cannot get a new version now.")
        let waits = before.operations.keys.contains { !(before.rows[$0]?["spare"]?.isNull ?? true) }
        if version != 2 || !waits { world.fail("\(name) is refused a new version, and nothing stands in its way") }
    }

    /// What was there is there, and nothing else.
    private func check(_ before: StoreSnapshot, _ after: StoreSnapshot) {
        world.note("\(name) has version \(version) now, and \(after.story).")
        let isSame =
            before.rows.mapValues { Self.values($0) + [$0.version] }
            == after.rows.mapValues { Self.values($0) + [$0.version] }
            && before.operations.mapValues(\.id) == after.operations.mapValues(\.id) && before.errors == after.errors
        if !isSame { world.fail("\(name) has something else in its new version") }
    }

    private func haveASay() {
        guard world.settings.policy != .store || world.settings.hasDelegates else { return }
        delegate = PushDelegate(self)
        for context in [first, second].compactMap(\.self) {
            context.delegate = delegate
            context.conflictPolicy = delegate?.policy ?? .store
        }
    }

    func table(_ name: String) throws -> SyncTable<Record> { try context.table(name) }

    func tables() throws -> [SyncTable<Record>] { try world.settings.tables.map(table) }

    /// A value that no other edit writes.
    func newToken() -> String {
        edits += 1
        return "\(name)\(edits)"
    }

    /// What stays on the device changes only when the user changes it, and comes back with a row that was deleted here.
    func checkMarks(_ before: StoreSnapshot, _ after: StoreSnapshot, _ witness: ChangeWitness?) {
        guard world.settings.hasLocalColumn else { return }
        let mayMark = witness?.mayMark ?? false
        for (key, row) in after.rows where !mayMark {
            let mark = before.rows[key].map { $0["mark"]?.stringValue } ?? marksOfDeleted[key]
            guard let mark, mark != row["mark"]?.stringValue else { continue }
            let other = row["mark"]?.stringValue
            world.fail("\(name) had the mark \(mark ?? "none") in \(key), and has \(other ?? "none")")
        }
        for key in marksOfDeleted.keys {
            let isChanged = mayMark && before.operations[key] != after.operations[key]
            if isChanged || after.rows[key] != nil || after.operations[key]?.isTakingBack ?? true {
                marksOfDeleted[key] = nil
            }
        }
        // Only a deletion that waits keeps the row; in a group it may have been made and deleted again.
        guard mayMark, witness?.isGroup == false else { return }
        for (key, row) in before.rows where after.rows[key] == nil && after.operations[key] != nil {
            marksOfDeleted[key] = .some(row["mark"]?.stringValue)
        }
    }

    /// Begins something that the app does, beside what it does already.
    func begin(_ name: String, _ body: @escaping @Sendable (Device) async throws -> Void) {
        world.note("\(self.name) \(name).")
        let life = life
        let step = RunningStep(name: name)
        running.append(step)
        step.task = Task(executorPreference: world.executor) { [self] in
            var problem: (any Error)?
            do {
                try await UncancelledWork.$executor.withValue(world.executor) { try await body(self) }
            } catch {
                problem = error
            }
            guard !life.isOver else { return }
            running.removeAll { $0 === step }
            if (problem as? SyncError)?.code == .historyLost { hasHeardOfReset = true }
            if let problem {
                if !Self.isExpected(problem) { world.fail("\(self.name) \(name): \(problem)") }
                world.note("\(self.name) \(name): ended with \(problem)")
            } else {
                world.note("\(self.name) \(name): done.")
            }
        }
    }

    /// What callers are told to expect. A failure of the store, a remote's error that nobody translated, and a queue that
    /// is damaged are none.
    private static func isExpected(_ error: any Error) -> Bool {
        if error is CancellationError || error is Hesitation { return true }
        guard let error = error as? SyncError else { return false }
        return error.code != .damagedQueue
    }
}

/// Something that an app is doing. Used on the thread of its simulation only.
final class RunningStep: @unchecked Sendable {
    let name: String
    var task: Task<Void, Never>?

    init(name: String) { self.name = name }
}
