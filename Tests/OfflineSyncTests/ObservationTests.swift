import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing

@Suite("Live queries of synced tables")
struct ObservationTests {
    private struct TodoItem: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var complete = false
    }

    private func items() throws -> SyncTable<TodoItem> {
        try SyncContext(store: makeStore(), remote: UnavailableRemote.unreachable).table("TodoItem", of: TodoItem.self)
    }

    @Test("items come decoded, in order, and again after local changes")
    func typed() async throws {
        let table = try items()
        let query = table.query.filtered(by: Column("complete") == false).ordered(by: "text").selecting([])
        var results = table.observe(query).makeAsyncIterator()
        var one = table.observe("a").makeAsyncIterator()
        #expect(try await results.next() == [])
        #expect(try await one.next() == .some(.none))
        var milk = TodoItem(id: "a", text: "milk")
        try await table.insert(milk)
        try await table.insert(TodoItem(id: "b", text: "bread"))
        #expect(try await results.next()?.map(\.text) == ["bread", "milk"])
        #expect(try await one.next() == milk)
        milk.complete = true
        try await table.update(milk)
        #expect(try await results.next()?.map(\.text) == ["bread"])
        #expect(try await one.next() == milk)
    }

    @Test("a row that does not fit the type is left out of a live query, and ends that of its id")
    func undecodable() async throws {
        let table = try items()
        var results = table.observe(table.query).makeAsyncIterator()
        #expect(try await results.next() == [])
        try await table.table.insert(["complete": false], id: "unfit")
        #expect(try await results.next() == [])
        var one = table.observe("unfit").makeAsyncIterator()
        #expect(try await syncErrorCode { _ = try await one.next() } == .invalidItem)
        #expect(try await one.next() == nil)
    }

    @Test("what a pull brings reaches the observers, and a push that changes nothing they see does not")
    func syncing() async throws {
        try await SyncWorld.with(.datasync) { world in
            var rows = world.laptop.table.observe(world.laptop.table.query.selecting(["text"])).makeAsyncIterator()
            #expect(try await rows.next()?.records.isEmpty == true)
            try await world.shareItem("a", "milk")
            #expect(try await rows.next()?.records.map { $0["text"] } == ["milk"])
            try await world.laptop.table.update(Record(id: "a", ["complete": true]))
            try await world.laptop.pull()
            try await world.laptop.table.update(Record(id: "a", ["text": "bread"]))
            #expect(try await rows.next()?.records.map { $0["text"] } == ["bread"])
        }
    }

    @Test("the states of items are observed: pending after a change, synced after its push")
    func states() async throws {
        try await SyncWorld.with(.datasync) { world in
            var states = world.phone.table.observeSyncStates().makeAsyncIterator()
            #expect(try await states.next() == [:])
            try await world.phone.table.insert(["text": "milk"], id: "a")
            #expect(try await states.next() == ["a": .pending])
            try await world.phone.table.update(Record(id: "a", ["text": "bread"]))
            _ = try await world.phone.context.push()
            #expect(try await states.next() == [:])
        }
    }

    @Test("a closure that reads several tables is run again for those that it reads, states included")
    func closure() async throws {
        let store = MemoryStore(
            try StoreSchema([todoTable, TableDefinition("lists", columns: [.init("name", .string)])])
        )
        let context = SyncContext(store: store, remote: GroupServer())
        let (todos, lists) = (try context.table("TodoItem", of: TodoItem.self), try context.table("lists"))
        let runs = Mutex(0)
        let observation = context.observe { reader in
            runs.withLock { $0 += 1 }
            guard try reader.read("on", in: lists) != nil else { return ["off"] }
            let waiting = todos.query.filtered(by: Column.syncState == .pending).ordered(by: "text")
            return try reader.read(waiting, in: todos).map(\.text)
        }
        var results = observation.makeAsyncIterator()
        #expect(try await results.next() == ["off"])
        try await todos.insert(TodoItem(id: "a", text: "milk"))
        try await lists.insert([:], id: "on")
        #expect(try await results.next() == ["milk"])
        #expect(runs.withLock(\.self) == 2, "what was not read is not looked at")
        try await todos.insert(TodoItem(id: "b", text: "bread"))
        #expect(try await results.next() == ["bread", "milk"])
        _ = try await context.push(todos)
        #expect(try await results.next() == [])
    }

    @Test("a closure that counts, or asks in SQL, is run again for what it counts", .timeLimit(.minutes(1)))
    func countingClosures() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [todoTable])
        let context = SyncContext(store: store, remote: GroupServer())
        let todos = try context.table("TodoItem")
        var counts = context.observe { try $0.count(todos.query) }.makeAsyncIterator()
        var sums =
            context.observe { reader in
                try reader.rows("SELECT count(*) AS number FROM TodoItem").map { $0["number"]?.int64Value }
            }
            .makeAsyncIterator()
        // Whoever goes on without the answer of a statement that fails is told of changes all the same.
        var tolerant =
            context.observe { reader in
                let ids =
                    (try? reader.rows("SELECT abs(-9223372036854775807 - (SELECT count(*) = 0 FROM TodoItem))")) ?? []
                return ids.count
            }
            .makeAsyncIterator()
        #expect(try await counts.next() == 0)
        #expect(try await sums.next() == [0])
        #expect(try await tolerant.next() == 0)
        try await todos.insert(["text": "milk"])
        #expect(try await counts.next() == 1)
        #expect(try await sums.next() == [1])
        #expect(try await tolerant.next() == 1)
        await store.close()
    }
}
