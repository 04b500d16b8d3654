import OfflineSync
import ReferenceStore
import RemoteContract
import SeededNumbers
import StoreConformance
import SyncContract
import Synchronization
import Testing

@Suite("Several operations under way at a time")
struct ParallelPushTests {
    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: 8))
        todos = try context.table("TodoItem")
    }

    private func insert(_ ids: some Sequence<Int>) async throws {
        for id in ids { try await todos.insert(["text": "milk"], id: "\(id)") }
    }

    @Test("are as many as was said, all of them are counted, and each is recorded")
    func number() async throws {
        try await insert(1...30)
        let gate = Gate(opensAfter: 8)
        server.script = { _ in await gate.pass() }
        let report = try await context.push()
        #expect(report.pushed == 30)
        #expect(report.requests == 30, "also those of child tasks")
        #expect(server.mostUnderWay == 8)
        #expect(try await context.operations().isEmpty)
    }

    @Test("are as many again when one went alone because the others refer to its row", .timeLimit(.minutes(1)))
    func afterAParent() async throws {
        let tables = try ReferringTables()
        let (server, options) = (tables.server, SyncOptions(parallelOperations: 8))
        let context = SyncContext(store: tables.store, remote: server, options: options)
        try await tables.lists.insert(["text": "l"], id: "l")
        for id in 1...40 { try await tables.tasks.insert(["text": "t", "list": "l"], id: "\(id)") }
        let gate = Gate(opensAfter: 8)
        server.script = { id in if id != "l" { await gate.pass() } }
        #expect(try await context.push().pushed == 41)
        #expect(server.mostUnderWay == 8)
    }

    /// Is asked about an operation until the push has ended for another one.
    private final class SlowDelegate: SyncContextDelegate {
        let wait: @Sendable () async throws -> Void

        init(_ wait: @escaping @Sendable () async throws -> Void) { self.wait = wait }

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
            if operation.itemID == "1" { try await wait() }
        }
    }

    @Test("do not leave when the push has ended while somebody was asked", .timeLimit(.minutes(1)))
    func endedWhileAsking() async throws {
        try await insert(1...2)
        let number = try #require(try await context.operations().last?.id)
        let stored = { @Sendable [store] in
            try await store.read(table: SystemTables.operations.name, itemID: .int64(number))
        }
        let asked = Gate(opensAfter: 2)
        server.script = { id in
            #expect(id == "2")
            await asked.pass()
            throw RemoteError(.unauthorized, "on purpose")
        }
        let delegate = SlowDelegate {
            // It is marked as sent, and with the answer it is not any more.
            let sent = try await stored()
            await asked.pass()
            while try await stored() == sent { await Task.yield() }
        }
        context.delegate = delegate
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        #expect(server.begun == ["2"])
        #expect(try await context.operations().count == 2)
    }

    /// Settles a conflict for this device, and is asked until the push has ended for another operation before it is sent again.
    private final class SettlingDelegate: SyncContextDelegate {
        private let asked = Mutex(0)
        let wait: @Sendable () async throws -> Void

        init(_ wait: @escaping @Sendable () async throws -> Void) { self.wait = wait }

        func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
            guard operation.itemID == "1" else { return }
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 2 { try await wait() }
        }

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? { .keepMine }
    }

    @Test(
        "do not leave when the push has ended while somebody was asked about what was settled",
        .timeLimit(.minutes(1))
    )
    func endedWhileAskingAgain() async throws {
        try await insert(1...1)
        _ = try await context.push()
        server.change("1", "theirs")
        try await todos.update(Record(id: "1", ["text": "mine"]))
        try await insert(2...2)
        let number = try #require(try await context.operations().last?.id)
        let stored = { @Sendable [store] in
            try await store.read(table: SystemTables.operations.name, itemID: .int64(number))
        }
        let asked = Gate(opensAfter: 2)
        server.script = { id in
            guard id == "2" else { return }
            await asked.pass()
            throw RemoteError(.unauthorized, "on purpose")
        }
        let delegate = SettlingDelegate {
            let sent = try await stored()
            await asked.pass()
            while try await stored() == sent { await Task.yield() }
        }
        context.delegate = delegate
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        #expect(server.begun.filter { $0 == "1" }.count == 2, "at first, and when it met the conflict")
        server.script = { _ in }
        context.delegate = nil
        #expect(try await context.push().pushed == 2)
        #expect(server.texts == ["1": "mine", "2": "milk"])
    }

    @Test("are 1 to 8, one by default")
    func bounds() async throws {
        #expect(SyncOptions().parallelOperations == 1)
        #expect(SyncOptions(parallelOperations: 100).parallelOperations == 8)
        var options = SyncOptions(parallelOperations: 3)
        options.parallelOperations = 0
        #expect(options.parallelOperations == 1)
        let context = SyncContext(store: store, remote: server, options: .init(pageSize: 5))
        try await insert(1...5)
        _ = try await context.push()
        #expect(server.begun == ["1", "2", "3", "4", "5"])
        #expect(server.mostUnderWay == 1)
    }

    @Test("are waited for and recorded when one of them ends the push, and none follows", arguments: [401, 429, nil])
    func aborting(_ status: Int?) async throws {
        try await insert(1...30)
        // Eight are chosen; then the one that ends the push is recorded, and only now are the others answered.
        let (all, recording) = (Gate(opensAfter: 8), Gate(opensAfter: 2))
        let watched = FaultyStore(store) { call in
            if call.writes { recording.open() }
            return nil
        }
        let context = SyncContext(store: watched, remote: server, options: SyncOptions(parallelOperations: 8))
        server.script = { id in
            await all.pass()
            guard id == "3" else { return await recording.wait() }
            switch status {
            case 401: throw RemoteError(.unauthorized, "no", status: 401)
            case 429: throw RemoteError(.throttled, "no", status: 429)
            default: throw RemoteError(.unreachable, "no")
            }
        }
        do {
            _ = try await context.push()
            Issue.record("it ended the push")
        } catch let error as SyncError {
            #expect(error.code == (status == 401 ? .pushAbortedAuthentication : .pushAbortedNetwork))
            #expect(error.push?.pushed == server.written.count)
        }
        #expect(Set(server.begun) == Set((1...8).map(String.init)), "none follows")
        #expect(server.written.count == 7)
        let waiting = try await context.operations()
        #expect(waiting.count == 23, "every answer is recorded")
        #expect(waiting.filter(\.isAttempted).count == (status == 401 ? 0 : 1), "no other was chosen")
        server.script = { _ in }
        _ = try await context.push()
        #expect(server.texts.count == 30)
        #expect(server.written.count == 30, "nothing is sent twice")
    }

    @Test("are not sent again when another one has ended the push meanwhile", arguments: ["theirs", "milk"])
    func notSentAgain(_ there: String) async throws {
        try await insert(1...2)
        _ = try await context.push()
        for id in ["1", "2"] { try await todos.update(Record(id: .string(id), ["text": "mine"])) }
        // About other content the policy decides. What looks as before is gone over without that.
        server.change("2", there)
        // Both are chosen; then the one that ends the push is recorded, and only now is the other one answered.
        let (all, recording) = (Gate(opensAfter: 2), Gate(opensAfter: 2))
        let watched = FaultyStore(store) { call in
            if call.writes { recording.open() }
            return nil
        }
        let ending = SyncContext(store: watched, remote: server, options: SyncOptions(parallelOperations: 2))
        ending.conflictPolicy = .clientWins
        server.script = { id in
            await all.pass()
            guard id == "1" else { return await recording.wait() }
            throw RemoteError(.throttled, "come back later", status: 429)
        }
        #expect(try await syncErrorCode { _ = try await ending.push() } == .pushAbortedNetwork)
        #expect(server.begun.dropFirst(2).sorted() == ["1", "2"], "once each")
        server.script = { _ in }
        #expect(try await ending.push().pushed == 2)
        #expect(server.texts == ["1": "mine", "2": "mine"])
    }

    private final class WriteCount: Sendable {
        private let writes = Mutex(0)
        var count: Int { writes.withLock { $0 } }
        func add() { writes.withLock { $0 += 1 } }
    }

    @Test("hold back what a group puts behind one that was on its way when the group was written")
    func writtenMeanwhile() async throws {
        for id in ["a", "c", "b"] { try await todos.insert(["text": "milk"], id: id) }
        // Two are chosen; the second one is recorded, the order is made anew, and nothing is chosen, all in one transaction:
        // between two of them another group could be written, and so on.
        let (writing, choosing) = (Gate(opensAfter: 1), Gate(opensAfter: 2))
        let writes = WriteCount()
        let watched = FaultyStore(store) { call in
            if call.writes {
                writes.add()
                choosing.open()
            }
            return nil
        }
        server.script = { [context, todos] id in
            guard id == "a" else { return await writing.wait() }
            try await context.write { tx in
                for id in ["a", "b"] { try tx.update(Record(id: .string(id), ["text": "bread"]), in: todos) }
            }
            writing.open()
            await choosing.wait()
            for _ in 0..<1_000 { await Task.yield() }
            #expect(writes.count == 2)
        }
        let options = SyncOptions(parallelOperations: 2)
        _ = try await SyncContext(store: watched, remote: server, options: options, clock: SleepingClock()).push()
        #expect(server.texts == ["a": "milk", "c": "milk"])
        server.script = { _ in }
        _ = try await context.push()
        #expect(server.written == ["c", "a", "a", "b"])
    }

    @Test("hold back what a group puts behind one that is on its way when one between them is discarded")
    func discardedMeanwhile() async throws {
        try await insert(1...1)
        try await context.write { tx in
            for id in ["a", "b", "c"] { try tx.insert(["text": "milk"], id: id, into: todos) }
        }
        // Two are chosen; the first one is recorded and the next are looked for.
        let (discarding, choosing) = (Gate(opensAfter: 1), Gate(opensAfter: 2))
        let watched = FaultyStore(store) { call in
            if call.writes { choosing.open() }
            return nil
        }
        server.script = { [context, todos] id in
            guard id == "a" else { return await discarding.wait() }
            try await todos.revert("b")
            #expect(try await context.operations().map(\.itemID) == ["1", "a", "c"])
            discarding.open()
            await choosing.wait()
            throw RemoteError(.refused, "no", status: 400)
        }
        _ = try await SyncContext(store: watched, remote: server, options: SyncOptions(parallelOperations: 2)).push()
        #expect(server.begun.sorted() == ["1", "a"])
    }

    @Test("are no two of which one refers to the other, also when it takes back what had referred to it")
    func references() async throws {
        let columns = [ColumnDefinition("list", .string, references: "lists")]
        let tables = [TableDefinition("items", columns: columns), TableDefinition("lists", columns: [])]
        let store = MemoryStore(try StoreSchema(tables))
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: 2))
        let items = try context.table("items")
        try await items.insert(["list": "l"], id: "a")
        server.script = { _ in throw RemoteError(.unreachable, "no answer") }
        _ = try await syncErrorCode { _ = try await context.push() }
        try await items.revert("a")
        try await context.table("lists").insert([:], id: "l")
        server.script = { _ in for _ in 1...100 { await Task.yield() } }
        _ = try await context.push()
        #expect(server.mostUnderWay == 1)
        #expect(server.begun == ["a", "a", "a", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("are cancelled with the push, and nothing is lost")
    func cancelling() async throws {
        try await insert(1...30)
        let all = Gate(opensAfter: 8)
        server.script = { _ in
            await all.pass()
            while !Task.isCancelled { await Task.yield() }
            throw CancellationError()
        }
        let push = Task { [context] in try await context.push() }
        await all.wait()
        push.cancel()
        await #expect(throws: CancellationError.self) { try await push.value }
        #expect(server.begun.count == 8)
        server.script = { _ in }
        _ = try await context.push()
        #expect(server.texts.count == 30)
        #expect(try await context.operations().isEmpty)
    }

    @Test("keep everything in the queue when the server forbids all of them")
    func forbidden() async throws {
        try await insert(1...20)
        server.script = { _ in throw RemoteError(.refused, "forbidden", status: 403) }
        let code = try await syncErrorCode { _ = try await context.push() }
        #expect(code == .pushAbortedAuthentication)
        #expect(try await context.operationErrors().isEmpty)
        server.script = { id in if id != "20" { throw RemoteError(.refused, "forbidden", status: 403) } }
        let report = try await context.push()
        #expect(report.failures.count == 19 && report.pushed == 1)
    }

    @Test("keep the order of items and groups, whatever the delays and refusals", arguments: 0..<12 as Range<UInt64>)
    func order(_ number: UInt64) async throws {
        let seed = (SeededGenerator.chosenSeed ?? 7) &+ number
        var random = SeededRandom(seed: seed, for: "groups")
        var groups: [[String]] = []
        for _ in 0..<10 {
            var ids: [String] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                ids.append("\(Int.random(in: 1...25, using: &random))")
            }
            groups.append(ids)
        }
        for (index, ids) in groups.enumerated() {
            try await context.write { [todos] tx in
                for id in ids {
                    if try tx.read(id, in: todos) == nil {
                        try tx.insert(["text": .string("\(index)")], id: id, into: todos)
                    } else {
                        try tx.update(Record(id: .string(id), ["text": .string("\(index)")]), in: todos)
                    }
                }
            }
        }
        let judge = GroupJudge(groups)
        let chance = Mutex(SeededRandom(seed: seed, for: "answers"))
        server.script = { id in
            judge.begin(id)
            let (yields, isRefused) = chance.withLock { random in
                (Int.random(in: 0..<50, using: &random), random.chance(15))
            }
            for _ in 0..<yields { await Task.yield() }
            judge.end(id, isWritten: !isRefused)
            if isRefused { throw RemoteError(.refused, "not now", status: 400) }
        }
        for _ in 0..<60 where try await !context.operations().isEmpty {
            _ = try await context.push()
            for error in try await context.operationErrors() { try await context.resolve(error, with: .keepMine) }
        }
        #expect(judge.wrongs == [], "seed \(seed): \(groups)")
        #expect(try await context.operations().isEmpty, "seed \(seed)")
        #expect(server.texts.count == Set(groups.joined()).count)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("answers that are recorded together, the newest first, give no number again")
    func numbers() async throws {
        let store = try makeStore()
        let server = GroupServer()
        let options = SyncOptions(parallelOperations: 2)
        let context = SyncContext(store: store, remote: server, options: options, clock: ManualClock())
        let table = try context.table(todoTable.name)
        try await table.insert(["text": "refused"], id: "bad")
        server.script = { id in
            if id == "bad" { throw RemoteError(.refused, "on purpose", status: 422) }
        }
        #expect(try await context.push().failures.count == 1)
        for id in 1...100 { try await table.insert(["text": "x"], id: "\(id)") }
        let gate = Gate(opensAfter: 2)
        server.script = { id in
            if ["1", "100"].contains(id) { await gate.pass() }
        }
        let highest = try #require(try await context.operations().map(\.id).max())
        #expect(try await context.push().pushed == 100)
        try await table.insert(["text": "later"], id: "m")
        #expect(try await context.operations().map(\.id).max() ?? 0 > highest)
    }
}

/// Says of each request whether it may be under way: all that its groups changed before has been written, unless groups
/// crossed.
private final class GroupJudge: Sendable {
    private struct State {
        var written: Set<String> = []
        var underWay: Set<String> = []
        var wrongs: [String] = []
    }

    /// What a group changed before each item, and what stands before that as well.
    private let changedBefore: [String: Set<String>]
    private let before: [String: Set<String>]
    private let state = Mutex(State())

    init(_ groups: [[String]]) {
        var before: [String: Set<String>] = [:]
        for group in groups {
            for (place, id) in group.enumerated() { before[id, default: []].formUnion(group[..<place]) }
        }
        changedBefore = before
        // Whatever comes before what comes before.
        let ids = Array(before.keys)
        for middle in ids {
            let beforeMiddle = before[middle] ?? []
            for id in ids where before[id]?.contains(middle) ?? false {
                before[id]?.formUnion(beforeMiddle)
            }
        }
        self.before = before
    }

    var wrongs: [String] { state.withLock { $0.wrongs } }

    func begin(_ id: String) {
        state.withLock { state in
            for earlier in changedBefore[id] ?? [] where earlier != id && !state.written.contains(earlier) {
                let cross = before[earlier]?.contains(id) ?? false
                if !cross { state.wrongs.append("\(id) before \(earlier)") }
                if state.underWay.contains(earlier) { state.wrongs.append("\(id) beside \(earlier)") }
            }
            if !state.underWay.insert(id).inserted { state.wrongs.append("\(id) twice at a time") }
        }
    }

    func end(_ id: String, isWritten: Bool) {
        state.withLock { state in
            state.underWay.remove(id)
            if isWritten { state.written.insert(id) }
        }
    }
}

/// Holds everybody back until so many have come.
private final class Gate: Sendable {
    private struct State {
        var missing: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(opensAfter number: Int) { state = Mutex(State(missing: number)) }

    /// Counts and waits.
    func pass() async {
        open()
        await wait()
    }

    /// Counts.
    func open() {
        let waiting = state.withLock { state in
            state.missing -= 1
            guard state.missing <= 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits without being counted.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard state.missing > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
