import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

@Suite("Several contexts over one store", .timeLimit(.minutes(3)))
struct SharedStoreTests {
    private let query = Query("TodoItem")

    private func context(_ store: MemoryStore, _ remote: some SyncRemote, _ isValue: Bool) -> SyncContext {
        SyncContext(store: isValue ? ValueStore(store: store, name: "here") : store, remote: remote)
    }

    @Test("know of each other's answers: a page does not undo what the other one pushed", arguments: [false, true])
    func answers(_ isValue: Bool) async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            let page = PullPage(records: [serverRow("a", "old", version: "v0")], cursor: "c")
            try await barrier.wait()
            return page
        }
        let store = try makeStore()
        let (one, other) = (context(store, remote, isValue), context(store, remote, isValue))
        async let pull = one.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await other.table("TodoItem").insert(["text": "mine"], id: "a")
        _ = try await other.push()
        barrier.open()
        _ = try await pull
        #expect(try await texts(one) == ["a": "mine"])
    }

    @Test("pull one after the other, and purge between pulls", arguments: [false, true])
    func turns(_ isValue: Bool) async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { _, number in
            if number == 1 { try await barrier.wait() }
            return PullPage(records: [serverRow("a")], cursor: "\(number)")
        }
        let store = try makeStore()
        let (one, other) = (context(store, remote, isValue), context(store, remote, isValue))
        async let first = one.pull(query)
        await barrier.isReached()
        async let second = other.pull(query)
        for _ in 0..<200 { await Task.yield() }
        #expect(remote.requests.count == 1)
        barrier.open()
        _ = try await (first, second)
        #expect(remote.requests.map(\.position) == [.changes(since: nil), .changes(since: "1")])
    }

    @Test(
        "those over two stores do not wait for each other, also when one has taken the place of another",
        arguments: [false, true]
    )
    func twoStores(_ isValue: Bool) async throws {
        let barrier = Barrier()
        let held = ScriptedRemote { _, _ in
            try await barrier.wait()
            return PullPage(records: [])
        }
        for _ in 0..<20 {
            // The object of one may be where that of the last one was.
            let context = context(try makeStore(), ScriptedRemote(pages: [PullPage(records: [])]), isValue)
            try await context.pull(query)
        }
        let waiting = context(try makeStore(), held, isValue)
        async let pull = waiting.pull(query)
        await barrier.isReached()
        let free = context(try makeStore(), ScriptedRemote(pages: [PullPage(records: [serverRow("a")])]), isValue)
        #expect(try await free.pull(query).received == 1)
        barrier.open()
        _ = try await pull
    }
}

/// A store that is a value: a copy of it is the same store.
private struct ValueStore: SyncContextDataSource {
    let store: MemoryStore
    let name: String
    var shownNames = ["a": 1, "b": 2, "c": 3]
    let observe: (@Sendable () -> Void)? = {}

    var schema: StoreSchema { store.schema }
    var capabilities: StoreCapabilities { store.capabilities }
    var handlesSyncTableOperations: Bool { store.handlesSyncTableOperations }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value { try await store.read(body) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value { try await store.write(body) }

    func changes() -> AsyncStream<StoreChange> { store.changes() }
}
