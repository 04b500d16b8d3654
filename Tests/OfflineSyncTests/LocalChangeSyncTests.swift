import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Local changes on their way to a server")
struct LocalChangeSyncTests {
    @Test("the version in an update counts also while another change waits")
    func staleVersionWithWaiting() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            var seen = try #require(try await laptop.table.read("a"))
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            seen["text"] = "mine"
            try await laptop.table.update(seen)
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("items written by the app: a delete without a version is refused, not sent blindly")
    func appWritesItems() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let store = try makeStore(handlesOperations: false)
            let context = SyncContext(store: store, remote: world.laptop.server)
            let table = try context.table("TodoItem")
            try await table.pull(queryID: "all")
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await store.write { _ = try $0.delete([.string("a")], from: "TodoItem") }
            let version = try #require(try await world.laptop.table.read("a")?.version)
            #expect(try await syncErrorCode { try await table.delete("a") } == .invalidParameter)
            try await table.delete("a", version: version)
            #expect(try await context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    /// What is in the store by then is the app's, not the server's.
    /// A context whose app writes items itself, and has changed the one that both sides have.
    private func changedByTheApp(_ world: SyncWorld) async throws -> (SyncContext, SyncTable<Record>) {
        try await world.shareItem()
        let store = try makeStore(handlesOperations: false)
        let context = SyncContext(store: store, remote: world.laptop.server)
        let table = try context.table("TodoItem")
        try await table.pull(queryID: "all")
        try await store.upsert([Record(id: "a", ["text": "mine"])], table: "TodoItem")
        try await table.update(Record(id: "a", ["text": "mine"]))
        return (context, table)
    }

    @Test("items written by the app: a change that is given up gives way to what the server has")
    func appWritesItemsAndGivesUp() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            let (context, table) = try await changedByTheApp(world)
            let operation = try #require(try await context.operations().first)
            #expect(operation.baseItem == nil && operation.baseVersion != nil)
            try await table.revert("a")
            try await table.pull(queryID: "all")
            #expect(try await table.read("a")?["text"] == "milk")
            #expect(try await context.operations().isEmpty)
        }
    }

    @Test("an app that writes items itself and gives a change up while it is under way has what the server took")
    func appWritesItemsAndGivesUpUnderWay() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            let (context, table) = try await changedByTheApp(world)
            world.laptop.server.intercept(.whileUnderWay { try await table.revert("a") })
            for _ in 0..<2 { #expect(try await context.push().failures.isEmpty) }
            try await table.pull(queryID: "all")
            #expect(try await table.read("a")?["text"] == world.onServer()["a"].map { .string($0) })
            #expect(try await context.operations().isEmpty)
        }
    }

    @Test(
        "a deletion that is given up while it is under way is taken back",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func deletionGivenUpUnderWay(_ dialect: DatasyncDialect, _ isDiscarded: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            laptop.server.intercept(
                .whileUnderWay {
                    if isDiscarded {
                        try await laptop.context.discard(try #require(try await laptop.context.operations().first))
                    } else {
                        try await laptop.table.revert("a")
                    }
                }
            )
            for _ in 0..<3 { _ = try await laptop.context.push() }
            #expect(try await laptop.texts() == ["a": "milk"])
            #expect(world.onServer() == ["a": "milk"])
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("a deletion that has cancelled an insert is not taken back over a row that a pull has brought since")
    func cancelledInsert() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "a")
            try await laptop.table.delete("a")
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            #expect(try await world.phone.context.push().pushed == 1)
            try await laptop.table.pull(options: .init(order: .pullOnly))
            #expect(try await syncErrorCode { try await laptop.table.undoDelete("a") } == .invalidAction)
            #expect(try await laptop.text("a") == "theirs")
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("an id in another casing reaches the row the server has", arguments: [true, false])
    func casing(_ isUpdate: Bool) async throws {
        try await SyncWorld.with(.azureMobileApps) { world in
            try await world.shareItem("abc")
            let laptop = world.laptop
            if isUpdate {
                try await laptop.table.update(Record(id: "ABC", ["text": "mine"]))
            } else {
                try await laptop.table.delete("ABC")
            }
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty)
            try await laptop.pull()
            #expect(world.onServer() == (isUpdate ? ["abc": "mine"] : [:]))
        }
    }

    @Test("a row with an id that only the server allows can be changed")
    func oddID() async throws {
        try await SyncWorld.with(.datasync) { world in
            try world.emulator.seed([["id": .string("a+b"), "text": .string("milk")]], in: "TodoItem")
            try await world.laptop.pull()
            #expect(try await world.laptop.text("a+b") == "milk")
            #expect(
                try await syncErrorCode { try await world.laptop.table.update(Record(id: "a+b", ["text": "mine"])) }
                    == nil
            )
        }
    }

    @Test(
        "an item that is not in the store cannot be updated, and so not blanked on the server",
        arguments: DatasyncDialect.allCases
    )
    func updateOfAbsent(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk", "complete": true], id: "a")
            _ = try await world.phone.context.push()
            let update = Record(id: "a", ["text": "cream"])
            #expect(try await syncErrorCode { try await world.laptop.table.update(update) } == .invalidAction)
            _ = try await world.laptop.context.push()
            #expect(world.emulator.rows(in: "TodoItem")[0]["complete"] == .bool(true))
        }
    }

    private struct Pinned: Codable, Identifiable, Sendable {
        var id = ""
        var text: String
        var pinned = false
    }

    /// The row that the app has written itself is the new one: it does not tell what is different in it.
    @Test("items written by the app: an update is queued whatever the row says by then", arguments: 0..<4)
    func appWritesItemsFirst(_ way: Int) async throws {
        let definition = TableDefinition(
            "TodoItem",
            columns: [.init("text", .string), .init("pinned", .bool, isLocal: true)]
        )
        let store = try makeStore(definition, handlesOperations: false)
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let (rows, items) = (try context.table("TodoItem"), try context.table("TodoItem", of: Pinned.self))
        try await store.upsert([Record(id: "a", ["text": "new", "pinned": true])], table: "TodoItem")
        switch way {
        case 0: try await rows.update(Record(id: "a", ["text": "new", "pinned": true]))
        case 1: try await items.update(Pinned(id: "a", text: "new", pinned: true))
        case 2: try await items.update("a") { $0.text = "new" }
        default: try await rows.update(Record(id: "a", ["pinned": true]))
        }
        // A column that stays here is nothing to send.
        #expect(try await context.operations().map(\.kind) == (way == 3 ? [] : [.update]))
    }
}
