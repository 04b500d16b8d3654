import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// A store in which nothing is kept by which an operation would end.
private final class StubbornStore: SyncContextDataSource {
    private let base: MemoryStore
    private let number: Int64

    init(_ base: MemoryStore, keeping number: Int64) {
        self.base = base
        self.number = number
    }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }
    var handlesSyncTableOperations: Bool { base.handlesSyncTableOperations }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value { try await base.read(body) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await base.write { [number] transaction -> Value in
            let value = try body(&transaction)
            let operation = try transaction.record(.int64(number), in: SystemTables.operations.name)
            guard operation != nil else { throw StoreError(.constraint, "on purpose") }
            return value
        }
    }

    func changes() -> AsyncStream<StoreChange> { base.changes() }
}

@Suite("Changes that leave in batches")
struct BatchPushTests {
    private let server = BatchServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
        todos = try context.table("TodoItem")
    }

    private func insert(_ ids: some Sequence<Int>) async throws {
        for id in ids { try await todos.insert(["text": "milk"], id: "\(id)") }
    }

    private func waiting() async throws -> [String] { try await context.operations().map(\.itemID) }

    @Test("as many at a time as the remote takes, in their order, inserts, updates and deletions together")
    func sizes() async throws {
        try await insert(1...25)
        #expect(try await context.push().pushed == 25)
        #expect(server.batchSizes == [10, 10, 5])
        #expect(server.rows.written == (1...25).map(String.init))
        try await todos.update(Record(id: "7", ["text": "bread"]))
        try await todos.delete("8")
        try await insert([26])
        #expect(try await context.push().pushed == 3)
        #expect(server.batchSizes == [10, 10, 5, 3])
        #expect(server.rows.texts["7"] == "bread" && server.rows.texts["8"] == nil && server.rows.texts["26"] != nil)
        #expect(try await waiting().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("one at a time where the remote takes one", arguments: [1, 0])
    func single(_ size: Int) async throws {
        let server = BatchServer(size)
        try await insert(1...5)
        #expect(try await SyncContext(store: store, remote: server).push().pushed == 5)
        #expect(server.batchSizes.isEmpty)
    }

    @Test("any number at a time where the remote says so, beside each other, too", arguments: [1, 8])
    func anyNumber(parallel: Int) async throws {
        let server = BatchServer(.max)
        let store = try makeStore()
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        let todos = try context.table("TodoItem")
        for id in 1...20 { try await todos.insert(["text": "milk"], id: "\(id)") }
        #expect(try await context.push().pushed == 20)
        #expect(server.batchSizes.allSatisfy { $0 <= 256 })
    }

    @Test("eight batches at a time, and no row twice")
    func parallel() async throws {
        try await insert(1...300)
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: 8))
        #expect(try await context.push().pushed == 300)
        #expect(server.rows.written.count == 300 && Set(server.rows.written).count == 300)
        #expect(server.batchSizes.reduce(0, +) + server.batchSizes.count { $0 == 1 } >= 290)
        #expect(server.batchSizes.allSatisfy { $0 <= 10 } && server.batchSizes.count <= 60)
        #expect(try await waiting().isEmpty)
    }

    @Test("none is laid aside while the server fails on everything, however often it is tried")
    func outage() async throws {
        try await insert(1...5)
        server.isDown.withLock { $0 = true }
        server.answer { $0.map { _ in .failure(RemoteError(.serverFailure, "down", status: 500)) } }
        server.rows.script = { _ in throw RemoteError(.serverFailure, "down", status: 500) }
        for _ in 0..<9 {
            do { _ = try await context.push() } catch let error as SyncError {
                #expect(error.code == .pushAbortedNetwork)
            }
        }
        #expect(try await context.status().failed == 0)
        server.isDown.withLock { $0 = false }
        server.answer(\.self)
        server.rows.script = { _ in }
        #expect(try await context.push().pushed == 5)
    }

    @Test("one that stands in the way of the others with every push stands aside, and is found by being sent alone")
    func blocking() async throws {
        try await insert(1...5)
        // Whoever forbids one row of a batch forbids the batch.
        server.answer { _ in throw RemoteError(.unauthorized, "not this row", status: 401) }
        server.rows.script = { id in
            if id == "3" { throw RemoteError(.unauthorized, "not this row", status: 401) }
        }
        for _ in 0..<4 {
            do { _ = try await context.push() } catch let error as SyncError {
                #expect(error.code == .pushAbortedAuthentication)
            }
        }
        #expect(try await context.operationErrors().map(\.itemID) == ["3"])
        #expect(server.rows.texts.count == 4)
    }

    @Test("a conflict and a refusal in the middle are theirs alone")
    func inTheMiddle() async throws {
        try await insert(1...6)
        server.rows.change("3", "of somebody else")
        server.rows.script = { id in if id == "5" { throw RemoteError(.refused, "not this", status: 422) } }
        let report = try await context.push()
        #expect(report.pushed == 4)
        #expect(report.conflicts.map(\.itemID) == ["3"] && report.failures.map(\.itemID) == ["5"])
        #expect(report.conflicts.first?.serverItem?["text"] == "of somebody else")
        #expect(server.batchSizes == [6])
        #expect(try await waiting() == ["3", "5"])
    }

    @Test("a deletion that is not confirmed is a conflict where others have changed the row")
    func unconfirmedDeletion() async throws {
        try await insert(1...2)
        _ = try await context.push()
        for id in ["1", "2"] { try await todos.delete(id) }
        server.rows.change("1", "of somebody else")
        server.answer { $0.map { _ in .success(.deletion(.unconfirmed(status: 404))) } }
        let report = try await context.push()
        #expect(report.conflicts.map(\.itemID) == ["1"] && report.failures.isEmpty, "\(report)")
        #expect(report.conflicts.first?.serverItem?["text"] == "of somebody else")
        #expect(server.batchSizes == [2, 2])
        #expect(try await waiting() == ["1"])
    }

    @Test("a conflict that a policy settles is sent again in the same push, after the others were recorded")
    func settled() async throws {
        try await insert(1...6)
        server.rows.change("1", "of somebody else")
        context.conflictPolicy = .merge { [store] conflict in
            let left = try await store.read(Query(store.operationTableName)).records
            #expect(left.count == 1, "whoever is asked keeps nobody waiting")
            var merged = conflict.serverItem ?? conflict.item
            merged?["text"] = "both"
            return merged.map { .keepMerged($0) }
        }
        #expect(try await context.push().pushed == 6)
        #expect(server.rows.texts["1"] == "both")
        #expect(try await waiting().isEmpty)
    }

    @Test("operations of one group leave one after the other, and wait behind what was refused; others leave together")
    func groups() async throws {
        for group in [["a", "b", "c"], ["d", "e"]] {
            try await context.write { tx in
                for id in group { try tx.insert(["text": "milk"], id: id, into: todos) }
            }
        }
        try await insert(1...3)
        server.rows.script = { id in if id == "b" { throw RemoteError(.refused, "not this", status: 422) } }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["b"])
        #expect(!server.rows.begun.contains("c"), "it waits for what stands before it")
        #expect(Set(server.rows.written) == ["a", "d", "e", "1", "2", "3"])
        let order = server.rows.written
        #expect(try #require(order.firstIndex(of: "d")) < (try #require(order.firstIndex(of: "e"))))
        server.rows.script = { _ in }
        #expect(try await context.retryRefused() == 1)
        #expect(try await context.push().pushed == 2)
        #expect(server.rows.written.suffix(2) == ["b", "c"])
    }

    @Test("a lost answer leaves all of it, and nothing is written twice or in conflict with itself")
    func lostAnswer() async throws {
        try await insert(1...12)
        server.answer { _ in throw RemoteError(.unreachable, "lost on the way back, on purpose") }
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        #expect(try await waiting().count == 12)
        #expect(server.batchSizes == [10], "none follows")
        try await todos.update(Record(id: "4", ["text": "bread"]))
        try await todos.delete("5")
        server.answer(\.self)
        let report = try await context.push()
        #expect(report.conflicts.isEmpty && report.failures.isEmpty)
        #expect(server.rows.texts.count == 11 && server.rows.texts["4"] == "bread")
        #expect(try await waiting().isEmpty)
    }

    @Test("end the push with what stood against going on first, whatever the answers behind that say")
    func severalReasons() async throws {
        try await insert(1...3)
        server.answer { answers in
            let reasons = [RemoteError(.unauthorized, "who is it?", status: 401), RemoteError(.unreachable, "gone")]
            return reasons.map { .failure($0) } + answers.dropFirst(2)
        }
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        #expect(try await waiting() == ["1", "2"])
        server.answer(\.self)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(try await waiting().isEmpty)
    }

    @Test(
        "what ends the exchange is the answer to each, and one that ends the push leaves the answers of the others",
        arguments: [RemoteError.Code.unauthorized, .throttled, .serverFailure]
    )
    func someAnswers(_ code: RemoteError.Code) async throws {
        try await insert(1...6)
        server.answer { answers in
            answers.enumerated().map { $0 < 3 ? $1 : .failure(RemoteError(code, "on purpose", status: 500)) }
        }
        if code == .serverFailure {
            #expect(try await context.push().pushed == 3)
        } else {
            #expect(try await syncErrorCode { _ = try await context.push() } != nil)
        }
        #expect(try await waiting() == ["4", "5", "6"])
        server.answer(\.self)
        #expect(try await context.push().conflicts.isEmpty)
        #expect(server.rows.texts.count == 6)
        #expect(try await waiting().isEmpty)
    }

    @Test("a remote that does not say of each what became of it, or says it of another kind, is not believed")
    func wrongAnswers() async throws {
        try await insert(1...3)
        server.answer { Array($0.dropLast()) }
        #expect(try await context.push().pushed == 0)
        server.answer { $0.map { _ in .success(.deletion(.confirmed)) } }
        try await insert(4...6)
        _ = try await context.push()
        #expect(try await waiting().isEmpty == false)
        server.answer(\.self)
        let report = try await context.push()
        #expect(report.conflicts.isEmpty && report.failures.isEmpty)
        #expect(server.rows.texts.count == 6)
        #expect(server.rows.written.count == 6)
    }

    @Test("what is edited while it is on its way with others is sent again")
    func editedMeanwhile() async throws {
        try await insert(1...6)
        server.rows.script = { [todos, server] id in
            guard id == "2", server.rows.written.count == 1 else { return }
            try await todos.update(Record(id: "1", ["text": "bread"]))
            try await todos.delete("6")
        }
        #expect(try await context.push().conflicts.isEmpty)
        server.rows.script = { _ in }
        #expect(try await context.push().conflicts.isEmpty)
        #expect(server.rows.texts.count == 5 && server.rows.texts["1"] == "bread")
        #expect(try await waiting().isEmpty)
    }

    @Test("a push that is killed at any transaction loses nothing and conflicts with nothing", arguments: 1...8)
    func killed(_ number: Int) async throws {
        try await insert(1...12)
        let begin = Mutex<Int?>(nil)
        let dying = FaultyStore(store) { call in
            let first = begin.withLock { first in
                first = first ?? call.number
                return first ?? 0
            }
            return call.number - first >= number ? .fails(.beforeCommit) : nil
        }
        do {
            _ = try await SyncContext(store: dying, remote: server).push()
        } catch is StoreError {
            // It is dead from here on.
        }
        // Another process finds what was stored.
        let next = SyncContext(store: store, remote: server)
        let report = try await next.push()
        #expect(report.conflicts.isEmpty && report.failures.isEmpty)
        #expect(server.rows.texts.count == 12)
        #expect(try await next.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("an answer that the store does not take in takes no other one along, and ends the push")
    func unrecorded() async throws {
        try await insert(1...6)
        let third = try #require(try await context.operations().first { $0.itemID == "3" })
        let stubborn = SyncContext(store: StubbornStore(store, keeping: third.id), remote: server)
        let error = await #expect(throws: StoreError.self) { _ = try await stubborn.push() }
        #expect(error?.code == .constraint)
        #expect(server.batchSizes == [6], "all six were answered together")
        #expect(server.rows.written.count == 6)
        #expect(try await waiting() == ["3"])
        let report = try await context.push()
        #expect(report.pushed == 1 && report.notTaken.isEmpty)
        #expect(try await waiting().isEmpty)
    }

    @Test("a delegate that stops the push in the middle of a batch lets those before it leave")
    func stopped() async throws {
        struct Stop: Error {}
        final class Delegate: SyncContextDelegate {
            func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
                if operation.itemID == "3" { throw Stop() }
            }
        }
        try await insert(1...5)
        let delegate = Delegate()
        context.delegate = delegate
        await #expect(throws: Stop.self) { _ = try await context.push() }
        #expect(server.rows.written == ["1", "2"])
        let left = try await context.operations()
        #expect(left.map(\.itemID) == ["3", "4", "5"] && left.allSatisfy { !$0.isAttempted })
    }

    @Test("are cancelled as a whole, and nothing is lost")
    func cancelling() async throws {
        try await insert(1...5)
        server.answer { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { _ = try await context.push() }
        server.answer(\.self)
        #expect(try await context.push().conflicts.isEmpty)
        #expect(server.rows.texts.count == 5)
        #expect(try await waiting().isEmpty)
    }
}
