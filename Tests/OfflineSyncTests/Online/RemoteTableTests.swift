import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// A remote of other ids than usual.
private struct OtherIDsRemote: OnlineRemote {
    let replacesWholeRows = false
    let idRule = RowIDRule(maximumLength: 5, allowsNonASCII: true)

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { record }
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { record }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        .confirmed
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { nil }
    func confirm(_ table: TableDefinition) async throws {}
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { PullPage(records: []) }
    func page(_ query: Query, of table: TableDefinition, includesDeleted: Bool) async throws -> RemotePage {
        RemotePage(records: [], isKnownToBeLast: true)
    }
    func invokeAPI(_ call: APICall) async throws -> APIAnswer { APIAnswer(status: 200, contentType: nil, body: []) }
}

@Suite("Online tables")
struct RemoteTableTests {
    private func failure(_ call: () async throws -> Void) async throws -> RemoteError {
        try #require(await #expect(throws: RemoteError.self) { try await call() })
    }

    @Test("a row's life, each step one call", arguments: OnlineWorld.Service.allCases)
    func life(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("TodoItem")
        let created = try await table.insert(["text": "milk", "complete": false], id: "a")
        #expect(created["text"] == "milk" && created.version != nil)
        #expect(try await table.read("a") == created)

        var changed = created
        changed["text"] = "bread"
        let updated = try await table.update(changed)
        #expect(updated["text"] == "bread" && updated.version != created.version)
        let stale = try await failure { try await table.update(changed) }
        #expect(stale.code == .conflict && stale.serverRecord == updated)

        let patched = try await table.patch("a", ["complete": true])
        #expect(patched["text"] == "bread" && patched["complete"] == true)
        let stalePatch = try await failure { try await table.patch("a", ["complete": false], version: created.version) }
        #expect(stalePatch.code == .conflict && stalePatch.serverRecord == patched)
        let based = try await table.patch("a", ["text": .null], version: patched.version)
        #expect(based["text"] == .some(.null) && based["complete"] == true)

        let staleDelete = try await failure { try await table.delete("a", version: created.version) }
        #expect(staleDelete.code == .conflict)
        try await table.delete("a", version: based.version)
        #expect(try await table.read("a") == nil)
        try await table.delete("a")
        let latePatch = try await failure { try await table.patch("a", ["complete": true]) }
        #expect(latePatch.code == .conflict)
        if service.dialect == .datasync { #expect(latePatch.serverRecord?.isDeleted == true) }

        let staleReturn = try await failure { try await table.undelete("a", version: created.version) }
        #expect(staleReturn.code == .conflict && staleReturn.serverRecord?.isDeleted == true)
        let back = try await table.undelete("a")
        #expect(!back.isDeleted && back["complete"] == true)
        #expect(try await table.undelete("a")["complete"] == true)
        #expect(try await table.read("a")?.version == back.version)
    }

    @Test(
        "a row that is not there: nil, no error for a delete, an error for a change",
        arguments: OnlineWorld.Service.allCases
    )
    func missing(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("TodoItem")
        #expect(try await table.read("a") == nil)
        try await table.delete("a")
        #expect(try await failure { try await table.patch("a", ["text": "x"]) }.code == .notFound)
        #expect(try await failure { try await table.undelete("a") }.code == .notFound)
        #expect(try await failure { try await table.update(Record(id: "a", ["text": "x"])) }.code == .notFound)
    }

    @Test(
        "a deletion that nothing confirms is an error while the row is there",
        arguments: OnlineWorld.Service.allCases,
        [EmulatorResponse(200), .json(200, .object([:])), EmulatorResponse(404), EmulatorResponse(410)]
    )
    func unconfirmedDeletion(_ service: OnlineWorld.Service, _ answer: EmulatorResponse) async throws {
        let world = try OnlineWorld(service)
        let table = try world.context.remoteTable("TodoItem")
        let row = try await table.insert(["text": "milk"], id: "a")
        world.emulator.inject(.respond(answer, times: 2) { $0.method == "DELETE" })
        #expect(try await failure { try await table.delete("a") }.code == .serverFailure)
        let edited = try await table.patch("a", ["text": "bread"])
        let conflict = try await failure { try await table.delete("a", version: row.version) }
        #expect(conflict.code == .conflict && conflict.serverRecord?.version == edited.version)
        #expect(try await table.read("a")?["text"] == "bread")

        world.emulator.inject(.respond(answer, times: 1) { $0.method == "DELETE" })
        try await table.delete("other")
        try await table.delete("a", version: edited.version)
        #expect(try await table.read("a") == nil)
    }

    @Test(
        "so it is of a typed table",
        arguments: OnlineWorld.Service.allCases,
        [EmulatorResponse(200), EmulatorResponse(404)]
    )
    func unconfirmedTypedDeletion(_ service: OnlineWorld.Service, _ answer: EmulatorResponse) async throws {
        struct Todo: Codable, Identifiable, Sendable {
            var id: UUID
            var text: String
        }
        let world = try OnlineWorld(service)
        let table = try world.context.remoteTable("TodoItem", of: Todo.self)
        let todo = try await table.insert(Todo(id: UUID(), text: "milk"))
        world.emulator.inject(.respond(answer, times: 2) { $0.method == "DELETE" })
        #expect(try await failure { try await table.delete(todo.id) }.code == .serverFailure)
        #expect(try await table.read(todo.id) != nil)
        try await table.delete(todo.id)
        #expect(try await table.read(todo.id) == nil)
        try await table.delete(todo.id)
    }

    @Test("an address without the table is no missing row", arguments: OnlineWorld.Service.allCases)
    func wrongTable(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("Nowhere")
        let calls: [() async throws -> Void] = [
            { _ = try await table.read("a") }, { try await table.delete("a") }, { _ = try await table.undelete("a") },
        ]
        for call in calls {
            let error = try await failure(call)
            #expect([.notFound, .notTheService].contains(error.code), "\(error)")
        }
    }

    @Test("replacing a row clears what is not given", arguments: OnlineWorld.Service.allCases)
    func replacing(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("TodoItem")
        try await table.insert(["text": "milk", "due": .date(Timestamp("2026-11-22T00:00:00Z")!)], id: "a")
        let row = try await table.update(Record(id: "a", ["text": "bread"]))
        #expect(row["text"] == "bread" && row["due"]?.isNull ?? true)
    }

    @Test("a duplicate id is a conflict with the server's row", arguments: OnlineWorld.Service.allCases)
    func duplicate(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("TodoItem")
        let row = try await table.insert(["text": "milk"], id: "a")
        let error = try await failure { try await table.insert(["text": "bread"], id: "a") }
        #expect(error.code == .conflict && error.serverRecord == row)
        let code = try await syncErrorCode { try await table.insert(["text": "x"], id: "a/b") }
        #expect(code == .invalidItemID)
        #expect(try await table.insert(["text": "x"]).id != row.id)
    }

    @Test("where the server chooses ids, the row comes back with its own", arguments: OnlineWorld.Service.allCases)
    func assignedIDs(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service, assignsIDs: true)
        let table = try world.context.remoteTable("TodoItem")
        let row = try await table.insert(["text": "milk"], id: "mine")
        #expect(row.id != "mine" && row["text"] == "milk")
        #expect(world.emulator.rows(in: "TodoItem").count == 1)
        #expect(try await table.read(row.id.stringValue ?? "") == row)
    }

    @Test("a query's rows come whole, however many pages they are", arguments: OnlineWorld.Service.allCases)
    func reading(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service, pageSize: 7)
        try world.seed(40)
        let table = try world.context.remoteTable("TodoItem")
        try await table.delete("id-1003")
        let ids = (0..<40).filter { $0 != 3 }.map { RecordID.string("id-\(1_000 + $0)") }
        #expect(try await table.read(table.query).map(\.id) == ids)
        #expect(try await table.read(table.query.ordered(by: "id", .descending)).map(\.id) == ids.reversed())
        #expect(try await table.read(table.query.limited(to: 10)).map(\.id) == Array(ids.prefix(10)))
        #expect(try await table.read(table.query.limited(to: 0)).isEmpty)
        #expect(try await table.first(table.query.limited(to: 0)) == nil)
        for count in [2, 35] {
            #expect(try await table.read(table.query.skipping(count)).map(\.id) == Array(ids.dropFirst(count)))
        }
        let even = table.query.filtered(by: Column("complete") == true)
        #expect(try await table.read(even).count == 20)
        #expect(try await table.count(even.limited(to: 1)) == 20)
        #expect(try await table.count(table.query) == 39)
        #expect(try await table.first(table.query.ordered(by: "id", .descending))?.id == "id-1039")
        #expect(try await table.first(even.filtered(by: Column("text") == "none")) == nil)
        // Rows of one text keep an order among themselves, or pages would not join.
        let byText = try await table.read(table.query.ordered(by: "text"))
        #expect(Set(byText.map(\.id)) == Set(ids) && byText.count == 39)
    }

    @Test("rows come by as many columns as a server of protocol 3 takes in an order")
    func orderOfFiveColumns() async throws {
        let world = try OnlineWorld(.datasync, pageSize: 5)
        let names = ["a", "b", "c", "d", "e"]
        let rows = (0..<12)
            .map { number -> [String: JSONValue] in
                ["id": .string("id-\(number)"), "a": 1, "b": 1, "c": 1, "d": 1, "e": .string("e\(99 - number)")]
            }
        try world.emulator.seed(rows, in: "Other")
        let columns = names.map { ColumnDefinition($0, $0 == "e" ? .string : .int64) }
        let table = try world.context.remoteTable(TableDefinition("Other", columns: columns))
        let query = names.reduce(table.query) { query, name in query.ordered(by: name) }
        #expect(try await table.read(query).map(\.id) == (0..<12).reversed().map { RecordID.string("id-\($0)") })
    }

    @Test("pages come when they are wanted", arguments: [OnlineWorld.Service.datasync, .node])
    func pages(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        try world.seed(25)
        let table = try world.context.remoteTable("TodoItem")
        world.emulator.clearRequests()
        var sizes: [Int] = []
        for try await page in try table.pages(table.query, size: 10) {
            sizes.append(page.records.count)
            if sizes.count == 2 { break }
        }
        #expect(sizes == [10, 10] && world.emulator.requests.count == 2)
    }

    @Test("ids that differ in normalisation only are no page that comes over and over", arguments: [nil, 1])
    func normalisation(_ size: Int?) async throws {
        let world = try OnlineWorld(.datasync)
        let ids = ["e\u{301}", "\u{E9}"]
        try world.emulator.seed(ids.map { ["id": .string($0)] }, in: "TodoItem")
        let table = try world.context.remoteTable("TodoItem")
        var found: [RecordID] = []
        for try await page in try table.pages(table.query, size: size) { found += page.records.map(\.id) }
        #expect(found == ids.map { RecordID.string($0) })
    }

    @Test("rows that come and go meanwhile shift nothing", arguments: [OnlineWorld.Service.datasync, .node])
    func shifting(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        try world.seed(20)
        let table = try world.context.remoteTable("TodoItem")
        var ids: [String] = []
        for try await page in try table.pages(table.query, size: 5) {
            ids += page.records.compactMap(\.id.stringValue)
            if ids.count == 5 { for id in ids { try await table.delete(id) } }
        }
        #expect(ids == (0..<20).map { "id-\(1_000 + $0)" })
    }

    @Test(
        "rows that come in front meanwhile move a page, which is no page that comes over and over",
        arguments: [1, 2]
    )
    func moved(_ size: Int) async throws {
        let world = try OnlineWorld(.datasync)
        try world.seed(6)
        let table = try world.context.remoteTable("TodoItem")
        let query = table.query.ordered(by: "updatedAt", .descending)
        let before = try await table.read(query).map(\.id)
        var ids: [RecordID] = []
        for try await page in try table.pages(query, size: size) {
            if ids.isEmpty { for number in 0..<size { try await table.insert(["text": "new"], id: "new-\(number)") } }
            ids += page.records.map(\.id)
        }
        #expect(ids == before)
    }

    @Test("rows behind such as do not fit come too, and each once", arguments: [1, 2, 3, 4, nil] as [Int?])
    func unfit(_ size: Int?) async throws {
        let world = try OnlineWorld(.datasync)
        let rows = ["a", "b", "c", "d", "e"]
            .map { id -> [String: JSONValue] in
                ["id": .string(id), "due": ["b", "c"].contains(id) ? "soon" : nil]
            }
        try world.emulator.seed(rows, in: "TodoItem")
        let table = try world.context.remoteTable("TodoItem")
        for limit in [nil, 4, 5] {
            var query = table.query
            query.limit = limit
            var (ids, setAside): ([RecordID], [String]) = ([], [])
            for try await page in try table.pages(query, size: size) {
                ids += page.records.map(\.id)
                setAside += page.setAside.map(\.id)
            }
            #expect(ids == (limit == 4 ? ["a", "d"] : ["a", "d", "e"]) && setAside == ["b", "c"])
        }
    }

    @Test("a server that gives one page for ever is an error")
    func endless() async throws {
        let world = try OnlineWorld(
            .node,
            answering: SyncWorld.StandIn { _, _ in
                .json(200, .array([["id": "a"]]))
            }
        )
        let table = try world.context.remoteTable("TodoItem")
        #expect(try await failure { _ = try await table.read(table.query) }.code == .invalidResponse)
    }

    @Test("in protocol 3 a patch keeps what others change at the same time")
    func patchRace() async throws {
        let world = try OnlineWorld(
            .datasync,
            answering: SyncWorld.StandIn { request, emulator in
                // Somebody else writes between the read and the write, twice.
                let writes = emulator.requests.filter { $0.request.method == "PUT" }.count
                if request.method == "PUT", writes < 4 {
                    var edit = request
                    edit.headers["If-Match"] = nil
                    edit.body = Data(#"{"id":"a","text":"theirs \#(writes)","complete":false}"#.utf8)
                    _ = try await emulator.handle(edit)
                }
                return try await emulator.handle(request)
            }
        )
        let table = try world.context.remoteTable("TodoItem")
        try await table.insert(["text": "milk", "complete": false], id: "a")
        let row = try await table.patch("a", ["complete": true])
        #expect(row["complete"] == true && row["text"] == "theirs 2")
    }

    @Test("a table that the store does not have takes what is given", arguments: OnlineWorld.Service.allCases)
    func undeclared(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("Other")
        let row = try await table.insert(["name": "x", "count": 3, "flag": true], id: "a")
        #expect(row["name"] == "x" && row["count"] == 3)
        #expect(try await table.patch("a", ["count": 4])["count"] == 4)
        #expect(try await table.read(table.query.filtered(by: Column("count") > 3)).count == 1)
    }

    @Test("what is not acceptable is refused before anything is sent")
    func unacceptable() async throws {
        let world = try OnlineWorld(.datasync)
        let table = try world.context.remoteTable("TodoItem")
        let calls: [() async throws -> Void] = [
            { _ = try await table.read(Query("Other")) }, { _ = try await table.count(Query("Other")) },
            { try await table.patch("a", [:]) }, { try await table.patch("a", ["version": "x"]) },
        ]
        for call in calls { #expect(try await syncErrorCode(call) == .invalidParameter) }
        #expect(world.emulator.requests.isEmpty)
        let offline = SyncContext(store: try makeStore(), remote: UnavailableRemote.unreachable)
        #expect(try await syncErrorCode { _ = try offline.remoteTable("TodoItem") } == .unsupported)
        #expect(try await syncErrorCode { try await offline.invokeAPI("x") } == .unsupported)
    }

    @Test("further parameters go along with every request of the table", arguments: OnlineWorld.Service.allCases)
    func parameters(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        var table = try world.context.remoteTable("TodoItem")
        table.parameters = ["tenant": "a&b", "test": "1"]
        let row = try await table.insert(["text": "milk"], id: "a")
        _ = try await table.update(row)
        _ = try await table.patch("a", ["text": "bread"])
        _ = try await table.read(table.query)
        _ = try await table.count(table.query)
        _ = try await table.read("a")
        try await table.delete("a")
        _ = try await table.undelete("a")
        let items = try await RemoteTableTests.items(of: table)
        #expect(items.count == 1)
        let targets = world.emulator.requests.map(\.request.query)
        #expect(targets.count >= 8)
        for target in targets { #expect(target.contains("tenant=a%26b&test=1"), "\(target)") }
        table.parameters = [:]
        _ = try await table.read("a")
        #expect(world.emulator.requests.last?.request.query.contains("tenant") == false)
        for name in ["$top", "__includeDeleted", ""] {
            table.parameters = [name: "1"]
            let (count, refused) = (world.emulator.requests.count, table)
            #expect(try await failure { _ = try await refused.read("a") }.code == .invalidRequest)
            #expect(world.emulator.requests.count == count)
        }
    }

    @Test(
        "parameters of a table go with those of the service, before which they go",
        arguments: OnlineWorld.Service.allCases
    )
    func addedParameters(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(world.emulator)
        )
        .adding(parameters: ["tenant": "1", "key": "k"])
        var table = try SyncContext(store: try makeStore(), remote: remote).remoteTable("TodoItem")
        table.parameters = ["tenant": "2", "page": "3"]
        try await table.insert(["text": "milk"], id: "a")
        _ = try await table.read(table.query)
        try await table.delete("a")
        let queries = world.emulator.requests.map(\.request.query)
        #expect(queries.count >= 3)
        for part in ["tenant=2", "key=k", "page=3"] {
            #expect(queries.allSatisfy { $0.contains(part) }, "\(queries)")
        }
    }

    private static func items(of table: RemoteTable<Record>) async throws -> [Record] {
        try await table.table.read(table.query)
    }

    @Test("rows that are deleted come when they are asked for", arguments: OnlineWorld.Service.allCases)
    func deletedRows(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        var table = try world.context.remoteTable("TodoItem")
        for id in ["a", "b"] { try await table.insert(["text": "milk"], id: id) }
        try await table.delete("a")
        #expect(try await table.read(table.query).map(\.id) == ["b"])
        table.includesDeleted = true
        #expect(try await table.read(table.query).map(\.isDeleted) == [true, false])
        #expect(try await table.read("a")?.isDeleted == true)
        #expect(try await table.count(table.query) == 2)
        #expect(try await table.table.read("a") != nil)
    }

    @Test("ids of new rows obey the rule of the remote")
    func idRule() async throws {
        let table = try SyncContext(store: try makeStore(), remote: OtherIDsRemote()).remoteTable("TodoItem")
        #expect(try await table.insert([:], id: "ä").id == "ä")
        #expect(try await syncErrorCode { try await table.insert([:], id: "abcdef") } == .invalidItemID)
        var other = table
        other.parameters = ["tenant": "1"]
        let asking = other
        #expect(try await failure { try await asking.insert([:], id: "a") }.code == .invalidRequest)
    }

    private struct Todo: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var complete = false
        var due: Date?
        var version: String?
    }

    @Test("items of a type", arguments: OnlineWorld.Service.allCases)
    func items(_ service: OnlineWorld.Service) async throws {
        let world = try OnlineWorld(service)
        let todos = try world.context.remoteTable("TodoItem", of: Todo.self)
        let due = Date(timeIntervalSince1970: 1_700_000_000.5)
        var item = try await todos.insert(Todo(text: "milk", due: due))
        #expect(!item.id.isEmpty && item.version != nil && item.due == due)
        #expect(try await todos.read(item.id) == item)
        var stale = item
        item.complete = true
        item = try await todos.update(item)
        #expect(item.complete)
        stale.text = "stale"
        let error = try await failure { try await todos.update(stale) }
        #expect(error.code == .conflict)
        item = try await todos.patch(item.id, ["text": "bread"])
        #expect(item.text == "bread" && item.complete)
        #expect(try await todos.read(todos.query.filtered(by: Column("complete") == true)) == [item])
        #expect(try await todos.first(todos.query) == item)
        #expect(try await todos.count(todos.query) == 1)
        for try await page in try todos.pages(todos.query) { #expect(page.items == [item]) }
        try await todos.delete(item.id, version: item.version)
        #expect(try await todos.read(item.id) == nil)
        #expect(try await todos.undelete(item.id).text == "bread")
        #expect(try await world.context.status().pending == 0, "nothing of this waits")
    }
}
