import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// A server with foreign keys: it deletes no row before those that refer to it.
@Suite("Deletions and parts of groups that would wait for each other")
struct DeletionCircleTests {
    private let tables: ReferringTables
    private var server: GroupServer { tables.server }
    private var store: MemoryStore { tables.store }
    private var context: SyncContext { tables.context }
    private var lists: SyncTable<Record> { tables.lists }
    private var tasks: SyncTable<Record> { tables.tasks }

    init() throws { tables = try ReferringTables() }

    @Test("deletions of two groups do not wait for each other for ever", arguments: [1, 8])
    func groupsInACircle(parallel: Int) async throws {
        let server = GroupServer()
        let options = SyncOptions(parallelOperations: parallel)
        let context = SyncContext(store: store, remote: server, options: options)
        let (lists, tasks) = (try context.table("lists"), try context.table("tasks"))
        for id in ["l", "m"] {
            try await lists.insert(["text": "1"], id: id)
            try await tasks.insert(["text": "1", "list": .string(id)], id: "of \(id)")
        }
        _ = try await context.push()
        for id in ["of l", "of m"] { try await tasks.update(Record(id: .string(id), ["list": .null])) }
        for (id, other) in [("l", "of m"), ("m", "of l")] {
            try await context.write { transaction in
                try transaction.delete(id, from: lists)
                try transaction.update(Record(id: .string(other), ["text": "2"]), in: tasks)
            }
        }
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(try await context.operations().isEmpty)
        #expect(server.texts == ["of l": "2", "of m": "2"])
    }

    @Test(
        "of deletions that wait for each other one goes first, and the others behind what they wait for",
        arguments: [1, 8]
    )
    func oneOfACircle(parallel: Int) async throws {
        // It has no foreign keys: one of the circle has to be the first.
        let server = GroupServer()
        let options = SyncOptions(parallelOperations: parallel)
        let context = SyncContext(store: store, remote: server, options: options)
        let (lists, tasks) = (try context.table("lists"), try context.table("tasks"))
        let ids = ["k", "l", "m"]
        for id in ids {
            try await lists.insert(["text": "1"], id: id)
            try await tasks.insert(["text": "1", "list": .string(id)], id: "of \(id)")
        }
        _ = try await context.push()
        for id in ids { try await tasks.update(Record(id: .string("of \(id)"), ["list": .null])) }
        for (id, next) in zip(ids, ["l", "m", "k"]) {
            try await context.write { transaction in
                try transaction.delete(id, from: lists)
                try transaction.update(Record(id: .string("of \(next)"), ["text": "2"]), in: tasks)
            }
        }
        #expect(try await context.push().waiting == 0)
        #expect(server.written.suffix(6) == ["k", "of l", "l", "of m", "m", "of k"])
        #expect(try await context.operations().isEmpty)
    }

    /// A group deletes the list, and a later one, which would be held back with it, has its task leave the list.
    private func writeGroups() async throws {
        let (lists, tasks) = (lists, tasks)
        try await context.write { transaction in
            try transaction.delete("l", from: lists)
            try transaction.update(Record(id: "x", ["text": "2"]), in: tasks)
        }
        try await context.write { transaction in
            try transaction.update(Record(id: "p", ["text": "3"]), in: tasks)
            try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
            try transaction.update(Record(id: "x", ["text": "3"]), in: tasks)
        }
    }

    @Test(
        "a deletion goes behind what a later group has changed of a row that referred to the row, and which would wait for it",
        arguments: [1, 8]
    )
    func laterGroupHeldBack(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        for id in ["p", "x"] { try await tasks.insert(["text": "1"], id: id) }
        _ = try await context.push()
        try await writeGroups()
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(4) == ["p", "t", "l", "x"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "what goes ahead of a deletion goes behind what stands before it in its group, however many are sent at a time",
        arguments: [1, 8],
        [false, true]
    )
    func aheadInOrder(parallel: Int, isRefused: Bool) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        for id in ["p", "x"] { try await tasks.insert(["text": "1"], id: id) }
        _ = try await context.push()
        try await writeGroups()
        let before = server.begun.count
        server.script = { [server] id in
            guard id == "p" else { return }
            // Enough for the others, which are prepared, to have begun.
            for _ in 0..<1_000 { await Task.yield() }
            #expect(server.begun.dropFirst(before) == ["p"])
            if isRefused { throw RemoteError(.refused, "on purpose", status: 422) }
        }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == (isRefused ? ["p"] : []))
        #expect(server.begun.dropFirst(before) == (isRefused ? ["p"] : ["p", "t", "l", "x"]))
    }

    @Test("which waits with it while it waits for something else", arguments: [1, 8])
    func laterGroupBehindAConflict(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        for id in ["p", "x"] { try await tasks.insert(["text": "1"], id: id) }
        try await tasks.insert(["text": "1", "list": "l"], id: "u")
        _ = try await context.push()
        server.change("u", "theirs", ["list": "l"])
        try await tasks.update(Record(id: "u", ["list": .null]))
        #expect(try await context.push().conflicts.map(\.itemID) == ["u"])
        try await writeGroups()
        let count = server.begun.count
        _ = try await context.push()
        #expect(server.begun.count == count, "\(server.begun)")
        try await context.resolve(try #require(try await context.operationErrors().first), with: .keepMine)
        #expect(try await context.push().waiting == 0)
        let written = server.written.suffix(5)
        // Several at a time, "u" goes beside the first ones, and before the row that it referred to.
        #expect(written.filter { $0 != "u" } == ["p", "t", "l", "x"] && written.prefix(3).contains("u"), "\(written)")
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "a deletion of a table that was asked for takes along what groups have changed of rows that referred to the row",
        arguments: [1, 8]
    )
    func partsOfAnotherTable(parallel: Int) async throws {
        let tasks = tasks
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        for id in ["p", "x", "y"] { try await tasks.insert(["text": "1"], id: id) }
        _ = try await context.push()
        try await self.context.write { transaction in
            try transaction.update(Record(id: "p", ["text": "2"]), in: tasks)
            try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
            try transaction.update(Record(id: "x", ["text": "2"]), in: tasks)
        }
        try await tasks.update(Record(id: "y", ["text": "2"]))
        try await lists.delete("l")
        let report = try await context.push(lists)
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(3) == ["p", "t", "l"])
        #expect(try await context.operations().map(\.itemID) == ["x", "y"])
    }

    @Test("deletions that wait for a part of a group, which comes after one of them, do not wait for ever")
    func waitingThroughAnother() async throws {
        try await lists.insert(["text": "1"], id: "outer")
        try await lists.insert(["text": "1", "above": "outer"], id: "inner")
        for id in ["t", "u"] { try await tasks.insert(["text": "1"], id: id) }
        _ = try await context.push()
        let (lists, tasks) = (lists, tasks)
        try await context.write { tx in try tx.update(Record(id: "t", ["list": "inner"]), in: tasks) }
        try await context.write { tx in
            try tx.delete("outer", from: lists)
            try tx.delete("t", from: tasks)
        }
        try await context.write { tx in
            try tx.update(Record(id: "u", ["text": "2"]), in: tasks)
            try tx.delete("inner", from: lists)
            try tx.insert(["text": "1"], id: "v", into: tasks)
        }
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion in a circle waits for a conflict that is not in it")
    func conflictBesideACircle() async throws {
        // It has no foreign keys: one of the circle has to be the first.
        let server = GroupServer()
        let context = SyncContext(store: store, remote: server)
        let (lists, tasks) = (try context.table("lists"), try context.table("tasks"))
        for id in ["l", "z"] { try await lists.insert(["text": "1"], id: id) }
        for id in ["u1", "u2"] { try await tasks.insert(["text": "1", "list": "l"], id: id) }
        _ = try await context.push()
        server.change("u2", "theirs")
        try await context.write { tx in
            try tx.update(Record(id: "u2", ["list": .null]), in: tasks)
            try tx.update(Record(id: "z", ["text": "2"]), in: lists)
        }
        #expect(try await context.push().conflicts.map(\.itemID) == ["u2"])
        try await context.write { tx in
            try tx.delete("l", from: lists)
            try tx.insert(["text": "1"], id: "n", into: lists)
        }
        try await context.write { tx in
            try tx.insert(["text": "1", "list": "n"], id: "x", into: tasks)
            try tx.update(Record(id: "u1", ["list": .null]), in: tasks)
        }
        _ = try await context.push()
        #expect(!server.written.suffix(4).contains("l"), "\(server.written)")
        try await context.resolve(try #require(try await context.operationErrors().first), with: .keepMine)
        #expect(try await context.push().waiting == 0)
        #expect(try await context.operations().isEmpty)
    }
}
