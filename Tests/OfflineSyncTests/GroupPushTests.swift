import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

@Suite("Groups on their way")
struct GroupPushTests {
    let server = GroupServer()
    let context: SyncContext
    let store: MemoryStore
    let todos: SyncTable<Record>
    private let keepingMine = KeepingMine()

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
        todos = try context.table("TodoItem")
    }

    /// Writes items in one transaction, in order: those that are not there are inserted.
    func write(_ ids: String..., text: String = "milk") async throws {
        let todos = todos
        try await context.write { tx in
            for id in ids {
                if try tx.read(id, in: todos) == nil {
                    try tx.insert(["text": .string(text)], id: id, into: todos)
                } else {
                    try tx.update(Record(id: .string(id), ["text": .string(text)]), in: todos)
                }
            }
        }
    }

    func refuse(_ refused: String...) {
        server.script = { id in
            if refused.contains(id) { throw RemoteError(.refused, "not this one", status: 400) }
        }
    }

    func waiting() async throws -> [String] { try await context.operations().map(\.itemID) }

    @Test("are sent in order, also when their operations are older the other way round")
    func order() async throws {
        try await write("c")
        try await write("a", "b", "c", text: "bread")
        #expect(try await context.push().pushed == 3)
        #expect(server.begun == ["a", "b", "c"])
    }

    @Test("stay one when all but one of them cancel out and are taken back")
    func cancelledAndTakenBack() async throws {
        let todos = todos
        try await context.write { tx in
            for id in ["a", "b"] { try tx.insert(["text": "milk"], id: id, into: todos) }
            try tx.delete("a", from: todos)
        }
        try await todos.undoDelete("a")
        refuse("a")
        #expect(try await context.push().failures.map(\.itemID) == ["a"])
        #expect(server.written.isEmpty)
        #expect(try await waiting() == ["a", "b"])
    }

    @Test("wait behind what was refused, until it is settled; other changes pass by")
    func refused() async throws {
        try await write("a", "b", "c")
        try await write("d", "e")
        try await write("f")
        refuse("b")
        #expect(try await context.push().failures.map(\.itemID) == ["b"])
        #expect(server.written == ["a", "d", "e", "f"])
        // A later group that goes on with one of them waits as well, as a whole.
        try await write("g", "c", text: "bread")
        _ = try await context.push()
        #expect(try await waiting() == ["b", "c", "g"])
        refuse()
        _ = try await context.push()
        #expect(try await waiting() == ["b", "c", "g"], "it is not sent again by itself")
        try await todos.update(Record(id: "b", ["text": "bread"]))
        #expect(try await context.push().pushed == 3)
        #expect(server.written == ["a", "d", "e", "f", "b", "g", "c"])
    }

    @Test("go on when what was refused is given up")
    func discarded() async throws {
        try await write("a", "b")
        refuse("a")
        _ = try await context.push()
        try await context.resolve(try #require(try await context.operationErrors().first), with: .discard)
        _ = try await context.push()
        #expect(server.texts == ["b": "milk"])
    }

    @Test(
        "go on when a conflict in the middle is settled, whichever way",
        arguments: [ConflictResolution<Record>.keepMine, .takeServer, .discard]
    )
    func conflict(_ resolution: ConflictResolution<Record>) async throws {
        try await write("a", "b", "c")
        _ = try await context.push()
        server.change("b", "theirs")
        try await write("a", "b", "c", text: "mine")
        #expect(try await context.push().conflicts.map(\.itemID) == ["b"])
        #expect(server.texts == ["a": "mine", "b": "theirs", "c": "milk"])
        _ = try await context.push()
        #expect(server.texts["c"] == "milk", "it still waits")
        try await context.resolve(try #require(try await context.operationErrors().first), with: resolution)
        _ = try await context.push()
        #expect(server.texts["c"] == "mine")
        #expect(server.texts["b"] == (resolution == .keepMine ? "mine" : "theirs"))
        #expect(try await waiting().isEmpty)
    }

    @Test("that take in an operation which is under way are not sent along with it when it is sent again")
    func sentAgain() async throws {
        let (context, todos) = (context, todos)
        try await write("b")
        server.script = { _ in throw RemoteError(.unreachable, "the answer is lost") }
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        server.change("b", "milk")
        let isWritten = Switch()
        server.script = { id in
            guard id == "b", !isWritten.isOn else { return }
            isWritten.isOn = true
            try await context.write { tx in
                try tx.insert(["text": "bread"], id: "a", into: todos)
                try tx.update(Record(id: "b", ["text": "bread"]), in: todos)
            }
        }
        _ = try await context.push()
        #expect(server.texts == ["b": "milk"], "the insert was known again, and what came into the group waits")
        _ = try await context.push()
        #expect(server.texts == ["a": "bread", "b": "bread"])
        #expect(server.written.suffix(2) == ["a", "b"])
    }

    @Test("have all their changes sent when a cancelled insert is taken back")
    func cancelledInsert() async throws {
        try await write("a", "b")
        try await write("a", "b", text: "bread")
        try await todos.delete("a")
        try await todos.undoDelete("a")
        let operation = try #require(try await context.operations().first { $0.itemID == "a" })
        #expect(operation.groups == [1, 2] && operation.editCounter == 2)
        #expect(try await context.push().pushed == 2)
        #expect(server.texts == ["a": "bread", "b": "bread"])
    }

    @Test("are in order again when a cancelled insert is taken back while something else is on its way")
    func cancelledInsertTakenBackMeanwhile() async throws {
        try await todos.insert(["text": "first"], id: "x")
        try await todos.insert(["text": "second"], id: "y")
        try await write("a", "b")
        server.script = { [self] id in
            switch id {
            case "x":
                try await todos.delete("a")
                try await write("c", "d")
            case "y": try await todos.undoDelete("a")
            default: break
            }
        }
        _ = try await context.push()
        #expect(server.begun == ["x", "y", "a", "b"])
    }

    @Test("leave nothing behind that comes back into the queue where the push has passed", arguments: [false, true])
    func takenBackBehind(isGrouped: Bool) async throws {
        if isGrouped {
            try await write("y", "z")
            _ = try await context.push()
            try await todos.update(Record(id: "y", ["text": "1"]))
            try await todos.insert(["text": "s"], id: "s")
            let todos = todos
            try await context.write { tx in
                try tx.update(Record(id: "z", ["text": "2"]), in: todos)
                try tx.delete("y", from: todos)
            }
        } else {
            for id in ["x", "y", "z"] { try await todos.insert(["text": .string(id)], id: id) }
        }
        let sent = server.begun.count
        server.script = { [todos, server] id in
            if !isGrouped, id == "x" { try await todos.delete("y") }
            if id == "z", server.begun.count == sent + 2 { try await todos.undoDelete("y") }
        }
        let report = try await context.push()
        #expect(server.begun.dropFirst(sent) == (isGrouped ? ["s", "z", "y"] : ["x", "z", "y"]))
        #expect(report.pushed == 3 && report.waiting == 0 && report.overtaken == 0)
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "are sent whole also when a cancelled insert of theirs is taken back behind the place where its turn has been"
    )
    func cancelledInsertTakenBackBehind() async throws {
        try await todos.insert(["text": "x"], id: "x")
        try await write("a", "b")
        server.script = { [todos] id in
            if id == "x" { try await todos.delete("a") }
            if id == "b" { try await todos.undoDelete("a") }
        }
        let report = try await context.push()
        #expect(report.pushed == 3 && report.waiting == 0 && report.overtaken == 0)
        #expect(server.begun == ["x", "b", "a"])
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    /// Has whatever the server did not take sent again.
    private final class KeepingMine: SyncContextDelegate {
        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? { .keepMine }
    }

    @Test("go on in the same push when what was forbidden, before anything else was answered, is settled and taken")
    func forbiddenAndSettled() async throws {
        try await forbid(1, RemoteError(.refused, "read only", status: 403))
        try await todos.insert(["text": "c"], id: "c")
        let report = try await context.push()
        #expect(report.pushed == 3 && report.waiting == 0 && report.notTaken.isEmpty)
        #expect(server.begun.suffix(4) == ["a", "c", "a", "b"])
        #expect(server.texts == ["a": "bread", "b": "bread", "c": "c"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("go on in the same push when the only change that could be sent is laid aside, settled and taken")
    func refusedAloneAndSettled() async throws {
        // The third push that a 401 would end blames the change, when the table answers and it meets that once more.
        try await forbid(4, RemoteError(.unauthorized, "not this one", status: 401))
        for _ in 0..<2 {
            #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        }
        let report = try await context.push()
        #expect(report.pushed == 2 && report.waiting == 0 && report.notTaken.isEmpty)
        #expect(server.begun.suffix(4) == ["a", "a", "a", "b"])
        #expect(server.texts == ["a": "bread", "b": "bread"])
        #expect(try await context.operations().isEmpty)
    }

    /// Has the first change of a group meet an error so many times, and whatever is not taken sent again.
    private func forbid(_ times: Int, _ error: RemoteError) async throws {
        try await write("a", "b")
        _ = try await context.push()
        try await write("a", "b", text: "bread")
        context.delegate = keepingMine
        let left = Mutex(times)
        server.script = { id in
            guard id == "a" else { return }
            let isForbidden = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isForbidden { throw error }
        }
    }

    @Test("are told as waiting also where a conflict of something else is stored")
    func waitingBesideAConflict() async throws {
        try await todos.insert(["text": "z"], id: "z")
        _ = try await context.push()
        server.change("z", "theirs")
        try await todos.update(Record(id: "z", ["text": "mine"]))
        #expect(try await context.push().conflicts.map(\.itemID) == ["z"])
        try await write("a")
        try await write("b", "d")
        let switched = Switch()
        server.script = { [self] _ in
            guard !switched.isOn else { return }
            switched.isOn = true
            try await write("c", "b", text: "bread")
        }
        let report = try await context.push()
        #expect(report.waiting == 2 && report.conflicts.map(\.itemID) == ["z"])
        #expect(try await context.push().waiting == 0)
    }

    @Test("are not told as waiting where what they wait for is refused, which tells of them")
    func waitingBehindARefusal() async throws {
        try await write("a", "b", "c")
        try await write("e")
        server.script = { id in if id == "a" { throw RemoteError(.refused, "no", status: 422) } }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["a"] && report.waiting == 0)
        #expect(server.begun == ["a", "e"])
    }

    @Test("wait for an item whose deletion is taken back while it is on its way")
    func deletionTakenBack() async throws {
        try await write("a")
        _ = try await context.push()
        try await write("a", "b", text: "bread")
        try await todos.delete("a")
        server.script = { [todos, server] id in
            if id == "a", server.begun.count == 2 { try await todos.undoDelete("a") }
        }
        let report = try await context.push()
        #expect(report.pushed == 1, "the deletion")
        #expect(report.waiting == 1, "b, behind a")
        #expect(server.begun == ["a", "a"])
        #expect(try await context.push().pushed == 2)
        #expect(server.texts == ["a": "bread", "b": "bread"])
        #expect(server.begun.last == "b")
    }

    @Test("that cross are one unit: one of them refused, the others wait")
    func crossing() async throws {
        try await write("a")
        try await write("b")
        try await write("a", "b", text: "1")
        try await write("b", "a", text: "2")
        refuse("a")
        _ = try await context.push()
        #expect(server.written == ["b"], "one of them has to be the first")
        #expect(try await waiting() == ["a"])
        // What was taken does not stand in the way of later groups.
        try await write("c", "b", text: "3")
        refuse()
        _ = try await context.push()
        #expect(server.texts == ["b": "3", "c": "3"])
        try await write("a", text: "4")
        _ = try await context.push()
        #expect(server.texts == ["a": "4", "b": "3", "c": "3"])
    }

    @Test("that cross and of which none was sent wait together")
    func crossingBehindRefused() async throws {
        try await write("x", "b")
        try await write("a", "b", text: "1")
        try await write("b", "a", text: "2")
        refuse("x")
        _ = try await context.push()
        #expect(server.written.isEmpty)
        #expect(try await waiting() == ["x", "b", "a"])
        try await todos.revert("x")
        _ = try await context.push()
        #expect(server.texts == ["a": "2", "b": "2"])
    }

    @Test("written while one of their items is on its way hold it back only where they have to")
    func underWay() async throws {
        try await write("a", "b")
        let switched = Switch()
        server.script = { [self] id in
            guard id == "a", !switched.isOn else { return }
            switched.isOn = true
            try await write("c", "b", "a", text: "bread")
        }
        _ = try await context.push()
        // What is sent of b would hold the later change, and c was not queued when the push began.
        #expect(server.texts == ["a": "milk"])
        _ = try await context.push()
        #expect(server.begun == ["a", "c", "b", "a"])
        #expect(server.texts == ["a": "bread", "b": "bread", "c": "bread"])
    }

    @Test("written while something else is on its way are put in order before the next change is sent")
    func writtenMeanwhile() async throws {
        try await write("a")
        try await write("b", "d")
        let switched = Switch()
        server.script = { [self] _ in
            guard !switched.isOn else { return }
            switched.isOn = true
            try await write("c", "b", text: "bread")
        }
        #expect(try await context.push().waiting == 2)
        #expect(server.begun == ["a"], "what stands before the others now was not queued when the push began")
        #expect(try await context.push().waiting == 0)
        #expect(server.begun == ["a", "c", "b", "d"])
    }

    @Test("do not wait for an item that was changed by itself while it was on its way")
    func editedUnderWay() async throws {
        try await write("a", "b")
        let switched = Switch()
        server.script = { [self] id in
            guard id == "a", !switched.isOn else { return }
            switched.isOn = true
            try await todos.update(Record(id: "a", ["text": "bread"]))
        }
        _ = try await context.push()
        #expect(server.texts == ["a": "milk", "b": "milk"])
        #expect(try await context.operations().map(\.groups) == [[]])
    }

    @Test("wait behind a failure of the server, and the next push starts with it", arguments: [1, 8])
    func failure(_ parallel: Int) async throws {
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        try await write("a", "b", "c")
        server.script = { id in if id == "b" { throw RemoteError(.serverFailure, "failed", status: 500) } }
        _ = try await context.push()
        #expect(server.begun == ["a", "b"])
        server.script = { _ in }
        #expect(try await context.push().pushed == 2)
        #expect(server.written == ["a", "b", "c"])
    }

    @Test("send what stands before, and nothing else of other tables, when a table is named")
    func tables() async throws {
        let other = TableDefinition("Other", columns: [.init("text", .string)])
        let store = MemoryStore(try StoreSchema([todoTable, other]))
        let context = SyncContext(store: store, remote: server)
        let (todos, others) = (try context.table("TodoItem"), try context.table("Other"))
        try await others.insert(["text": "x"], id: "o1")
        try await context.write { tx in
            try tx.insert(["text": "x"], id: "o2", into: others)
            try tx.insert(["text": "x"], id: "t1", into: todos)
            try tx.insert(["text": "x"], id: "o3", into: others)
        }
        try await todos.insert(["text": "x"], id: "t2")
        let report = try await context.push(todos)
        #expect(report.pushed == 3 && report.waiting == 0, "nobody has asked for o3")
        #expect(server.begun == ["o2", "t1", "t2"])
        #expect(try await context.push(others.query).pushed == 2)
        #expect(server.begun == ["o2", "t1", "t2", "o1", "o3"])
        await #expect(throws: StoreError.self) { _ = try await context.push(Query("Missing")) }
    }

    @Test("go on in order after a kill between any two transactions", arguments: StoreFault.Moment.allCases)
    func kills(_ moment: StoreFault.Moment) async throws {
        for number in 1...24 {
            let server = GroupServer()
            let store = FaultyStore(try makeStore()) { _ in nil }
            let writer = SyncContext(store: store.base, remote: server)
            let todos = try writer.table("TodoItem")
            for group in [["d", "e"], ["a", "b", "c"], ["f", "b", "d"]] {
                try await writer.write { tx in
                    for id in group {
                        if try tx.read(id, in: todos) == nil {
                            try tx.insert(["text": "x"], id: id, into: todos)
                        } else {
                            try tx.update(Record(id: .string(id), ["text": "y"]), in: todos)
                        }
                    }
                }
            }
            let killed = FaultyStore(store.base) { $0.number == number ? .fails(moment) : nil }
            do {
                _ = try await SyncContext(store: killed, remote: server).push()
            } catch is StoreError {
                // The kill that was planned.
            }
            #expect(try await SyncContext(store: store.base, remote: server).push().conflicts.isEmpty)
            #expect(try await writer.operations().isEmpty)
            // The first time that each row is written.
            var written: [String] = []
            for id in server.written where !written.contains(id) { written.append(id) }
            #expect(written == ["a", "f", "b", "d", "e", "c"], "killed at call \(number)")
        }
    }
}
