import OfflineSync
import ReferenceStore
import RemoteContract
import SeededNumbers
import SyncContract
import Synchronization
import Testing

/// Random changes of lists and of the tasks in them, made before pushes and in the middle of them, beside a server with
/// foreign keys that loses, fails on and refuses requests. Here every task names a list that is there: so whatever comes,
/// the server has to be asked in an order in which it never finds a reference that leads nowhere.
@Suite(
    "Rows that refer to each other, under random changes",
    .timeLimit(.minutes(SeededGenerator.rounds(3, all: 20)))
)
struct ReferenceRandomTests {
    @Test("go in an order that keeps every reference, and arrive", arguments: [1, 8])
    func order(parallel: Int) async throws {
        try await play(parallel, .foreignKeys, rounds: SeededGenerator.rounds(60, all: 3_000))
    }

    /// A group that changes a list before a task may ask for another order than the references, and is kept to its own.
    @Test(
        "arrive whatever order groups ask for beside that: nothing waits for itself",
        arguments: [1, 8],
        [KeyedWorld.Kind.groupsAsk, .serverChoosesIDs]
    )
    func anyGroups(_ parallel: Int, _ kind: KeyedWorld.Kind) async throws {
        try await play(parallel, kind, rounds: SeededGenerator.rounds(60, all: 3_000))
    }

    private func play(_ parallel: Int, _ kind: KeyedWorld.Kind, rounds: Int) async throws {
        let first = SeededGenerator.seed()
        for seed in (0..<rounds).map({ first &+ UInt64($0) }) {
            let failures = try await KeyedWorld(seed, parallel: parallel, kind).play()
            try #require(failures.isEmpty, "seed \(seed): \(failures)")
        }
    }
}

/// One device and the server.
final class KeyedWorld: Sendable {
    enum Kind: Sendable {
        /// The server has foreign keys, and groups keep to them.
        case foreignKeys
        /// Groups ask for orders of their own.
        case groupsAsk
        /// They do, and the server chooses the ids.
        case serverChoosesIDs
    }

    private let server: KeyedServer
    private let store: MemoryStore
    private let context: SyncContext
    private let lists: SyncTable<Record>
    private let tasks: SyncTable<Record>
    private let state: Mutex<(random: SeededGenerator, count: Int)>
    private let kind: Kind
    private var groupsAsk: Bool { kind != .foreignKeys }

    init(_ seed: UInt64, parallel: Int, _ kind: Kind) throws {
        server = KeyedServer(seed, kind)
        self.kind = kind
        let tables = try ReferringTables.schema.get().tables
            .map { table in
                TableDefinition(table.name, columns: table.columns, assignsIDs: kind == .serverChoosesIDs)
            }
        store = MemoryStore(try StoreSchema(tables))
        var options = SyncOptions(parallelOperations: parallel)
        options.queuePortion = [1, 3, 1_024][Int(seed % 3)]
        context = SyncContext(
            store: store,
            remote: server,
            options: options,
            clock: ManualClock()
        )
        lists = try context.table("lists")
        tasks = try context.table("tasks")
        state = Mutex((SeededGenerator(seed: seed &+ 1), 0))
    }

    private func below(_ bound: Int) -> Int { state.withLock { Int.random(in: 0..<bound, using: &$0.random) } }

    /// What has gone wrong, with what came before.
    func play() async throws -> [String] {
        server.script = { [unowned self] in if below(4) == 0 { try await change() } }
        for _ in 0..<10 {
            for _ in 0..<below(6) { try await change() }
            server.tell("push")
            await push()
            if below(2) == 0 {
                server.tell("retry")
                try await context.retryRefused()
            }
            if let failure = server.failure { return [failure] + server.story }
        }
        server.calm()
        server.tell("quiet")
        for _ in 0..<4 {
            try await context.retryRefused()
            await push()
        }
        if let failure = server.failure { return [failure] + server.story }
        let left = try await context.operations()
        guard left.isEmpty else { return ["left: \(left.map(\.itemID))"] + server.story }
        var rows = try await store.read(Query("lists")).records
        rows += try await store.read(Query("tasks")).records
        guard KeyedServer.told(rows) == server.told else {
            return ["here \(KeyedServer.told(rows)), there \(server.told)"] + server.story
        }
        let problems = try await store.verifyQueue()
        return problems.isEmpty ? [] : ["\(problems)"] + server.story
    }

    private func push() async {
        do {
            let report = try await context.push()
            for error in report.conflicts { server.fail("conflict with oneself: \(error.itemID)") }
        } catch {
            server.tell("push ends: \((error as? SyncError)?.code.description ?? "\(error)")")
        }
    }

    /// One change, the deletion of a list with what that does to its tasks, or several changes in a group: of tasks, or of
    /// anything.
    private func change() async throws {
        let isGroup = below(groupsAsk ? 2 : 4) == 0
        let kinds = isGroup && !groupsAsk ? [2, 3, 4, 5, 7] : Array(0..<10)
        let draws = (0..<(isGroup ? 3 : 1)).map { _ in (kinds[below(kinds.count)], below(1_000), below(1_000)) }
        try await context.write { [self] transaction in
            for (kind, first, second) in draws { try change(kind, first, second, &transaction) }
        }
    }

    private func change(_ kind: Int, _ first: Int, _ second: Int, _ transaction: inout SyncTransaction) throws {
        let listIDs = try transaction.read(Query("lists").ordered(by: "id")).compactMap(\.id.stringValue)
        let taskIDs = try transaction.read(Query("tasks").ordered(by: "id")).compactMap(\.id.stringValue)
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let named: FieldValue = second % 4 == 0 || listIDs.isEmpty ? .null : .string(listIDs[second % listIDs.count])
        switch kind {
        case 0, 1:
            // Only older lists are named: none is above itself through others.
            let above: FieldValue = groupsAsk && first % 2 == 0 ? named : .null
            server.tell("  insert l\(number) below \(above)")
            try transaction.insert(["text": .string("\(number)"), "above": above], id: "l\(number)", into: lists)
        case 2, 3:
            server.tell("  insert t\(number) in \(named)")
            try transaction.insert(["text": .string("\(number)"), "list": named], id: "t\(number)", into: tasks)
        case 4, 5:
            guard !taskIDs.isEmpty else { return }
            try move(taskIDs[first % taskIDs.count], to: named, &transaction)
        case 6:
            guard !listIDs.isEmpty else { return }
            let id = listIDs[first % listIDs.count]
            server.tell("  edit \(id): \(number)")
            try transaction.update(Record(id: .string(id), ["text": .string("\(number)")]), in: lists)
        case 7:
            guard !taskIDs.isEmpty else { return }
            try delete(taskIDs[first % taskIDs.count], from: tasks, &transaction)
        default:
            guard !listIDs.isEmpty else { return }
            let id = listIDs[first % listIDs.count]
            let referring = try transaction.read(
                Query("tasks").filtered(by: Column("list") == .string(id)).ordered(by: "id")
            )
            for task in referring.compactMap(\.id.stringValue) {
                if kind == 8 {
                    try delete(task, from: tasks, &transaction)
                } else {
                    try move(task, to: named == .string(id) ? .null : named, &transaction)
                }
            }
            try delete(id, from: lists, &transaction)
        }
    }

    private func move(_ id: String, to list: FieldValue, _ transaction: inout SyncTransaction) throws {
        server.tell("  move \(id) to \(list)")
        try transaction.update(Record(id: .string(id), ["list": list]), in: tasks)
    }

    private func delete(_ id: String, from table: SyncTable<Record>, _ transaction: inout SyncTransaction) throws {
        server.tell("  delete \(id)")
        try transaction.delete(id, from: table)
    }
}

/// A server that refuses what leaves a reference without its row.
private final class KeyedServer: SyncRemote {
    fileprivate struct State {
        var random: SeededGenerator
        let kind: KeyedWorld.Kind
        var rows: [String: Record] = [:]
        var version = 0
        var isCalm = false
        var failure: String?
        var story: [String] = []
        var script: @Sendable () async throws -> Void = {}
    }

    private let state: Mutex<State>

    init(_ seed: UInt64, _ kind: KeyedWorld.Kind) {
        state = Mutex(State(random: SeededGenerator(seed: seed), kind: kind))
    }

    var script: @Sendable () async throws -> Void {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }
    var failure: String? { state.withLock { $0.failure } }
    var story: [String] { state.withLock { $0.story } }
    var told: [String] { state.withLock { Self.told($0.rows.values.filter { !$0.isDeleted }) } }

    /// The texts of rows with those of the lists that they name, whatever their ids are.
    static func told(_ rows: [Record]) -> [String] {
        let names = Dictionary(rows.map { ($0.id.stringValue, $0["text"]?.stringValue ?? "") }) { first, _ in first }
        return
            rows.map { row in
                let list = row["list"]?.stringValue.map { names[$0] ?? "?" } ?? "-"
                return "\(row["text"]?.stringValue ?? "")/\(list)"
            }
            .sorted()
    }

    static func text(_ row: Record) -> String {
        "\(row.id.stringValue ?? "")=\(row["text"]?.stringValue ?? "")/\(row["list"]?.stringValue ?? "-")"
    }

    func tell(_ line: String) { state.withLock { $0.story.append(line) } }
    func fail(_ text: String) { state.withLock { $0.failure = $0.failure ?? text } }
    func calm() {
        state.withLock { state in
            state.isCalm = true
            state.script = {}
        }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await exchange("insert \(Self.text(record))") { state in
            var row = record
            if state.kind == .serverChoosesIDs { row.id = .string("s\(state.version)") }
            row["table"] = .string(table.name)
            return try state.write(row) { $0 == nil }
        }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await exchange("update \(Self.text(record)) @\(version ?? "-")\(restoring ? ", restoring" : "")") { state in
            try state.write(record) { $0?.version == version && (restoring || $0?.isDeleted == false) }
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await exchange("delete \(id) @\(version ?? "-")") { state in
            guard let row = state.rows[id], !row.isDeleted else { return .unconfirmed(status: 404) }
            var deleted = row
            deleted["deleted"] = true
            _ = try state.write(deleted) { version == nil || $0?.version == version }
            return .confirmed
        }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await exchange("look up \(id)") { $0.rows[id] }
    }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        // Rows are looked for by their content where the server chooses ids; nothing else is pulled here.
        try await exchange("look for rows of \(table.name)") { state in
            PullPage(records: state.rows.values.filter { $0["table"] == .string(table.name) })
        }
    }

    private func exchange<Value: Sendable>(
        _ request: String,
        _ body: @Sendable (inout State) throws -> Value
    ) async throws -> Value {
        RequestCounter.countRequest()
        try await script()
        return try state.withLock { state in
            let fate = state.isCalm ? 99 : Int.random(in: 0..<24, using: &state.random)
            state.story.append("\(request) (\(fate))")
            switch fate {
            case 0: throw RemoteError(.unreachable, "the request is lost")
            case 1:
                _ = try body(&state)
                throw RemoteError(.unreachable, "the answer is lost")
            case 2: throw RemoteError(.serverFailure, "failed", status: 500)
            case 3:
                _ = try body(&state)
                throw RemoteError(.serverFailure, "failed", status: 500)
            case 4, 5: throw RemoteError(.refused, "no", status: 422)
            default: return try body(&state)
            }
        }
    }
}

extension KeyedServer.State {
    fileprivate mutating func write(_ record: Record, isExpected: (Record?) -> Bool) throws -> Record {
        let id = record.id.stringValue ?? ""
        guard isExpected(rows[id]) else {
            story.append(
                "  in conflict with \(rows[id].map(KeyedServer.text) ?? "nothing") @\(rows[id]?.version ?? "-")"
            )
            throw RemoteError(.conflict, "another version", status: 412, serverRecord: rows[id])
        }
        let isKept =
            record.isDeleted
            ? !rows.values.contains { !$0.isDeleted && $0["list"] == .string(id) }
            : record["list"]?.stringValue.map { rows[$0]?.isDeleted == false } ?? true
        guard isKept || kind != .foreignKeys else {
            story.append("  A foreign key!")
            failure =
                failure ?? "a reference without its row: \(KeyedServer.text(record)), deleted: \(record.isDeleted)"
            throw RemoteError(.refused, "a foreign key", status: 422)
        }
        version += 1
        var row = record
        row["table"] = row["table"] ?? rows[id]?["table"]
        row["version"] = .string("\(version)")
        row["deleted"] = .bool(record.isDeleted)
        rows[id] = row
        return row
    }
}
