import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

/// A server with foreign keys: it deletes no row before those that refer to it.
@Suite("The order of changes of rows, and of the deletions that they have become")
struct DeletionOrderTests {
    private let tables: ReferringTables
    private var server: GroupServer { tables.server }
    private var store: MemoryStore { tables.store }
    private var context: SyncContext { tables.context }
    private var lists: SyncTable<Record> { tables.lists }
    private var tasks: SyncTable<Record> { tables.tasks }

    init() throws { tables = try ReferringTables() }

    @Test("a deletion of a row that a group has changed before goes after that of a row that referred to it")
    func deletedAfterItsGroup() async throws {
        let (lists, tasks) = (lists, tasks)
        try await tables.share()
        try await tasks.insert(["text": "u"], id: "u")
        _ = try await context.push()
        try await context.write { transaction in
            try transaction.update(Record(id: "l", ["text": "changed"]), in: lists)
            try transaction.update(Record(id: "u", ["text": "changed"]), in: tasks)
        }
        try await tasks.delete("t")
        try await lists.delete("l")
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(3) == ["t", "l", "u"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("also where what referred to the second row follows in the group: it goes first, as nothing else would go")
    func deletedInACircleWithAGroup() async throws {
        let lists = lists
        for (id, above) in [("l", nil), ("t", "l"), ("w", "t")] {
            try await lists.insert(["text": "1", "above": above.map { .string($0) } ?? .null], id: id)
        }
        _ = try await context.push()
        try await context.write { transaction in
            try transaction.update(Record(id: "l", ["text": "changed"]), in: lists)
            try transaction.update(Record(id: "w", ["above": .null]), in: lists)
        }
        try await lists.delete("t")
        try await lists.delete("l")
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(3) == ["w", "t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("but not when what stands before it in the group is refused")
    func deletedInACircleWithAGroupAfterARefusal() async throws {
        let context = preparingContext(1)
        let lists = lists
        for (id, above) in [("l", nil), ("t", "l"), ("w", "t")] {
            try await lists.insert(["text": "1", "above": above.map { .string($0) } ?? .null], id: id)
        }
        _ = try await context.push()
        for id in 1...4 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await self.context.write { transaction in
            try transaction.insert(["text": "copy"], id: "p", into: lists)
            try transaction.delete("l", from: lists)
            try transaction.delete("w", from: lists)
        }
        try await lists.delete("t")
        let before = server.begun
        server.script = { id in if id == "p" { throw RemoteError(.refused, "no", status: 400) } }
        var report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["p"] && report.waiting == 1)
        #expect(server.begun.dropFirst(before.count) == ["1", "2", "3", "4", "p"])
        server.script = { _ in }
        try await context.retryRefused()
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(4) == ["p", "w", "t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "a deletion waits for one of a row that referred to the row, when both come in the middle of a push",
        arguments: [1, 8],
        [false, true]
    )
    func deletedMeanwhile(parallel: Int, afterOther: Bool) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        for id in ["o", "x"] { try await lists.insert(["text": "1"], id: id) }
        _ = try await context.push()
        // Then what refers to which row is read before there is anything that refers to this one.
        if afterOther { try await lists.delete("o") }
        try await lists.update(Record(id: "x", ["text": "changed"]))
        for id in 1...9 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await lists.update(Record(id: "l", ["text": "changed"]))
        let isChanged = Switch()
        server.script = { [lists, tasks] id in
            guard id == "x" else {
                // Or else the row could be on its way by then.
                while Int(id) != nil, !isChanged.isOn { await Task.yield() }
                return
            }
            try await tasks.delete("t")
            try await lists.delete("l")
            isChanged.isOn = true
        }
        var report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 1)
        #expect(try await context.operations().map(\.itemID) == ["l", "t"])
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "a deletion waits for one of a row that came to refer to the row in the same push",
        arguments: [1, 8],
        [false, true]
    )
    func deletedWhileSent(parallel: Int, afterOther: Bool) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        for id in ["l", "o"] { try await lists.insert(["text": "1"], id: id) }
        _ = try await context.push()
        // Then what refers to which row is read before this one was sent.
        if afterOther { try await lists.delete("o") }
        try await tasks.insert(["text": "1", "list": "l"], id: "n")
        try await lists.update(Record(id: "l", ["text": "changed"]))
        let isFirst = Mutex(true)
        server.script = { [lists, tasks] id in
            let isFirst = isFirst.withLock { isFirst in
                guard id == "n" else { return false }
                defer { isFirst = false }
                return isFirst
            }
            guard isFirst else { return }
            try await tasks.delete("n")
            try await lists.delete("l")
        }
        #expect(try await context.push().notTaken.isEmpty)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written.suffix(2) == ["n", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "what becomes a deletion in its turn goes behind one of a row that referred to the row, in the same push",
        arguments: [1, 8]
    )
    func deletedInstead(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        context.conflictPolicy = .merge { _ in .deleteInstead }
        try await tables.share()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        for id in 1...9 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await tasks.delete("t")
        server.change("l", "theirs")
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        // Several at a time, the inserts go beside them.
        #expect(server.written.filter { ["t", "l"].contains($0) }.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("what becomes a deletion in its turn goes at once when nothing waits that referred to the row")
    func deletedInsteadAlone() async throws {
        context.conflictPolicy = .merge { _ in .deleteInstead }
        try await tables.share()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        try await tasks.delete("t")
        _ = try await context.push(tasks)
        server.change("l", "theirs")
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.texts.isEmpty)
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion waits for what was new in this push, and moved away from the row meanwhile", arguments: [1, 8])
    func movedMeanwhile(parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        for id in ["l", "m", "o"] { try await lists.insert(["text": "1"], id: id) }
        _ = try await context.push()
        // With this deletion what refers to which row is read.
        try await lists.delete("o")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        try await lists.update(Record(id: "l", ["text": "changed"]))
        server.script = { [lists, tasks] id in
            guard id == "t" else { return }
            try await tasks.update(Record(id: "t", ["list": "m"]))
            try await lists.delete("l")
        }
        var report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 1)
        #expect(server.written.last == "t")
        server.script = { _ in }
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    /// By how many stand before them, both are prepared together, or the deletion while what is before it leaves.
    @Test(
        "a deletion waits for a conflict of this push in which the server's row refers to the row",
        arguments: 0...8
    )
    func referredToByOthers(before: Int) async throws {
        let context = preparingContext(1)
        for id in ["l", "m", "o"] { try await lists.insert(["text": "1"], id: id) }
        try await tasks.insert(["text": "t", "list": "m"], id: "t")
        _ = try await context.push()
        server.change("t", "theirs", ["list": "l"])
        try await lists.delete("o")
        for id in 0..<before { try await lists.insert(["text": "1"], id: "\(id)") }
        try await tasks.update(Record(id: "t", ["text": "mine"]))
        try await lists.delete("l")
        var report = try await context.push()
        #expect(report.conflicts.map(\.itemID) == ["t"] && report.failures.isEmpty && report.waiting == 1)
        try await context.resolve(try #require(report.conflicts.first), with: .keepMine)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(2) == ["t", "l"])
    }

    @Test("a deletion does not leave beside a change of a row that refers to the row on the server", arguments: [1, 8])
    func besideAConflict(parallel: Int) async throws {
        let context = preparingContext(parallel)
        for id in ["l", "m"] { try await lists.insert(["text": "1"], id: id) }
        try await tasks.insert(["text": "t", "list": "m"], id: "t")
        _ = try await context.push()
        server.change("t", "theirs", ["list": "l"])
        for id in 1...4 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await tasks.update(Record(id: "t", ["text": "mine"]))
        #expect(try await context.push(tasks).conflicts.map(\.itemID) == ["t"])
        try await tasks.update(Record(id: "t", ["text": "mine again"]))
        try await lists.delete("l")
        let before = server.begun.count
        var report = try await context.push()
        #expect(report.conflicts.map(\.itemID) == ["t"] && report.failures.isEmpty && report.waiting == 1)
        #expect(server.begun.dropFirst(before).sorted() == ["1", "2", "3", "4", "t"])
        try await context.resolve(try #require(report.conflicts.first), with: .keepMine)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(2) == ["t", "l"])
    }

    @Test(
        "a deletion in a group waits for a change in another one of a row that referred to the row",
        arguments: [1, 8],
        [false, true]
    )
    func deletedInAnotherGroup(parallel: Int, isRefused: Bool) async throws {
        let (lists, tasks) = (lists, tasks)
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        try await lists.update(Record(id: "l", ["text": "changed"]))
        try await self.context.write { transaction in
            try transaction.insert(["text": "x"], id: "x", into: lists)
            try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
        }
        try await self.context.write { transaction in
            try transaction.delete("l", from: lists)
            try transaction.insert(["text": "y"], id: "y", into: lists)
        }
        if isRefused { server.script = { id in if id == "x" { throw RemoteError(.refused, "no", status: 422) } } }
        var report = try await context.push()
        #expect(report.failures.map(\.itemID) == (isRefused ? ["x"] : []))
        // The deletion waits for a part of the other group, and what comes after it in its own waits with it.
        #expect(report.waiting == (isRefused ? 2 : 0))
        #expect(server.written.dropFirst(2).isEmpty == isRefused)
        server.script = { _ in }
        try await context.retryRefused()
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.dropFirst(2) == ["x", "t", "l", "y"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("a deletion goes behind the hundreds in its group that referred to the row")
    func behindHundreds() async throws {
        let (lists, tasks) = (lists, tasks)
        let ids = (0..<300).map { "t\($0)" }
        try await lists.insert(["text": "l"], id: "l")
        try await context.write { transaction in
            for id in ids { try transaction.insert(["text": "t", "list": "l"], id: id, into: tasks) }
        }
        let pushing = preparingContext(8)
        #expect(try await pushing.push().pushed == 301)
        try await context.write { transaction in
            for id in ids { try transaction.delete(id, from: tasks) }
            try transaction.delete("l", from: lists)
        }
        #expect(try await pushing.push().pushed == 301)
        #expect(server.written.last == "l" && server.texts.isEmpty)
    }

    @Test("also of one that the same group changes once more behind the deletion", arguments: [1, 8])
    func deletedInTheMiddleOfAGroup(parallel: Int) async throws {
        let (lists, tasks) = (lists, tasks)
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await tables.share()
        try await self.context.write { transaction in
            try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
            try transaction.delete("l", from: lists)
            try transaction.update(Record(id: "t", ["text": "changed"]), in: tasks)
        }
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.dropFirst(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    /// What the row moves away in: the request that it belongs to, the next one, while the answer waits to be recorded,
    /// and the one after an answer with which all are recorded.
    @Test(
        "a deletion that was prepared waits when a row before it moves away from the row in the middle of the push",
        arguments: [(1, "t"), (8, "t"), (1, "x"), (1, "z")]
    )
    func movedBehindItsBack(parallel: Int, meanwhile: String) async throws {
        let context = preparingContext(parallel)
        for id in ["l", "m", "y"] { try await lists.insert(["text": "1"], id: id) }
        _ = try await context.push()
        server.change("y", "theirs")
        for id in 1...8 { try await lists.insert(["text": "1"], id: "\(id)") }
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        try await lists.insert(["text": "x"], id: "x")
        try await lists.update(Record(id: "y", ["text": "mine"]))
        try await lists.insert(["text": "z"], id: "z")
        try await lists.delete("l")
        server.script = { [tasks] id in
            if id == meanwhile { try await tasks.update(Record(id: "t", ["list": "m"])) }
        }
        var report = try await context.push()
        #expect(report.conflicts.map(\.itemID) == ["y"] && report.failures.isEmpty && report.waiting == 1)
        server.script = { _ in }
        try await context.resolve(try #require(report.conflicts.first), with: .takeServer)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.written.suffix(2) == ["t", "l"])
        #expect(try await context.operations().isEmpty)
    }

    /// The clock stands still: several operations are prepared together.
    private func preparingContext(_ parallel: Int) -> SyncContext {
        let options = SyncOptions(parallelOperations: parallel)
        return SyncContext(store: store, remote: server, options: options, clock: ManualClock())
    }

    @Test("a deletion that is sent again in its turn waits for a change that has joined the queue since")
    func againBehindANewChange() async throws {
        let (server, tasks) = (server, tasks)
        try await tables.share()
        server.change("l", "l")
        try await lists.delete("l")
        let switched = Switch()
        server.script = { id in
            guard id == "l", !switched.isOn else { return }
            switched.isOn = true
            try await tasks.update(Record(id: "t", ["list": .null]))
        }
        let report = try await context.push()
        #expect(report.failures.isEmpty && report.conflicts.isEmpty && report.waiting == 1)
        #expect(try await context.push().pushed == 2)
        #expect(server.written.suffix(2) == ["t", "l"])
    }
}
