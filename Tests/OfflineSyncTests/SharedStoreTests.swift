import OfflineSync
import RemoteContract
import StoreConformance
import SyncContract
import Testing

@Suite("Several contexts over one store", .timeLimit(.minutes(3)))
struct SharedStoreTests {
    private let query = Query("TodoItem")

    @Test("know of each other's answers: a page does not undo what the other one pushed")
    func answers() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            let page = PullPage(records: [serverRow("a", "old", version: "v0")], cursor: "c")
            try await barrier.wait()
            return page
        }
        let store = try makeStore()
        let (one, other) = (SyncContext(store: store, remote: remote), SyncContext(store: store, remote: remote))
        async let pull = one.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await other.table("TodoItem").insert(["text": "mine"], id: "a")
        _ = try await other.push()
        barrier.open()
        _ = try await pull
        #expect(try await texts(one) == ["a": "mine"])
    }

    @Test("pull one after the other, and purge between pulls")
    func turns() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { _, number in
            if number == 1 { try await barrier.wait() }
            return PullPage(records: [serverRow("a")], cursor: "\(number)")
        }
        let store = try makeStore()
        let (one, other) = (SyncContext(store: store, remote: remote), SyncContext(store: store, remote: remote))
        async let first = one.pull(query)
        await barrier.isReached()
        async let second = other.pull(query)
        for _ in 0..<200 { await Task.yield() }
        #expect(remote.requests.count == 1)
        barrier.open()
        _ = try await (first, second)
        #expect(remote.requests.map(\.position) == [.changes(since: nil), .changes(since: "1")])
    }

    @Test("those over two stores do not wait for each other, also when one has taken the place of another")
    func twoStores() async throws {
        let barrier = Barrier()
        let held = ScriptedRemote { _, _ in
            try await barrier.wait()
            return PullPage(records: [])
        }
        for _ in 0..<20 {
            // The object of one may be where that of the last one was.
            let context = SyncContext(store: try makeStore(), remote: ScriptedRemote(pages: [PullPage(records: [])]))
            try await context.pull(query)
        }
        let waiting = SyncContext(store: try makeStore(), remote: held)
        async let pull = waiting.pull(query)
        await barrier.isReached()
        let free = SyncContext(
            store: try makeStore(),
            remote: ScriptedRemote(pages: [PullPage(records: [serverRow("a")])])
        )
        #expect(try await free.pull(query).received == 1)
        barrier.open()
        _ = try await pull
    }
}
