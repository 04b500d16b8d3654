import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Many ids that the server has chosen")
struct ManyIDsTests {
    private static let tables = [
        TableDefinition("TodoItem", columns: todoTable.columns, idComparison: .asciiCaseInsensitive, assignsIDs: true)
    ]

    @Test("cost a page one look-up, and are known by both sides")
    func pages() async throws {
        let pages = (0..<4)
            .map { page in
                PullPage(records: (0..<100).map { serverRow("s\(page * 100 + $0)", "\(page)", stamp: Int64(page)) })
            }
        let store = MemoryStore(try StoreSchema(Self.tables))
        let context = SyncContext(store: store, remote: ScriptedRemote(pages: pages))
        let table = try context.table("TodoItem")
        let report = try await table.pull()
        #expect(report.received == 400)
        let ids = Set(try await store.read(Query("TodoItem")).records.compactMap(\.id.stringValue))
        #expect(ids.count == 400)
        for server in ["s0", "s199", "s399"] {
            let id = try #require(try await table.id(ofServerID: server))
            #expect(ids.contains(id))
            #expect(try await table.serverID(of: id) == server)
        }
        let again = try await SyncContext(store: store, remote: ScriptedRemote(pages: pages)).table("TodoItem")
            .pull(queryID: "again")
        #expect(again.received == 0, "rows keep their ids")
    }

    @Test("are told apart in the spelling in which the server has chosen them")
    func spelling() async throws {
        let store = MemoryStore(try StoreSchema(Self.tables))
        let remote = ScriptedRemote(pages: [
            PullPage(records: [serverRow("k1", "small")]), PullPage(records: [serverRow("K1", "large")]),
        ])
        let context = SyncContext(store: store, remote: remote)
        try await context.table("TodoItem").pull()
        #expect(
            try await store.read(Query("TodoItem")).records.compactMap { $0["text"]?.stringValue }.sorted() == [
                "large", "small",
            ]
        )
    }

    @Test("are looked for by their own when a row is fetched, set aside or in conflict")
    func byID() async throws {
        let store = MemoryStore(try StoreSchema(Self.tables))
        let remote = ScriptedRemote(pages: [
            PullPage(records: [serverRow("s1")], setAside: [SetAsideRow(id: "s2", reason: "does not fit")])
        ])
        remote.put(serverRow("s1", "theirs", version: "v2"))
        let context = SyncContext(store: store, remote: remote)
        let table = try context.table("TodoItem")
        let report = try await table.pull()
        #expect(report.setAside.map(\.id) == ["s2"], "as the server has it")
        let id = try #require(try await table.id(ofServerID: "s1"))
        try await table.update(Record(id: .string(id), ["text": "mine"]))
        let error = try #require(try await context.push().conflicts.first)
        #expect(error.itemID == id && error.serverItem?.id == .string(id))
        try await context.resolve(error, with: .keepMine)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(remote.row("s1")?["text"] == "mine" && remote.row(id) == nil)
        try await table.delete(id)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(remote.row("s1") == nil)
        #expect(remote.askedByID.allSatisfy { $0 == "s1" })
    }
}
