import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Tables of items")
struct ItemTableTests {
    struct TodoItem: SyncItem, Equatable {
        var id = ""
        var text: String?
        var complete: Bool?
        var version: String?
    }

    private struct Refused: Error {}

    @Test("an item is changed by its id, as it is now; without a difference nothing is queued")
    func updateByID() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let context = world.laptop.context
            let todos = try context.table(TodoItem.self)
            let stale = try #require(try await todos.read("a"))
            try await todos.update("a") { $0.text = "cream" }
            _ = try await context.push()
            #expect(try await todos.update("a") { $0.complete = true }.text == "cream")
            #expect(try await context.status().pending == 1)
            #expect(try await context.push().notTaken.isEmpty, "what others have not changed is no conflict")
            _ = try await todos.update("a") { $0.complete = true }
            #expect(try await context.status().pending == 0)
            #expect(try await todos.read("a")?.version != stale.version)
        }
    }

    @Test("a closure that throws, gives another id, or finds nothing changes nothing")
    func refusedUpdates() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let context = world.laptop.context
            let todos = try context.table(TodoItem.self)
            await #expect(throws: Refused.self) {
                try await todos.update("a") { item in
                    item.text = "half"
                    throw Refused()
                }
            }
            for (id, other) in [("a", "b"), ("missing", "missing")] {
                let code = try await syncErrorCode { try await todos.update(id) { $0.id = other } }
                #expect(code == .invalidAction)
            }
            #expect(try await todos.read("a")?.text == "milk")
            #expect(try await context.status().pending == 0)
        }
    }

    @Test("all that a table does, it does for items")
    func wholeTable() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let context = world.laptop.context
            let todos = try context.table(TodoItem.self)
            #expect(try await todos.count(todos.query) == 1)
            try await todos.delete("a")
            try await todos.undoDelete("a")
            try await todos.update("a") { $0.text = "cream" }
            try await todos.revert("a")
            #expect(try await todos.read("a")?.text == "milk")
            #expect(try await todos.serverID(of: "a") == "a")
            #expect(try await todos.pull(queryID: "all").received == 0)
            try await todos.purge()
            #expect(try await todos.pull(queryID: "all").received == 1)
            try await todos.update("a") { $0.text = "cream" }
            #expect(try await todos.forcePurge() == 1)
            let online = try world.onlineTable(TodoItem.self)
            #expect(try await online.read(online.query).map(\.text) == ["milk"])
            #expect(try await online.first(online.query)?.id == "a")
        }
    }

    @Test("a context without a server keeps changes, marks none as sent, and one with a server sends them")
    func withoutServer() async throws {
        try await SyncWorld.with(.datasync) { world in
            let alone = SyncContext(store: world.laptop.store)
            let todos = try alone.table("TodoItem")
            try await todos.insert(["text": "milk"], id: "a")
            for call in [
                { _ = try await alone.push() }, { _ = try await alone.sync() }, { try await todos.pull() },
                { try await alone.retrySetAsideRows() },
            ] as [@Sendable () async throws -> Void] {
                #expect(try await syncErrorCode(call) == .unsupported)
            }
            #expect(try await alone.operations().allSatisfy { !$0.isAttempted })
            _ = try await world.laptop.context.sync()
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("a context may pull before it pushes, always")
    func pullFirst() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            let context = SyncContext(
                store: world.laptop.store,
                remote: world.laptop.server,
                options: SyncOptions(order: .pullFirst)
            )
            try await world.laptop.table.update(Record(id: "a", ["text": "cream"]))
            let report = try await context.sync()
            #expect(report.pull.pruned == 1 && report.push.pushed == 0 && report.notTaken.isEmpty)
            try await world.laptop.table.insert(["text": "new"], id: "b")
            #expect(try await context.table("TodoItem").pull().push?.pushed == 1)
        }
    }

    @Test("one that pulls before it pushes names what was not taken earlier, though nothing is sent")
    func pullFirstWithConflict() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await world.laptop.context.push().conflicts.count == 1)
            let context = SyncContext(
                store: world.laptop.store,
                remote: world.laptop.server,
                options: SyncOptions(order: .pullFirst)
            )
            let report = try await context.sync()
            #expect(report.pull.push == nil, "there was nothing to send")
            #expect(report.notTaken.map(\.itemID) == ["a"])
        }
    }

    @Test("the status can be followed")
    func statuses() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            var statuses = context.observeStatus().makeAsyncIterator()
            #expect(try await statuses.next()?.pending == 0)
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            #expect(try await statuses.next()?.pending == 1)
            _ = try await context.push()
            var last = try await statuses.next()
            while last?.pending == 1 { last = try await statuses.next() }
            #expect(last?.pending == 0)
        }
    }

    @Test("an error says whether it may pass by itself")
    func transience() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            for (status, isTransient) in [(503, true), (502, true), (401, false)] {
                world.emulator.inject(.respond(EmulatorResponse(status)) { $0.method == "POST" })
                let error = try #require(
                    await #expect(throws: SyncError.self) { try await world.laptop.context.push() }
                )
                #expect(error.isTransient == isTransient, "\(status)")
            }
        }
    }

    /// A server whose column is a float writes it so: with the digits of a double it would be another number.
    @Test("a float is the decimal that it is written as", arguments: [3.14, 0.1, 1.0e-7, 16_777_216, -2.5] as [Float])
    func floats(_ value: Float) async throws {
        struct Share: Codable, Identifiable, Sendable {
            var id = ""
            var share: Float
            var other: Float?
        }
        let expected = FieldValue.double(Double("\(value)")!)
        let table = TableDefinition("Share", columns: [.init("share", .double), .init("other", .double)])
        let context = SyncContext(store: try makeStore(table), remote: UnavailableRemote.unreachable)
        let shares = try context.table("Share", of: Share.self)
        try await shares.insert(Share(id: "a", share: value, other: value))
        let row = try #require(try await context.table("Share").read("a"))
        #expect(row["share"] == expected && row["other"] == expected)
        #expect(value.fieldValue == expected && Float(fieldValue: expected) == value)
        let item = try #require(try await shares.read("a"))
        #expect(item.share == value && item.other == value)
        #expect(try await shares.where { $0.share == value && $0.other == value }.read().count == 1)
    }

    struct Renamed: SyncItem, Equatable {
        var id = ""
        var count = 1
        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case count
        }
    }
    struct Keyed: SyncItem, Equatable {
        var key: String
        var count = 1
        var id: String { key }
    }

    @Test("an item that its row would not give its id is not inserted; one whose id is another property of it is")
    func lostIDs() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition(Renamed.self), TableDefinition(Keyed.self)]))
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let (renamed, keyed) = (try context.table(Renamed.self), try context.table(Keyed.self))
        for count in [1, 2] {
            let single = await #expect(throws: SyncError.self) { try await renamed.insert(Renamed()) }
            let bulk = await #expect(throws: SyncError.self) {
                try await context.write { tx in
                    let items = (1...count).map { Renamed(id: $0 < count ? "r" : "") }
                    if count == 1 { return try tx.insert(contentsOf: items, into: renamed) }
                    // The group is refused as a whole, though the closure goes on.
                    try? tx.insert(contentsOf: items, into: renamed)
                }
            }
            for error in [single, bulk] {
                #expect(error?.code == .invalidItem && error?.message.contains("'id'") == true, "\(error as Any)")
            }
        }
        #expect(try await renamed.count() == 0)
        #expect(try await context.status().pending == 0)
        #expect(try await renamed.insert(Renamed(id: "r")) == Renamed(id: "r"))
        #expect(try await keyed.insert(Keyed(key: "k")) == Keyed(key: "k"))
        try await context.write { try $0.insert(contentsOf: [Keyed(key: "l")], into: keyed) }
        #expect(try await keyed.update("l") { $0.count = 2 }.count == 2)
        await #expect(throws: SyncError.self) { try await keyed.insert(Keyed(key: "")) }
    }
}

extension SyncWorld {
    /// The server's table, without the hand on the wire.
    fileprivate func onlineTable<Item: TableItem>(_ type: Item.Type) throws -> RemoteTable<Item>
    where Item.ID: RowID {
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        return try SyncContext(store: laptop.store, remote: remote).remoteTable(type)
    }
}
