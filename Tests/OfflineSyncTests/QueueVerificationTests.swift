import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Verifying the queue")
struct QueueVerificationTests {
    private let store: MemoryStore
    private let table: SyncTable<Record>
    private let operations = SystemTables.operations.name
    private let errors = SystemTables.operationErrors.name
    private let configuration = SystemTables.configuration.name

    /// A queue with an insert, an update (after what a push would leave) and a delete.
    init() async throws {
        store = try makeStore()
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        table = try context.table(todoTable.name)
        try await store.upsert(
            [Record(id: "b", ["text": "b", "version": "1"]), Record(id: "c", ["text": "c", "version": "1"])],
            table: table.name
        )
        try await table.insert(["text": "a"], id: "a")
        try await table.update(Record(id: "b", ["text": "changed"]))
        try await table.delete("c")
    }

    private func findings() async throws -> [StoreFinding] { try await store.verifyQueue() }

    /// The one finding there is, after something was broken.
    private func onlyFinding(_ parts: String...) async throws -> StoreFinding {
        let findings = try await findings()
        try #require(findings.count == 1, "\(findings)")
        #expect(findings[0].kind == .inconsistentQueue)
        for part in parts { #expect(findings[0].message.contains(part), "\(findings[0])") }
        return findings[0]
    }

    @Test("finds nothing in a queue as the engine leaves it")
    func sound() async throws {
        #expect(try await findings().isEmpty)
    }

    @Test("an insert or update whose row is gone", arguments: [(1, "a"), (2, "b")])
    func lostRow(_ row: (number: Int, id: String)) async throws {
        try await store.deleteItems(withIDs: [.string(row.id)], table: table.name)
        let finding = try await onlyFinding("operation \(row.number)", "not in table")
        #expect(finding.place == .row(Int64(row.number), table: operations))
    }

    @Test("a delete that has lost the row it deleted")
    func lostItem() async throws {
        try await store.upsert(
            [Record(id: .int64(3), ["properties": .bytes(Array(#"{"type":2}"#.utf8))])],
            table: operations
        )
        _ = try await onlyFinding("operation 3", "deleted")
    }

    @Test(
        "an operation that cannot be read",
        arguments: [
            #"{"type":9}"#, #"{"type":"#, "[]", #"{"type":2,"item":["c"]}"#, #"{"type":2,"item":{}}"#,
        ]
    )
    func unreadable(_ properties: String) async throws {
        try await store.upsert(
            [Record(id: .int64(3), ["properties": .bytes(Array(properties.utf8))])],
            table: operations
        )
        _ = try await onlyFinding("operation 3", "cannot be read")
    }

    @Test("two operations of one item")
    func twice() async throws {
        try await store.write { [operations] transaction in
            var row = try #require(try transaction.record(.int64(2), in: operations))
            row.id = .int64(7)
            try transaction.upsert([row], into: operations)
        }
        _ = try await onlyFinding("operation 7", "operation 2")
    }

    @Test("an operation that its item does not lead to, in a state that does not exist, or with a number below 1")
    func columns() async throws {
        try await store.upsert([Record(id: .int64(2), ["itemKey": "other"])], table: operations)
        _ = try await onlyFinding("operation 2", "found")
        try await store.upsert([Record(id: .int64(2), ["itemKey": "b", "state": 7])], table: operations)
        _ = try await onlyFinding("operation 2", "state")
        for groups in ["1.2", "a.0.0.0", "1.2.1.0", "2.0.0.0 1.0.0.0", ""] {
            let damaged = Record(id: .int64(2), ["state": 0, "groups": .string(groups)])
            try await store.upsert([damaged], table: operations)
            _ = try await onlyFinding("operation 2", "groups")
        }
        try await store.upsert([Record(id: .int64(2), ["groups": "1.0.2.5 3.1.1.6"])], table: operations)
        #expect(try await store.verifyQueue().isEmpty)
        try await store.upsert([Record(id: .int64(2), ["state": 0, "editCounter": -1])], table: operations)
        _ = try await onlyFinding("operation 2", "edited")
        try await store.write { [operations] transaction in
            var row = try #require(try transaction.record(.int64(2), in: operations))
            try transaction.delete([row.id], from: operations)
            row.id = .int64(0)
            row["editCounter"] = 0
            try transaction.upsert([row], into: operations)
        }
        _ = try await onlyFinding("operation 0", "positive")
    }

    @Test("operations of tables that are not declared are left alone, unless the schema is known to have every table")
    func undeclared() async throws {
        try await store.upsert([Record(id: .int64(2), ["table": "Gone"])], table: operations)
        #expect(try await findings().isEmpty)
        let schema = store.schema
        let strict = try await store.read { try QueueVerification.findings(in: &$0, schema, schemaIsComplete: true) }
        #expect(strict.count == 1 && strict[0].message.contains("operation 2"))
    }

    /// A row of the table of errors as the engine writes it.
    private func error(_ operation: Int64, item: String, editCounter: Int64 = 0, properties: String? = nil) -> Record {
        let text =
            properties ?? #"{"table":"TodoItem","itemId":"\#(item)","operation":1,"conflict":true,"statusCode":412}"#
        return Record(
            id: .string("error \(operation)"),
            [
                "operationId": .int64(operation), "properties": .bytes(Array(text.utf8)),
                "editCounter": .int64(editCounter),
            ]
        )
    }

    @Test("an error belongs to an operation of its item, and is not from the future")
    func errorRows() async throws {
        try await store.upsert([error(2, item: "b")], table: errors)
        #expect(try await findings().isEmpty)
        try await store.upsert([error(2, item: "a")], table: errors)
        _ = try await onlyFinding("operation 2", "another item")
        try await store.upsert([error(2, item: "b", editCounter: 5)], table: errors)
        _ = try await onlyFinding("operation 2", "does not have yet")
        try await store.upsert([error(2, item: "b", properties: "{")], table: errors)
        _ = try await onlyFinding("operation 2", "cannot be read")
        try await store.deleteItems(withIDs: ["error 2"], table: errors)
        try await store.upsert([error(9, item: "z")], table: errors)
        _ = try await onlyFinding("operation 9", "not in the queue")
        try await store.upsert([Record(id: "error 9", ["operationId": .null])], table: errors)
        _ = try await onlyFinding("does not say which operation")
    }

    @Test("a conflict without what the server said could never be settled")
    func conflictWithoutError() async throws {
        try await store.upsert([Record(id: .int64(2), ["state": 1])], table: operations)
        _ = try await onlyFinding("operation 2", "conflict")
    }

    @Test("settings: tokens are instants, kinds and keys are there, nothing is there twice")
    func settings() async throws {
        func set(_ fields: [String: FieldValue], id: RecordID = "s") async throws {
            let base: [String: FieldValue] = [
                "table": "TodoItem", "keyType": 0, "key": "all", "value": .null, "query": "",
            ]
            try await store.upsert([Record(id: id, base.merging(fields) { $1 })], table: configuration)
        }
        try await set(["value": "2024-05-01T10:00:00.000Z"])
        #expect(try await findings().isEmpty)
        try await set(["value": "2024-05-01T10:00:00.000Z"], id: "t")
        _ = try await onlyFinding("twice")
        try await store.deleteItems(withIDs: ["t"], table: configuration)
        try await set(["value": "whatever the remote says"])
        #expect(try await findings().isEmpty)
        try await set(["value": ""])
        _ = try await onlyFinding("delta token", "TodoItem")
        try await set([:])
        _ = try await onlyFinding("delta token")
        try await set(["keyType": 1_000, "key": ""])
        _ = try await onlyFinding("fetched again")
        try await set(["keyType": 1_001, "table": "", "key": "", "value": "-4"])
        _ = try await onlyFinding("highest number")
        try await set(["keyType": .null])
        _ = try await onlyFinding("lacks")
        try await set(["keyType": 4_711])
        #expect(try await findings().isEmpty, "a kind of a later version")
    }
}
