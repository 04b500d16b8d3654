import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

/// A server with foreign keys: it takes no row before those that it refers to, and deletes none before those that refer to it.
@Suite("The order of rows that refer to each other")
struct ReferenceOrderTests {
    private let tables: ReferringTables
    private var server: GroupServer { tables.server }
    private var store: MemoryStore { tables.store }
    private var context: SyncContext { tables.context }
    private var lists: SyncTable<Record> { tables.lists }
    private var tasks: SyncTable<Record> { tables.tasks }

    init() throws { tables = try ReferringTables() }

    @Test("a row that came to refer to a newer one goes after that, and what refers to it after it", arguments: [1, 8])
    func insertedBefore(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await lists.insert(["text": "1"], id: "a")
        try await tasks.insert(["text": "of a", "list": "a"], id: "t")
        try await tasks.insert(["text": "another"], id: "u")
        try await lists.insert(["text": "2"], id: "b")
        try await lists.insert(["text": "3", "above": "b"], id: "c")
        try await lists.update(Record(id: "a", ["above": "c"]))
        _ = try await context.push()
        let order = server.written
        let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        for (first, second) in [("b", "c"), ("c", "a"), ("a", "t")] {
            #expect(try #require(places[first]) < #require(places[second]), "\(order)")
        }
        #expect(order.count == 5)
        #expect(try await context.operations().isEmpty)
    }

    @Test("the first change of a row that was kept where the server has none goes before new rows that refer to it")
    func keptWithoutRow() async throws {
        try await lists.insert(["text": "not like this"], id: "l")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        server.script = { id in
            if id == "l" { throw RemoteError(.refused, "on purpose", status: 422) }
        }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["l"] && report.waiting == 1)
        server.script = { _ in }
        try await context.resolve(try #require(report.failures.first), with: .keepLocal())
        try await lists.update(Record(id: "l", ["text": "like this"]))
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written == ["l", "t"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion goes after the changes of rows that referred to the row, however old the change before it is")
    func deletedAfter() async throws {
        try await tables.share()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        try await tasks.update(Record(id: "t", ["text": "changed"]))
        try await tasks.delete("t")
        try await lists.delete("l")
        _ = try await context.push()
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("also when another operation was the last, and the deletion is taken back again")
    func undone() async throws {
        try await tables.share()
        try await tasks.update(Record(id: "t", ["text": "changed"]))
        try await lists.update(Record(id: "l", ["text": "changed"]))
        try await lists.delete("l")
        try await lists.undoDelete("l")
        try await lists.insert(["text": "new"], id: "n")
        #expect(try await context.operations().map(\.itemID) == ["t", "l", "n"])
        #expect(Set(try await context.operations().map(\.id)).count == 3)
        _ = try await context.push()
        #expect(server.texts == ["t": "changed", "l": "changed", "n": "new"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("holds in a group, whatever its order", arguments: [1, 8])
    func group(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        let (lists, tasks) = (try context.table("lists"), try context.table("tasks"))
        try await context.write { transaction in
            try transaction.insert(["text": "first"], id: "f", into: tasks)
            try transaction.insert(["text": "of l", "list": "l"], id: "t", into: tasks)
            try transaction.insert(["text": "l"], id: "l", into: lists)
            try transaction.insert(["text": "last"], id: "z", into: tasks)
        }
        _ = try await context.push()
        #expect(server.written == ["f", "l", "t", "z"])

        try await context.write { transaction in
            try transaction.update(Record(id: "l", ["text": "changed"]), in: lists)
            try transaction.update(Record(id: "t", ["text": "changed"]), in: tasks)
            try transaction.delete("t", from: tasks)
            try transaction.delete("l", from: lists)
        }
        _ = try await context.push()
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("what is refused ahead of its place in a group holds back the rest of it, and is told")
    func refusedAhead() async throws {
        let (lists, tasks) = (lists, tasks)
        try await context.write { transaction in
            try transaction.insert(["text": "of l", "list": "l"], id: "t", into: tasks)
            try transaction.insert(["text": "l"], id: "l", into: lists)
            try transaction.insert(["text": "last"], id: "z", into: tasks)
        }
        server.script = { id in if id == "l" { throw RemoteError(.refused, "no", status: 422) } }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["l"])
        #expect(!server.begun.contains("z"))
        server.script = { _ in }
        try await context.retryRefused()
        _ = try await context.push()
        #expect(Set(server.written) == ["l", "t", "z"] && server.written.last == "z")
        #expect(try await context.operations().isEmpty)
    }

    @Test("takes along a row of a table that was not asked for, when a row of one that was refers to it")
    func chosenTable() async throws {
        try await lists.insert(["text": "l"], id: "l")
        try await lists.insert(["text": "other"], id: "o")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        _ = try await context.push(tasks)
        #expect(server.written == ["l", "t"])
        #expect(try await context.operations().map(\.itemID) == ["o"])
    }

    @Test("rows that refer to each other in a circle are sent all the same, where the server has their ids")
    func circle() async throws {
        let server = GroupServer()
        let context = SyncContext(store: store, remote: server)
        try await lists.insert(["text": "a", "above": "b"], id: "a")
        try await lists.insert(["text": "b", "above": "a"], id: "b")
        _ = try await context.push()
        #expect(server.written.count == 2)
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion goes after a later one of a row that referred to the row", arguments: [1, 8])
    func deletedLater(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        try await lists.delete("l")
        try await tasks.delete("t")
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "a row that is sent again, and refers to another one by now, waits for that when it is new, in the same push or longer",
        arguments: [1, 8],
        ["new", "changed", "unchanged", "itself"]
    )
    func referringElsewhereUnderWay(parallel: Int, other: String) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        for id in ["l", "changed", "unchanged"] { try await lists.insert(["text": "1"], id: id) }
        try await lists.insert(["text": "1", "above": "l"], id: "itself")
        _ = try await context.push()
        try await lists.update(Record(id: "itself", ["text": "2"]))
        server.script = { _ in throw RemoteError(.unreachable, "the answer is lost") }
        await #expect(throws: SyncError.self) { _ = try await context.push() }
        // What was sent before arrives, and the row is edited before the answer says so.
        let isFirst = Mutex(true)
        server.script = { [server, lists] _ in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isFirst else { return }
            server.change("itself", "2", ["above": "l"])
            if other == "new" { try await lists.insert(["text": "1"], id: other) }
            if other == "changed" { try await lists.update(Record(id: .string(other), ["text": "2"])) }
            try await lists.update(Record(id: "itself", ["above": .string(other)]))
        }
        var report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == (other == "new" ? 1 : 0))
        // What has joined the queue meanwhile is sent by the next push.
        #expect(try await context.operations().count == ["new": 2, "changed": 1][other] ?? 0)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "what is sent ahead of others, and comes to wait in its turn, leaves nothing behind that stands before it",
        arguments: [1, 8]
    )
    func waitingAheadOfOthers(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tasks.insert(["text": "t", "list": "x"], id: "t")
        for id in 1...9 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await lists.insert(["text": "1"], id: "x")
        try await lists.insert(["text": "1"], id: "q")
        server.script = { _ in throw RemoteError(.unreachable, "the answer is lost") }
        await #expect(throws: SyncError.self) { _ = try await context.push() }
        #expect(server.begun.first == "x")
        nameAnotherWhenAsked()
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(try await context.operations().map(\.itemID) == [])
        #expect(server.texts.count == 12)
        #expect(server.written.filter { ["q", "x"].contains($0) } == ["x", "q", "x"])
    }

    @Test("what was sent ahead and came to wait is told of, also where its table was not asked for", arguments: [1, 8])
    func waitingOfAnotherTable(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tasks.insert(["text": "t", "list": "x"], id: "t")
        try await lists.insert(["text": "1"], id: "x")
        try await lists.insert(["text": "1"], id: "q")
        server.script = { _ in throw RemoteError(.unreachable, "the answer is lost") }
        await #expect(throws: SyncError.self) { _ = try await context.push(tasks) }
        #expect(server.begun == ["x"])
        nameAnotherWhenAsked()
        let report = try await context.push(tasks)
        let left = try await context.operations().map(\.itemID)
        #expect(report.notTaken.isEmpty && left.contains("x"))
        #expect(report.waiting == 1, "\(left)")
        #expect(try await context.push().waiting == 0)
        #expect(try await context.operations().isEmpty)
    }

    /// The insert of x was carried out; before the server says so, the row comes to name another one that waits.
    private func nameAnotherWhenAsked() {
        server.change("x", "1", ["above": .null])
        let isFirst = Mutex(true)
        server.script = { [lists] id in
            let isFirst = isFirst.withLock { isFirst in
                defer { if id == "x" { isFirst = false } }
                return isFirst
            }
            if id == "x", isFirst { try await lists.update(Record(id: "x", ["above": "q"])) }
        }
    }

    @Test("two new rows that refer to each other are sent where the server chooses the id of one of them")
    func circleOfTwoKinds() async throws {
        let tables = [
            TableDefinition("lists", columns: [.init("first", .string, references: "tasks")], assignsIDs: true),
            TableDefinition("tasks", columns: [.init("list", .string, references: "lists")]),
        ]
        let server = GroupServer()
        let context = SyncContext(store: MemoryStore(try StoreSchema(tables)), remote: server)
        try await context.table("lists").insert(["first": "t"], id: "l")
        try await context.table("tasks").insert(["list": "l"], id: "t")
        let report = try await context.push()
        #expect(report.pushed == 2 && report.waiting == 0)
        #expect(server.written == ["s1", "t"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("a change of letters alone is sent, also where the server's row has another version by then")
    func lettersAlone() async throws {
        let server = GroupServer()
        let tables = [
            TableDefinition("lists", columns: [.init("text", .string)], idComparison: .asciiCaseInsensitive),
            TableDefinition("tasks", columns: [.init("text", .string), .init("list", .string, references: "lists")]),
        ]
        let context = SyncContext(store: MemoryStore(try StoreSchema(tables)), remote: server)
        let tasks = try context.table("tasks")
        try await context.table("lists").insert(["text": "l"], id: "list")
        try await tasks.insert(["text": "t", "list": "lIsT"], id: "t")
        #expect(try await context.push().pushed == 2)
        server.change("t", "t", ["list": "lIsT"])
        try await tasks.update(Record(id: "t", ["list": "list"]))
        #expect(try await context.push().notTaken.isEmpty)
        #expect(try await server.record("t", in: tables[1])?["list"] == "list")
        #expect(try await tasks.read("t")?["list"] == "list")
    }

    @Test("a deletion goes after a later change by which a row refers to another one, which is new")
    func referringElsewhere() async throws {
        try await tables.share()
        try await lists.delete("l")
        try await lists.insert(["text": "m"], id: "m")
        try await tasks.update(Record(id: "t", ["list": "m"]))
        #expect(try await context.push(lists).notTaken.isEmpty)
        #expect(server.written.suffix(3) == ["m", "t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("a wait for an edit goes on to the deletion that takes its place")
    func waitedFor() async throws {
        try await tables.share()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        let changes = try await context.outstandingChanges()
        try await tasks.delete("t")
        try await lists.delete("l")
        #expect(try await changes.review().open.count == 1)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(try await changes.review().open.isEmpty)
    }

    @Test("a row waits while one that it refers to is refused, is told, and is sent after that", arguments: [1, 8])
    func refused(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await lists.insert(["text": "l"], id: "l")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        try await tasks.insert(["text": "u"], id: "u")
        server.script = { id in if id == "l" { throw RemoteError(.refused, "no", status: 422) } }
        for _ in 1...2 {
            let report = try await context.push()
            #expect(report.failures.map(\.itemID) == ["l"] && report.waiting == 1)
            #expect(server.begun.sorted() == ["l", "u"])
        }
        server.script = { _ in }
        try await lists.update(Record(id: "l", ["text": "mended"]))
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written == ["u", "l", "t"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("a row that waits is sent, and told, when what it waits for is given up")
    func givenUp() async throws {
        try await lists.insert(["text": "l"], id: "l")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        server.script = { id in if id == "l" { throw RemoteError(.refused, "no", status: 422) } }
        let changes = try await context.outstandingChanges()
        #expect(try await context.push().waiting == 1)
        #expect(try await !changes.review().hasNewer)
        try await lists.revert("l")
        #expect(try await changes.review().hasNewer, "a session pushes now")
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["t"] && report.waiting == 0)
        try await tasks.update(Record(id: "t", ["list": .null]))
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts == ["t": "t"])
    }

    @Test("a deletion waits while one of a row that referred to the row is in conflict")
    func deletionInConflict() async throws {
        try await tables.share()
        server.change("t", "theirs", ["list": "l"])
        try await tasks.delete("t")
        try await lists.delete("l")
        var report = try await context.push()
        #expect(report.conflicts.map(\.itemID) == ["t"] && report.waiting == 1 && report.failures.isEmpty)
        try await context.resolve(try #require(report.conflicts.first), with: .keepMine)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && server.texts.isEmpty)
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion waits for a change in a group of a row that referred to the row, and goes in the same push")
    func deletedAfterGroup() async throws {
        let tasks = tasks
        try await tables.share()
        try await lists.delete("l")
        try await context.write { transaction in
            try transaction.insert(["text": "z"], id: "z", into: tasks)
            try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
        }
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(3) == ["z", "t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "a row that is brought back on the server goes before what refers to it, which stands before it",
        arguments: [1, 8]
    )
    func restoredBefore(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await refuseTask()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        server.change("l", "l", ["deleted": true])
        let conflict = try #require(try await context.push().conflicts.first)
        try await tasks.update(Record(id: "u", ["list": "l"]))
        #expect(try await context.operations().map(\.itemID) == ["u", "l"])
        try await context.resolve(conflict, with: .keepMine)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written.suffix(2) == ["l", "u"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("so does one that was inserted again after its deletion was sent", arguments: [1, 8], [true, false])
    func insertedAgainBefore(parallel: Int, arrived: Bool) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await refuseTask()
        try await lists.delete("l")
        server.script = { _ in throw RemoteError(.unreachable, "the answer is lost") }
        await #expect(throws: SyncError.self) { _ = try await context.push() }
        server.script = { _ in }
        if arrived { server.change("l", "l", ["deleted": true]) }
        try await lists.insert(["text": "again"], id: "l")
        try await tasks.update(Record(id: "u", ["list": "l"]))
        #expect(try await context.operations().map(\.itemID) == ["u", "l"])
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts == ["l": "again", "u": "changed"])
        #expect(server.written.last == "u")
        #expect(try await context.operations().isEmpty)
    }

    @Test("what refers to a row waits while it cannot be brought back", arguments: [1, 8])
    func notRestored(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await refuseTask()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        server.change("l", "l", ["deleted": true])
        let conflict = try #require(try await context.push().conflicts.first)
        try await tasks.update(Record(id: "u", ["list": "l"]))
        try await context.resolve(conflict, with: .keepMine)
        server.script = { id in if id == "l" { throw RemoteError(.refused, "no", status: 422) } }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["l"] && report.waiting == 1)
    }

    /// Has a list and a task on both sides, and a change of the task here that the server has refused.
    private func refuseTask() async throws {
        try await lists.insert(["text": "l"], id: "l")
        try await tasks.insert(["text": "u"], id: "u")
        _ = try await context.push()
        try await tasks.update(Record(id: "u", ["text": "changed"]))
        server.script = { id in if id == "u" { throw RemoteError(.refused, "no", status: 422) } }
        #expect(try await context.push().failures.count == 1)
        server.script = { _ in }
    }
}
