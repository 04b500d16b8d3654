@testable import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("Queries of untyped tables")
struct RecordQueryTests {
    private func todos() async throws -> SyncTable<Record> {
        let context = SyncContext(store: try makeStore(), remote: UnavailableRemote.unreachable)
        let todos = try context.table("TodoItem")
        for (id, text, isComplete) in [("a", "milk", true), ("b", "tea", false), ("c", "bread", false)] {
            try await todos.insert(Record(id: .string(id), ["text": .string(text), "complete": .bool(isComplete)]))
        }
        return todos
    }

    @Test("rows are chosen, ordered and bounded, of a table and of a query alike")
    func reading() async throws {
        let todos = try await todos()
        let open = todos.filtered(by: Column("complete") == false)
        let cases: [(RecordQuery, [RecordID])] = [
            (todos.records, ["a", "b", "c"]), (open, ["b", "c"]), (open.filtered(by: Column("text") < "c"), ["c"]),
            (todos.ordered(by: "text"), ["c", "a", "b"]), (open.ordered(by: "text", .descending), ["b", "c"]),
            (todos.ordered(by: "complete").ordered(by: "text"), ["c", "b", "a"]), (todos.limited(to: 2), ["a", "b"]),
            (todos.limited(to: 1).limited(to: 2), ["a"]), (todos.skipping(1), ["b", "c"]),
            (todos.limited(to: 1, skipping: 1), ["b"]),
        ]
        for (query, ids) in cases {
            #expect(try await query.read().map(\.id) == ids, "\(query.source)")
            #expect(try await query.first()?.id == ids.first)
        }
        #expect(try await todos.read().count == 3)
        #expect(try await todos.count() == 3)
        #expect(try await open.limited(to: 1).count() == 2)
        var batches: [[RecordID]] = []
        for try await batch in todos.batches(of: 2) { batches.append(batch.map(\.id)) }
        #expect(batches == [["a", "b"], ["c"]])
        let mistaken = todos.filtered(by: Column("text") == 1)
        var refusals: [StoreError?] = []
        refusals.append(await #expect(throws: StoreError.self) { try await mistaken.read() })
        refusals.append(
            await #expect(throws: StoreError.self) {
                for try await batch in mistaken.batches(of: 2) { Issue.record("\(batch.count) rows of none") }
            }
        )
        refusals.append(
            await #expect(throws: StoreError.self) {
                let counts = todos.observe(AggregateQuery(mistaken.source, [.count]))
                for try await count in counts { Issue.record("a count of none: \(count)") }
            }
        )
        #expect(refusals.map(\.?.code) == Array(repeating: .invalidQuery, count: 3))
    }

    @Test("transactions take them, and rows by the ids of others that were read")
    func transactions() async throws {
        let todos = try await todos()
        let open = todos.filtered(by: Column("complete") == false)
        let context = todos.context
        try await context.write { tx in
            #expect(try tx.count(open) == 2)
            #expect(try tx.first(open.ordered(by: "text"))?.id == "c")
            #expect(try tx.first(open.limited(to: 0)) == nil)
            var ids: [RecordID] = []
            try tx.forEach(open) { ids.append($0.id) }
            #expect(try ids == tx.read(open).map(\.id) && ids == ["b", "c"])
            let given = try tx.insert(Record(id: "d", ["text": "jam"]), into: todos)
            let made = try tx.insert(Record(id: "", ["text": "rice"]), into: todos)
            #expect(given.id == "d" && made.id != "")
            try tx.delete(given.id, from: todos)
            try tx.delete(made.id, from: todos)
            #expect(throws: SyncError.self) { try tx.delete(.int64(1), from: todos) }
        }
        for row in try await open.read() where row["text"] == "tea" {
            #expect(try await todos.read(row.id) == row)
            try await todos.delete(row.id)
            #expect(try await todos.read(row.id) == nil)
        }
        try await context.write { try $0.delete(open) }
        #expect(try await todos.read().map(\.id) == ["a"])
        await #expect(throws: SyncError.self) { try await todos.filtered(by: Column("text") == "milk").purge() }
        #expect(try await todos.filtered(by: Column("text") == "milk").forcePurge() == 1)
        await #expect(throws: SyncError.self) { try await todos.records.pull() }
    }

    @Test("rows are followed, and deleted all at once")
    func changing() async throws {
        let todos = try await todos()
        let open = todos.filtered(by: Column("complete") == false)
        var results = open.observe().makeAsyncIterator()
        #expect(try await results.next()?.map(\.id) == ["b", "c"])
        #expect(try await open.delete() == 2)
        #expect(try await results.next()?.isEmpty == true)
        #expect(try await todos.read().map(\.id) == ["a"])
    }

    @Test("a record is inserted under its id, or under a new one")
    func inserting() async throws {
        let todos = try await todos()
        let made = try await todos.insert(Record(id: "", ["text": "salt", "version": "mine"]))
        #expect(made.id.stringValue?.count == 36 && made["text"] == "salt" && made.version == nil)
        #expect(try await todos.read(made.id.stringValue ?? "")?["text"] == "salt")
        #expect(try await syncErrorCode { try await todos.insert(Record(id: "a")) } == .invalidAction)
        #expect(try await syncErrorCode { try await todos.insert(Record(id: 1)) } == .invalidItemID)
    }
}
