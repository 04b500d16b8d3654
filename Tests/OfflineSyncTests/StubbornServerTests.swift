import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("A server that refuses for good")
struct StubbornServerTests {
    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let table: SyncTable<Record>

    init() async throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
        table = try context.table("TodoItem")
        server.change("a", "milk")
        try await store.upsert([try #require(await server.record("a", in: todoTable))], table: "TodoItem")
    }

    @Test("because others refer to the row, or a column has to be unique, is asked once, and the change is laid aside")
    func conflictOverTheBase() async throws {
        let row = try await server.record("a", in: todoTable)
        server.script = { _ in
            throw RemoteError(.conflict, "others refer to this row", status: 409, serverRecord: row)
        }
        for edits in [true, false] {
            if edits {
                try await table.update(Record(id: "a", ["text": "mine"]))
            } else {
                try await table.delete("a")
            }
            let begun = server.begun.count
            let report = try await context.push()
            #expect(server.begun.count == begun + 1, "one request")
            let failure = try #require(report.failures.first)
            #expect(report.conflicts.isEmpty && failure.status == 409)
            #expect(failure.message == "others refer to this row")
            #expect(try await context.push().failures.count == 1)
            #expect(server.begun.count == begun + 1, "laid aside")
            try await table.revert("a")
            #expect(try await table.read("a")?["text"] == "milk")
        }
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test(
        "a new row, because a column has to be unique, is asked once, and no policy makes it a conflict",
        arguments: [true, false]
    )
    func insertWithATakenName(serverWins: Bool) async throws {
        context.conflictPolicy = serverWins ? .serverWins : .clientWins
        server.script = { _ in throw RemoteError(.conflict, "the name is taken", status: 409) }
        let begun = server.begun.count
        try await table.insert(["text": "bread"], id: "b")
        let report = try await context.push()
        #expect(report.failures.map(\.message) == ["the name is taken"] && report.conflicts.isEmpty)
        #expect(server.begun.count == begun + 1, "one request")
        #expect(try await table.read("b")?["text"] == "bread", "it stays here")
        #expect(try await context.push().requests == 0, "laid aside")
        #expect(try await store.verifyQueue().isEmpty)
    }

    /// Whether a name is taken depends on other rows: when the insert arrives at last, it may be free.
    @Test("the deletion of a row that may still arrive, because a column has to be unique, is not told as done")
    func deletionOfAnInsertWithATakenName() async throws {
        server.script = { _ in throw RemoteError(.unreachable, "no answer") }
        try await table.insert(["text": "bread"], id: "b")
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        try await table.delete("b")
        server.script = { _ in throw RemoteError(.conflict, "the name is taken", status: 409) }
        let report = try await context.push()
        #expect(report.failures.map(\.message) == ["the name is taken"] && report.pushed == 0)
        #expect(try await context.operations().map(\.kind) == [.delete])
        // The name is free, and the insert arrives.
        server.change("b", "bread")
        server.script = { _ in }
        try await context.resolve(try #require(try await context.operationErrors().first), with: .keepMine)
        #expect(try await context.push().pushed == 1)
        #expect(server.texts == ["a": "milk"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("and it can be given up, which leaves what arrives to the server")
    func givenUpDeletionOfAnInsertWithATakenName() async throws {
        server.script = { _ in throw RemoteError(.unreachable, "no answer") }
        try await table.insert(["text": "bread"], id: "b")
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        try await table.delete("b")
        server.script = { _ in throw RemoteError(.conflict, "the name is taken", status: 409) }
        for _ in 1...2 {
            #expect(try await context.push().failures.count == 1)
            try await context.resolve(try #require(try await context.operationErrors().first), with: .takeServer)
        }
        #expect(try await context.operations().isEmpty)
        #expect(try await context.operationErrors().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("because others write the row each time, is asked six times, and the report tells of the change")
    func overtaken() async throws {
        // Nobody changes anything that the app knows of, so that this is no conflict.
        server.script = { [server] id in server.change(id, "milk") }
        try await table.update(Record(id: "a", ["text": "mine"]))
        var events = context.events.makeAsyncIterator()
        let report = try await context.push()
        #expect(report.overtaken == 1 && report.pushed == 0 && report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.begun.count == 6)
        var lines: [String] = []
        while lines.last?.hasPrefix("push ended") != true, let event = await events.next() {
            lines.append(event.logLine)
        }
        #expect(lines.last?.contains("1 overtaken,") == true)
        server.script = { _ in }
        let next = try await context.push()
        #expect(next.pushed == 1 && next.overtaken == 0)
        #expect(server.texts == ["a": "mine"])
    }

    @Test("takes an earlier change back as little as any, which the report does not count as a change of the app's")
    func overtakenUndo() async throws {
        server.script = { _ in throw RemoteError(.unreachable, "no answer") }
        try await table.update(Record(id: "a", ["text": "mine"]))
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        try await table.revert("a")
        #expect(try await context.operations().map(\.isUndo) == [true])
        server.script = { _ in
            var error = RemoteError(.conflict, "it would be shown as deleted", status: 412)
            error.wouldShowTombstone = true
            throw error
        }
        let report = try await context.push()
        #expect(report.overtakenUndos == 1 && report.overtaken == 0 && report.pushed == 0)
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        server.script = { _ in }
        #expect(try await context.push().overtakenUndos == 0)
        #expect(try await context.operations().isEmpty)
        #expect(server.texts == ["a": "milk"])
    }

    @Test("takes back a forbidden change as little as the change, which ends no push and keeps no row from the pulls")
    func forbidden() async throws {
        server.script = { _ in throw RemoteError(.refused, "read only", status: 403) }
        try await table.update(Record(id: "a", ["text": "mine"]))
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        try await table.revert("a")
        #expect(try await context.operations().map(\.isUndo) == [true], "the change may still arrive")
        #expect(try await context.push().failures.count == 1)
        try await context.resolve(try #require(try await context.operationErrors().first), with: .takeServer)
        #expect(try await context.operations().isEmpty)
        #expect(try await table.read("a")?["text"] == "milk")
        #expect(try await context.push().requests == 0)
        #expect(try await store.verifyQueue().isEmpty)
    }
}
