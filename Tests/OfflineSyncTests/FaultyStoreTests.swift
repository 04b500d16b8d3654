import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SeededNumbers
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// Notes what it is told of the ends of pushes.
private final class EndDelegate: SyncContextDelegate {
    let reports = Mutex<[PushReport]>([])

    func syncContext(_ context: SyncContext, didPush report: PushReport) async {
        reports.withLock { $0.append(report) }
    }
}

@Suite("A store that fails")
struct FaultyStoreTests {
    @Test(
        "loses nothing: every n-th call fails, everything is tried again, and both sides end with all changes",
        arguments: StoreFault.Moment.allCases,
        // Fewer, and an attempt that needs n calls would meet the same failure every time.
        5...12
    )
    func everyNthCall(_ moment: StoreFault.Moment, _ n: Int) async throws {
        try await syncAgainstFailures { call in call.number % n == 0 ? .fails(moment) : nil }
    }

    @Test("loses nothing: one call in four fails, at any moment", arguments: 0..<8)
    func oneCallInFour(_ number: UInt64) async throws {
        let seed = (SeededGenerator.chosenSeed ?? 1) &+ number
        try await syncAgainstFailures { call in
            var random = SeededRandom(seed: seed, for: "\(call.number)")
            return random.chance(25) ? .fails(random.pick(StoreFault.Moment.allCases)) : nil
        }
    }

    /// Changes rows, pushes and pulls until all of it went through, then compares both sides.
    private func syncAgainstFailures(_ plan: @escaping @Sendable (StoreCall) -> StoreFault?) async throws {
        try await SyncWorld.with(.datasync) { world in
            // Rows that only the server has, and one that both have.
            for id in ["s1", "s2", "shared"] { try await world.laptop.table.insert(["text": .string(id)], id: id) }
            _ = try await world.laptop.context.push()

            let store = FaultyStore(try makeStore(), plan)
            let context = SyncContext(store: store, remote: world.phone.server)
            let table = try context.table("TodoItem")
            try await retrying { _ = try await table.pull(queryID: "all") }
            for id in ["a", "b", "c"] {
                try await retrying(unlessDone: {
                    try await store.base.read(table: "TodoItem", itemID: .string(id)) != nil
                }) {
                    _ = try await table.insert(["text": .string(id)], id: id)
                }
            }
            try await retrying { try await table.update(Record(id: "shared", ["text": "changed"])) }
            try await retrying { try await table.update(Record(id: "a", ["text": "a2"])) }
            try await retrying(unlessDone: { try await store.base.read(table: "TodoItem", itemID: "s2") == nil }) {
                try await table.delete("s2")
            }
            try await retrying { _ = try await context.push() }
            try await retrying { _ = try await table.pull(queryID: "all") }
            #expect(store.faultCount > 0, "the store did fail")
            store.heal()
            _ = try await context.push()
            try await table.pull(queryID: "all")

            let expected = ["s1": "s1", "shared": "changed", "a": "a2", "b": "b", "c": "c"]
            #expect(world.onServer() == expected)
            let rows = try await store.base.read(Query("TodoItem")).records
            let texts = Dictionary(
                uniqueKeysWithValues: rows.map { ($0.id.stringValue ?? "", $0["text"]?.stringValue ?? "") }
            )
            #expect(texts == expected)
            #expect(try await context.operations().isEmpty)
            #expect(try await context.operationErrors().isEmpty)
        }
    }

    @Test(
        "keeps row and operation together at every call of a local change",
        arguments: StoreFault.Moment.allCases,
        1...6
    )
    func localChange(_ moment: StoreFault.Moment, _ number: Int) async throws {
        let store = FaultyStore(try makeStore()) { call in call.number == number ? .fails(moment) : nil }
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table("TodoItem")
        for id in ["a", "b", "c"] {
            do {
                _ = try await table.insert(["text": "x"], id: id)
            } catch let error as StoreError {
                #expect(error.code == .inputOutput)
            }
        }
        let rows = try await store.base.read(Query("TodoItem")).records.compactMap(\.id.stringValue)
        let operations = try await store.base.read(Query(store.operationTableName)).records
        #expect(
            operations.compactMap { $0["itemId"]?.stringValue }.sorted() == rows.sorted(),
            "no row without its operation"
        )
    }

    @Test(
        "that ends a push: the delegate is told what was done, and the caller gets the store's error",
        arguments: [StoreError.Code.full, .inputOutput, .damaged]
    )
    func toldToDelegate(_ code: StoreError.Code) async throws {
        let (fails, server, delegate) = (Switch(), GroupServer(), EndDelegate())
        let store = FaultyStore(try makeStore()) { _ in
            fails.isOn ? .fails(.beforeClosure, StoreError(code, "on purpose")) : nil
        }
        let context = SyncContext(store: store, remote: server)
        context.delegate = delegate
        let todos = try context.table("TodoItem")
        for id in ["a", "b", "c"] { try await todos.insert(["text": "milk"], id: id) }
        server.script = { id in if id == "c" { fails.isOn = true } }
        let error = await #expect(throws: StoreError.self) { _ = try await context.push() }
        #expect(error?.code == code)
        #expect(delegate.reports.withLock { $0.map(\.requests) } == [3])
        server.script = { _ in }
        fails.isOn = false
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts.count == 3)
        #expect(delegate.reports.withLock { $0.count } == 2)
    }

    /// Does something again until no planned failure stops it.
    private func retrying(
        unlessDone isDone: () async throws -> Bool = { false },
        _ body: () async throws -> Void
    ) async throws {
        for _ in 0..<200 {
            do {
                return try await body()
            } catch let error as StoreError where error.code == .inputOutput {
                // The failure that was planned. It may have come after the commit.
                if try await isDone() { return }
            } catch let error as SyncError where (error.cause as? StoreError)?.code == .inputOutput {
                // The same, wrapped by the engine.
            }
        }
        Issue.record("did not get through in 200 attempts")
    }
}
