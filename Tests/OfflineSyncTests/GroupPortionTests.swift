import OfflineSync
import ReferenceStore
import RemoteContract
import SeededNumbers
import SyncContract
import Testing

/// A push knows of groups as far as they reach into the queue, and reads on when all before that is sent.
@Suite("Groups of a queue that is read in portions")
struct GroupPortionTests {
    @Test("are sent as they are when it is read as a whole", arguments: [1, 2, 5])
    func order(portion: Int) async throws {
        let first = SeededGenerator.seed()
        for seed in (0..<SeededGenerator.rounds(60, all: 3_000)).map({ first &+ UInt64($0) }) {
            try await isTheSame(seed, portion)
        }
    }

    private func isTheSame(_ seed: UInt64, _ portion: Int) async throws {
        let whole = try await History(seed, portion: 1_024).play()
        let inPortions = try await History(seed, portion: portion).play()
        try #require(inPortions.exchange == whole.exchange, "seed \(seed)")
        // What was sent before the queue was read on is not known to have stood between an error and what waits.
        try #require(zip(inPortions.waiting, whole.waiting).allSatisfy { $0 >= $1 }, "seed \(seed)")
    }

    @Test(
        "were once sent otherwise: what came after changes that come before each other, one taken and one refused",
        arguments: [(11_741_356_601_146_738_780, 1), (6_998_053_077_572_289_912, 2), (901_436_644_042_175_683, 5)]
            as [(UInt64, Int)]
    )
    func onceOtherwise(_ seed: UInt64, _ portion: Int) async throws { try await isTheSame(seed, portion) }

    @Test("what an earlier group has changed again behind them goes before them")
    func earlierGroupBehind() async throws {
        let history = try History(1, portion: 1)
        try await history.write(["a", "b"])
        try await history.write(["c", "d"])
        try await history.write(["e"])
        // A group of its own, whose first part stands behind its last one.
        try await history.write(["f", "a"])
        try await history.write(["g", "h"])
        history.server.script = { if $0 == "f" { throw RemoteError(.refused, "not this one", status: 400) } }
        _ = try await history.context.push()
        #expect(history.server.begun == ["c", "d", "e", "f", "g", "h"])
    }

    @Test("a row that refers to one beyond what is known waits for it where its group does")
    func referenceBeyond() async throws {
        let (server, lists, tasks, context) = try referring()
        for id in ["c", "p", "q"] { try await tasks.insert(["text": "1"], id: id) }
        try await context.write { tx in
            try tx.insert(["text": "1"], id: "z", into: tasks)
            try tx.insert(["text": "1"], id: "l", into: lists)
        }
        refuse(["c", "p", "q", "z"], server)
        _ = try await context.push()
        try await tasks.update(Record(id: "c", ["list": "l"]))
        refuse([], server)
        _ = try await context.push()
        #expect(server.written.isEmpty)
        try await context.retryRefused()
        #expect(try await context.push().pushed == 5)
    }

    @Test("an earlier change that joins a group when it is settled is not taken for one that the group has made")
    func joinedWhenSettled() async throws {
        let (server, lists, tasks, context) = try referring()
        try await tasks.insert(["text": "1"], id: "t")
        _ = try await context.push()
        for id in ["p", "q", "x"] { try await tasks.insert(["text": "1"], id: id) }
        try await lists.insert(["text": "1"], id: "l")
        refuse(["p", "q", "x", "l"], server)
        _ = try await context.push()
        try await tasks.update(Record(id: "t", ["list": "l"]))
        try await context.write { tx in
            try tx.insert(["text": "1"], id: "m", into: tasks)
            try tx.update(Record(id: "x", ["text": "2"]), in: tasks)
        }
        let error = try #require(try await context.operationErrors().first { $0.itemID == "l" })
        try await context.resolve(error, with: .deleteInstead)
        refuse([], server)
        _ = try await context.push()
        #expect(server.written.filter { ["m", "x"].contains($0) } == ["m", "x"])
    }

    private func refuse(_ ids: Set<String>, _ server: GroupServer) {
        server.script = { if ids.contains($0) { throw RemoteError(.refused, "not this one", status: 400) } }
    }

    /// Tasks that name lists, with which they are deleted.
    private func referring() throws -> (GroupServer, SyncTable<Record>, SyncTable<Record>, SyncContext) {
        let list = ColumnDefinition("list", .string, references: "lists", onDelete: .cascade)
        let schema = try StoreSchema([
            TableDefinition("lists", columns: [.init("text", .string)]),
            TableDefinition("tasks", columns: [.init("text", .string), list]),
        ])
        var options = SyncOptions()
        options.queuePortion = 1
        let server = GroupServer()
        let context = SyncContext(store: MemoryStore(schema), remote: server, options: options, clock: ManualClock())
        return (server, try context.table("lists"), try context.table("tasks"), context)
    }
}

/// Changes in groups and outside of them, and pushes of which some changes are refused.
private final class History {
    let server = GroupServer()
    let context: SyncContext
    private let todos: SyncTable<Record>
    private let lists: SyncTable<Record>
    private var random: SeededGenerator
    private var refused: Set<String> = []

    init(_ seed: UInt64, portion: Int) throws {
        random = SeededGenerator(seed: seed)
        let schema = try StoreSchema([todoTable, TableDefinition("lists", columns: [.init("text", .string)])])
        var options = SyncOptions()
        options.queuePortion = portion
        context = SyncContext(store: MemoryStore(schema), remote: server, options: options, clock: ManualClock())
        todos = try context.table("TodoItem")
        lists = try context.table("lists")
    }

    /// What the server was asked to write, in order, how much of it was taken with each push, and what is left; and how much
    /// each push has told to wait.
    func play() async throws -> (exchange: [String], waiting: [Int]) {
        var (taken, waiting): ([String], [Int]) = ([], [])
        for _ in 0..<8 {
            for _ in 0..<below(8) { try await change() }
            refused = Set((0..<below(4)).map { _ in "\(below(12))" })
            server.script = { [refused] id in
                if refused.contains(id) { throw RemoteError(.refused, "not this one", status: 400) }
            }
            let report = below(4) == 0 ? try await context.push(lists) : try await context.push()
            taken.append("\(report.pushed) taken")
            waiting.append(report.waiting)
            if below(3) == 0 { try await context.retryRefused() }
            for error in try await context.operationErrors() where below(4) == 0 {
                try await context.resolve(error, with: below(2) == 0 ? .discard : .deleteInstead)
            }
        }
        let left = try await context.operations().map { "\($0.itemID): \($0.kind)" }
        return (server.begun + taken + left, waiting)
    }

    private func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    /// One change, or several in a group.
    private func change() async throws {
        let isGroup = below(3) > 0
        let draws = (0..<(isGroup ? 1 + below(4) : 1)).map { _ in (below(12), below(6)) }
        let (todos, lists) = (todos, lists)
        if below(6) == 0 {
            let number = below(12)
            try? await (number % 3 == 0 ? lists : todos).undoDelete("\(number)")
        }
        try await context.write { tx in
            for (number, kind) in draws {
                let table = number % 3 == 0 ? lists : todos
                let row = Record(id: .string("\(number)"), ["text": .string("\(kind)")])
                switch (try tx.read("\(number)", in: table) != nil, kind) {
                case (true, 0): try tx.delete("\(number)", from: table)
                case (true, _): try tx.update(row, in: table)
                case (false, _): try tx.insert(["text": .string("\(kind)")], id: "\(number)", into: table)
                }
            }
        }
    }

    /// Writes items in one transaction, in order: those that are not there are inserted.
    func write(_ ids: [String]) async throws {
        let todos = todos
        try await context.write { tx in
            for id in ids {
                if try tx.read(id, in: todos) == nil {
                    try tx.insert(["text": "milk"], id: id, into: todos)
                } else {
                    try tx.update(Record(id: .string(id), ["text": "bread"]), in: todos)
                }
            }
        }
    }
}
