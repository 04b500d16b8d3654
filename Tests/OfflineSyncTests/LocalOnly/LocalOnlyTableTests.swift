import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

@testable import OfflineSync

@Suite("Tables that stay on the device")
struct LocalOnlyTableTests {
    private static let tables = [
        TableDefinition("TodoItem", columns: [.init("text", .string), .init("draft", .string, isLocal: true)]),
        TableDefinition(
            "Search",
            columns: [
                .init("text", .string), .init("todo", .string, references: "TodoItem", onDelete: .cascade),
                .init("shown", .string, references: "TodoItem", onDelete: .nullify),
            ],
            isLocalOnly: true
        ),
        TableDefinition(
            "Mark",
            columns: [.init("search", .string, references: "Search", onDelete: .cascade), .init("at", .int64)],
            isLocalOnly: true
        ),
        TableDefinition("Note", columns: [.init("search", .string, references: "Search", onDelete: .nullify)]),
    ]

    private struct Search: Codable, Identifiable, Sendable {
        var id = ""
        var text = ""
        var syncState = SyncState.pending
    }

    private let emulator = Emulator(EmulatorConfiguration(tables: ["TodoItem", "Note"]))
    private let context: SyncContext

    init() throws { context = try SyncWorld.context(emulator, .datasync, try StoreSchema(Self.tables)) }

    private func table(_ name: String) throws -> SyncTable<Record> { try context.table(name) }

    private func insertAll() async throws {
        try await table("TodoItem").insert(["text": "milk"], id: "a")
        try await table("Search").insert(["text": "mi", "todo": "a", "shown": "a"], id: "s")
        try await table("Search").insert(["text": "x", "shown": "a"], id: "t")
        try await table("Mark").insert(["search": "s", "at": 1], id: "m")
        try await table("Note").insert(["search": "s"], id: "n")
    }

    @Test("queue nothing, whatever is done with their rows, and need nothing of the server's")
    func notQueued() async throws {
        let searches = try table("Search")
        try await searches.insert(["text": "one"], id: "s")
        #expect(try await syncErrorCode { try await searches.insert(["text": "again"], id: "s") } == .invalidAction)
        try await searches.update(Record(id: "s", ["text": "two"]))
        #expect(try await searches.read("s")?["text"] == "two")
        #expect(
            try await syncErrorCode { try await searches.update(Record(id: "none", ["text": "x"])) } == .invalidAction
        )
        try await searches.insert(["text": "gone"], id: "t")
        try await searches.delete("t")
        #expect(try await searches.read("t") == nil)
        #expect(try await syncErrorCode { try await searches.undoDelete("t") } == .invalidAction)
        try await searches.revert("s")
        #expect(try await searches.read("s")?["text"] == "two")
        #expect(try await searches.syncStates().isEmpty && searches.definition.systemProperties == [])
        #expect(try await context.operations().isEmpty)
        let status = try await context.status()
        #expect(status.pending == 0 && status.undeclared == 0 && status.unshownColumns.isEmpty)
        #expect(try await context.push().requests == 0)
    }

    @Test("have items that wait for nothing, also as an insert gives them back")
    func states() async throws {
        let searches = try context.table("Search", of: Search.self)
        let inserted = try await searches.insert(Search(id: "s", text: "milk"))
        #expect(inserted.text == "milk" && inserted.syncState == .synced)
        #expect(try await searches.read("s")?.syncState == .synced)
    }

    @Test("change in one transaction with those that are synced, or not at all")
    func mixed() async throws {
        let (todos, searches) = (try table("TodoItem"), try table("Search"))
        try await context.write { transaction in
            try transaction.insert(["text": "milk"], id: "a", into: todos)
            try transaction.insert(["text": "mi", "todo": "a"], id: "s", into: searches)
        }
        #expect(try await context.operations().map(\.itemID) == ["a"])
        await #expect(throws: CancellationError.self) {
            try await context.write { transaction in
                try transaction.update(Record(id: "s", ["text": "other"]), in: searches)
                try transaction.update(Record(id: "a", ["text": "other"]), in: todos)
                throw CancellationError()
            }
        }
        #expect(try await searches.read("s")?["text"] == "mi")
        #expect(try await context.sync().push.pushed == 1)
        #expect(emulator.requests.allSatisfy { !$0.request.path.contains("Search") })
    }

    @Test("follow deletions, and have them followed, with the operations of those that are synced only")
    func deletionRules() async throws {
        try await insertAll()
        #expect(try await context.push().pushed == 2)
        try await table("TodoItem").delete("a")
        #expect(try await table("Search").read("s") == nil)
        #expect(try await table("Search").read("t")?["shown"]?.isNull == true)
        #expect(try await table("Mark").read("m") == nil)
        #expect(try await table("Note").read("n")?["search"]?.isNull == true)
        #expect(try await context.operations().map { "\($0.kind) \($0.table)" } == ["update Note", "delete TodoItem"])
        #expect(try await context.push().pushed == 2)

        try await table("Mark").insert(["search": "t"], id: "m")
        try await table("Search").delete("t")
        #expect(try await table("Mark").read("m") == nil)
        #expect(try await context.operations().isEmpty)
    }

    @Test("are left out of a sync, and an error where they are named")
    func errors() async throws {
        try await insertAll()
        let report = try await context.sync()
        #expect(report.push.pushed == 2 && report.isComplete)
        let searches = try table("Search")
        let context = context
        let calls: [() async throws -> Void] = [
            { _ = try await context.push(searches) }, { _ = try await searches.pull() },
            { _ = try await context.pull(searches.query, queryID: "q") }, { try await searches.purge() },
            { try await context.purge(searches.query.filtered(by: Column("text") == "x")) },
            { _ = try await searches.forcePurge() },
            { _ = try await context.forcePurge(searches.query.filtered(by: Column("text") == "x")) },
            { try await context.resetDeltaToken(of: searches) },
            { let _: RemoteTable<Record> = try context.remoteTable("Search") },
        ]
        for call in calls { #expect(try await syncErrorCode(call) == .invalidParameter) }
        #expect(try await searches.count(searches.query) == 2)
    }

    @Test("stay as they are when everything is brought anew")
    func reset() async throws {
        try await insertAll()
        _ = try await context.sync()
        let pulls = [FreshPull(Query("TodoItem")), FreshPull(Query("Note"))]
        _ = try await context.reset(onto: pulls, discardsChanges: true)
        try await context.endReset()
        #expect(try await table("Search").count(Query("Search")) == 2)
        #expect(try await table("Mark").read("m")?["at"] == 1)
    }

    @Test("that were synced keep their rows; what waits is counted, and not sent")
    func syncedBefore() async throws {
        let store = MemoryStore(try StoreSchema([todoTable]))
        try await SyncContext(store: store).table("TodoItem").insert(["text": "milk"], id: "a")
        let local = TableDefinition("TodoItem", columns: todoTable.columns, isLocalOnly: true)
        let reopened = try await store.reopened(with: try StoreSchema([local]))
        let remote = UnavailableRemote.unreachable
        let context = SyncContext(store: reopened, remote: remote)
        #expect(try await context.table("TodoItem").read("a")?["text"] == "milk")
        #expect(try await context.status().undeclared == 1)
        #expect(try await context.push().pushed == 0)
    }

    @Test("keep what is left of a table that was synced before, whatever becomes of the server's rows")
    func syncedBeforeReset() async throws {
        let remote = ScriptedRemote { _, _ in
            PullPage(records: [], setAside: [SetAsideRow(id: "x", reason: "on purpose")])
        }
        let store = MemoryStore(try StoreSchema([todoTable]))
        let before = SyncContext(store: store, remote: remote)
        try await before.pull(Query("TodoItem"))
        try await before.table("TodoItem").insert(["text": "milk"], id: "a")
        let local = TableDefinition("TodoItem", columns: todoTable.columns, isLocalOnly: true)
        let reopened = try await store.reopened(with: try StoreSchema([local]))
        let context = SyncContext(store: reopened, remote: remote)
        #expect(try await context.setAsideRows().isEmpty)
        #expect(try await context.retrySetAsideRows().requests == 0 && remote.requests.count == 1)
        #expect(try await context.reset(onto: [], discardsChanges: true).waiting == 0)
        try await context.endReset()
        #expect(try await texts(context) == ["a": "milk"])
        #expect(try await context.status().undeclared == 1)
        #expect(try await context.discardedChanges().isEmpty)
    }

    /// A version of an app whose table stays here, or is synced, with or without versions of rows.
    private static func schema(isLocalOnly: Bool) throws -> StoreSchema {
        try StoreSchema([
            TableDefinition("TodoItem", columns: todoTable.columns, isLocalOnly: isLocalOnly),
            TableDefinition("Note", columns: [.init("text", .string)]),
        ])
    }

    @Test(
        "that are synced from now on have their rows sent before anything else, whatever comes first",
        arguments: [
            "push", "reconciling pull", "change", "reset", "purge", "forced purge of none", "outstanding changes",
        ]
    )
    func syncedFromNowOn(_ first: String) async throws {
        let emulator = Emulator(EmulatorConfiguration(tables: ["TodoItem", "Note"]))
        let store = MemoryStore(try Self.schema(isLocalOnly: true))
        let before = SyncContext(store: store)
        let ids = (0..<1_001).map { "r\($0)" }
        try await before.write { transaction in
            let table = try before.table("TodoItem")
            for id in ids { try transaction.insert(["text": "milk"], id: id, into: table) }
        }
        let reopened = try await store.reopened(with: try Self.schema(isLocalOnly: false))
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let context = SyncContext(store: reopened, remote: remote)
        let todos = try context.table("TodoItem")
        switch first {
        case "change":
            try await todos.update(Record(id: "r1000", ["text": "bread"]))
            try await todos.delete("r999")
        case "reconciling pull": try await todos.pull(options: PullOptions(order: .pullOnly, reconciles: true))
        case "reset":
            _ = try await context.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
            try await context.endReset()
        case "purge":
            #expect(try await syncErrorCode { try await todos.purge() } == .purgeAbortedPendingChanges)
        case "forced purge of none":
            #expect(try await context.forcePurge(todos.query.filtered(by: Column("text") == "none")) == 0)
        case "outstanding changes": #expect(try await context.outstandingChanges().count == 1_001)
        default: break
        }
        let count = first == "change" ? 1_000 : 1_001
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.pushed == count)
        #expect(emulator.rows(in: "TodoItem").count == count)
        #expect(try await context.push().pushed == 0)
        #expect(try await reopened.verifyQueue().isEmpty)
        try await todos.update(Record(id: "r0", ["text": "butter"]))
        #expect(try await context.push().conflicts.isEmpty)
        let again = SyncContext(
            store: try await reopened.reopened(with: try Self.schema(isLocalOnly: false)),
            remote: remote
        )
        #expect(try await again.push().pushed == 0)
        let marks = Query(SystemTables.configuration.name)
            .filtered(by: Column("keyType") == .int64(ConfigurationTable.KeyType.localTable.rawValue))
        #expect(try await again.store.read(marks).records.isEmpty, "it is not done again")
    }

    @Test("that were synced in between keep what the server has; what is new is sent when they are synced again")
    func syncedAgain() async throws {
        // No pull looks so far back again.
        let hours = Mutex<Int64>(480_000)
        var configuration = EmulatorConfiguration(tables: ["TodoItem", "Note"])
        configuration.clock = { hours.withLock { $0 * 3_600_000 } }
        let emulator = Emulator(configuration)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        var store = MemoryStore(try Self.schema(isLocalOnly: false))
        var context = SyncContext(store: store, remote: remote)
        var table = try context.table("TodoItem")
        for id in ["a", "c", "x"] { try await table.insert(["text": "milk"], id: id) }
        _ = try await context.sync()
        try await table.delete("x")
        _ = try await context.sync()
        hours.withLock { $0 += 2 }
        try emulator.seed([["id": "new", "text": "butter"]], in: "Note")
        _ = try await context.sync()
        store = try await store.reopened(with: try Self.schema(isLocalOnly: true))
        context = SyncContext(store: store, remote: remote)
        table = try context.table("TodoItem")
        try await table.insert(["text": "bread"], id: "b")
        try await table.insert(["text": "anew"], id: "x")
        try await table.update(Record(id: "a", ["text": "changed here"]))
        try await table.delete("c")
        store = try await store.reopened(with: try Self.schema(isLocalOnly: false))
        context = SyncContext(store: store, remote: remote)
        let report = try await context.sync()
        #expect(report.push.pushed + report.push.conflicts.count == 2 && report.push.conflicts.map(\.itemID) == [])
        #expect(emulator.rows(in: "TodoItem").filter { $0["deleted"] != true }.count == 4)
        #expect(try await texts(context) == ["a": "milk", "b": "bread", "c": "milk", "x": "anew"])
    }

    @Test("that are synced again have what waited from before put right")
    func waitingFromBefore() async throws {
        var store = MemoryStore(try Self.schema(isLocalOnly: false))
        var context = try SyncWorld.context(emulator, .datasync, store)
        var table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "deleted")
        try await table.insert(["text": "milk"], id: "changed")
        _ = try await context.sync()
        try await table.delete("deleted")
        try await table.update(Record(id: "changed", ["text": "bread"]))
        try await table.insert(["text": "new"], id: "dropped")
        try await table.insert(["text": "new"], id: "kept")
        store = try await store.reopened(with: try Self.schema(isLocalOnly: true))
        context = try SyncWorld.context(emulator, .datasync, store)
        table = try context.table("TodoItem")
        try await table.insert(["text": "anew"], id: "deleted")
        try await table.delete("changed")
        try await table.delete("dropped")
        store = try await store.reopened(with: try Self.schema(isLocalOnly: false))
        context = try SyncWorld.context(emulator, .datasync, store)
        let report = try await context.sync()
        #expect(report.notTaken.isEmpty && report.push.pushed == 3)
        #expect(try await context.operations().isEmpty)
        #expect(try await texts(context) == ["deleted": "anew", "kept": "new"])
        let there = emulator.rows(in: "TodoItem").filter { $0["deleted"] != true }
        #expect(Set(there.compactMap { $0["text"]?.string }) == ["anew", "new"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("that are synced again are no inserts where the server has stamped them, if only that")
    func stamped() async throws {
        func schema(isLocalOnly: Bool) throws -> StoreSchema {
            try StoreSchema([
                TableDefinition(
                    "TodoItem",
                    columns: [.init("text", .string)],
                    systemProperties: [.updatedAt],
                    isLocalOnly: isLocalOnly
                )
            ])
        }
        var store = MemoryStore(try schema(isLocalOnly: false))
        var context = try SyncWorld.context(emulator, .datasync, store)
        try emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
        _ = try await context.sync()
        for isLocalOnly in [true, false] {
            store = try await store.reopened(with: try schema(isLocalOnly: isLocalOnly))
            context = try SyncWorld.context(emulator, .datasync, store)
            if isLocalOnly { try await context.table("TodoItem").insert(["text": "bread"], id: "b") }
        }
        #expect(try await context.push().pushed == 1)
        #expect(try await texts(context) == ["a": "milk", "b": "bread"])
    }

    @Test("hold nobody up who refers to a row that is left of a time when the table was synced")
    func referredTo() async throws {
        func tables(isLocalOnly: Bool) throws -> StoreSchema {
            try StoreSchema([
                TableDefinition("lists", columns: [.init("text", .string)], isLocalOnly: isLocalOnly),
                TableDefinition("tasks", columns: [.init("list", .string, references: "lists")]),
            ])
        }
        let store = MemoryStore(try tables(isLocalOnly: false))
        try await SyncContext(store: store).table("lists").insert(["text": "shopping"], id: "l")
        let server = GroupServer()
        let context = SyncContext(store: try await store.reopened(with: try tables(isLocalOnly: true)), remote: server)
        try await context.table("tasks").insert(["list": "l"], id: "t")
        let report = try await context.push()
        #expect(report.pushed == 1 && report.waiting == 0)
        #expect(server.written == ["t"])
    }
}
