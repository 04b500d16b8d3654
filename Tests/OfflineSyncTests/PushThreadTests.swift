import Dispatch
import OfflineSync
import RemoteContract
import SeededNumbers
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// A place where tasks run, which can be told from others.
private final class Place: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "answers")

    init() { queue.setSpecific(key: Self.key, value: true) }

    static var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Notes of where something was called.
private final class Places: Sendable {
    private let notes = Mutex<[Bool]>([])

    /// Whether each was in the place of the answers.
    var all: [Bool] { notes.withLock { $0 } }

    func note() { notes.withLock { $0.append(Place.isHere) } }
}

/// A server in memory whose answers arrive in a place of their own.
private final class AnsweringServer: AnsweringRemote {
    let rows = GroupServer()
    let answerExecutor: (any TaskExecutor)? = Place()
    /// Where it was asked to write.
    let places = Places()

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        places.note()
        return try await rows.insert(record, into: table)
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        places.note()
        return try await rows.update(record, in: table, version: version, restoring: restoring)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await rows.delete(id, from: table, version: version)
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await rows.record(id, in: table)
    }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { throw RemoteError(.unreachable, "nothing is pulled here") }
}

/// A store that takes note of where it is asked.
private struct PlacedStore: SyncContextDataSource {
    let base: any SyncContextDataSource
    let places = Places()

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        places.note()
        return try await base.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        places.note()
        return try await base.write(body)
    }

    func changes() -> AsyncStream<StoreChange> { base.changes() }
}

/// Takes note of where it is asked.
private final class PlacedDelegate: SyncContextDelegate {
    let places = Places()

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws { places.note() }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        places.note()
        return .keepMine
    }
}

@Suite("The thread of a push")
struct PushThreadTests {
    /// A context, and what its store has taken note of.
    private static func context(
        _ server: AnsweringServer,
        _ options: SyncOptions = SyncOptions()
    ) throws -> (SyncContext, Places) {
        let store = PlacedStore(base: try makeStore())
        return (SyncContext(store: store, remote: server, options: options), store.places)
    }

    @Test(
        "is that of the answers for what is sent, and never for the store, policies and those who called",
        arguments: [1, 8]
    )
    func place(_ parallel: Int) async throws {
        // Where a task goes on that had to wait for others may depend on who was there before it.
        for _ in 0..<SeededGenerator.rounds(100, all: 5000) { try await pushEach(parallel) }
    }

    private func pushEach(_ parallel: Int) async throws {
        let (server, policy) = (AnsweringServer(), Places())
        let (context, store) = try Self.context(server, SyncOptions(parallelOperations: parallel))
        context.conflictPolicy = .merge { _ in
            policy.note()
            return .keepMine
        }
        let todos = try context.table("TodoItem")
        for number in 0..<40 { try await todos.insert(["text": "milk"], id: "\(number)") }
        #expect(try await context.push().pushed == 40)
        #expect(server.places.all == Array(repeating: true, count: 40))
        // Somebody else was faster, and the policy settles it. What is sent then may leave from elsewhere.
        server.rows.change("1", "bread")
        try await todos.update(Record(id: "1", ["text": "butter"]))
        try await todos.update(Record(id: "2", ["text": "butter"]))
        #expect(try await context.push().pushed == 2)
        #expect(server.rows.texts["1"] == "butter")
        #expect(server.places.all[40])
        #expect(policy.all == [false])
        #expect(!store.all.isEmpty && !store.all.contains(true))
        #expect(!Place.isHere)
    }

    @Test("is not that of the answers for a delegate, be it there from the beginning or not", arguments: [true, false])
    func delegate(_ isThereAtOnce: Bool) async throws {
        let (server, delegate) = (AnsweringServer(), PlacedDelegate())
        let (context, store) = try Self.context(server)
        if isThereAtOnce { context.delegate = delegate }
        server.rows.script = { [weak context] _ in context?.delegate = delegate }
        let todos = try context.table("TodoItem")
        for id in ["a", "b", "c"] { try await todos.insert(["text": "milk"], id: id) }
        #expect(try await context.push().pushed == 3)
        #expect(server.places.all.first == !isThereAtOnce)
        #expect(delegate.places.all == Array(repeating: false, count: isThereAtOnce ? 3 : 2))
        #expect(!store.all.contains(true))
    }

    @Test("is its own where a log hears of each change", arguments: [1, 8])
    func own(_ parallel: Int) async throws {
        let server = AnsweringServer()
        let heard = Places()
        var options = SyncOptions(parallelOperations: parallel)
        options.log = { _ in heard.note() }
        let (context, _) = try Self.context(server, options)
        for id in ["a", "b"] { try await context.table("TodoItem").insert(["text": "milk"], id: id) }
        #expect(try await context.push().pushed == 2)
        #expect(server.places.all == [false, false])
        #expect(!heard.all.contains(true))
    }
}
