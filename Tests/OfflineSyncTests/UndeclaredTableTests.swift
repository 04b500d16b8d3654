import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("What stands in the way of a push")
struct UndeclaredTableTests {
    @Test("a change of a table that is not declared any more does not block others, and can be given up")
    func undeclared() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.store.write {
                try $0.upsert(
                    [
                        Record(
                            id: .int64(1),
                            [
                                "table": "Gone", "tableKind": 0, "itemId": "x", "itemKey": "x",
                                "properties": .bytes(Array(#"{"type":1}"#.utf8)),
                                "editCounter": 0, "state": 0, "attempted": false,
                            ]
                        )
                    ],
                    into: "MS_TableOperations"
                )
            }
            try await laptop.table.insert(["text": "milk"], id: "a")
            do { _ = try await laptop.context.push() } catch { Issue.record("push: \(error)") }
            do { try await laptop.context.forcePurge("Gone") } catch { Issue.record("purge: \(error)") }
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test(
        "the part of a group in a table that is not synced any more is not sent, and what comes after it waits",
        arguments: [true, false]
    )
    func undeclaredPart(staysHere: Bool) async throws {
        let listTable = TableDefinition("Lists", columns: [.init("text", .string)])
        let store = MemoryStore(try StoreSchema([listTable, todoTable]))
        let before = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let (lists, todos) = (try before.table("Lists"), try before.table("TodoItem"))
        try await before.write { tx in
            try tx.insert(["text": "shopping"], id: "l", into: lists)
            try tx.insert(["text": "milk"], id: "a", into: todos)
        }
        let local = TableDefinition("Lists", columns: listTable.columns, isLocalOnly: true)
        let schema = try StoreSchema(staysHere ? [local, todoTable] : [todoTable])
        let server = GroupServer()
        let context = SyncContext(store: try await store.reopened(with: schema), remote: server)
        let report = try await context.push()
        #expect(report.pushed == 0 && report.waiting == 1)
        #expect(server.begun.isEmpty && server.written.isEmpty)
        #expect(try await context.status().undeclared == 1)
        // As the status says.
        #expect(try await context.forcePurge("Lists") == 1)
        #expect(try await context.push().pushed == 1)
        #expect(try await context.status().undeclared == 0)
        guard staysHere else { return }
        #expect(try await context.store.read(Query("Lists")).records.map(\.id) == ["l"], "the row is the app's")
        #expect(try await syncErrorCode { try await context.forcePurge("Lists") } == .invalidParameter)
    }

    private static let damaged = Record(
        id: .int64(1),
        [
            "table": "TodoItem", "tableKind": 0, "itemId": "x", "itemKey": "x",
            "properties": .bytes(Array(#"{"type":9}"#.utf8)), "editCounter": 0, "state": 0, "attempted": false,
        ]
    )

    @Test("a damaged operation stops no pull and can be given up, also where the server has come to choose the ids")
    func damagedWithIDs() async throws {
        let table = TableDefinition("TodoItem", columns: todoTable.columns, assignsIDs: true)
        let context = SyncContext(
            store: try makeStore(table),
            remote: ScriptedRemote(pages: [PullPage(records: [serverRow("a")])])
        )
        try await context.store.upsert([serverRow("x")], table: "TodoItem")
        try await context.store.upsert([Self.damaged], table: "MS_TableOperations")
        #expect(try await context.pull(Query("TodoItem"), options: .init(order: .pullOnly)).received == 1)
        #expect(try await syncErrorCode { try await context.forcePurge("TodoItem") } == nil)
        #expect(try await context.operations().isEmpty)
    }

    @Test("a damaged operation can be given up, as its error says")
    func damaged() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.store.upsert([Self.damaged], table: "MS_TableOperations")
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .damagedQueue)
            #expect(try await syncErrorCode { try await laptop.context.forcePurge("TodoItem") } == nil)
        }
    }

    @Test(
        "an update that the store cannot keep safe is not sent, and does not block inserts behind it",
        arguments: ["text", "content"]
    )
    func unsuitable(_ name: String) async throws {
        let definition = todoTable(callingText: name)
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let store = MemoryStore(try StoreSchema([definition]), keepsUnknownColumns: false)
            let context = SyncContext(store: store, remote: world.laptop.server)
            let table = try context.table("TodoItem")
            try await table.pull(queryID: "all")
            try await table.update(Record(id: "a", [name: "mine"]))
            try await table.insert([name: "bread"], id: "b")
            _ = try? await context.push()
            #expect(world.onServer() == ["a": "milk", "b": "bread"])
        }
    }
}
