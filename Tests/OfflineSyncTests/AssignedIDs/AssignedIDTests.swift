import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("A server that chooses ids")
struct AssignedIDTests {
    @Test("keeps the local id for ever, and can be asked for either by the other", arguments: DatasyncDialect.allCases)
    func mapping(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "mine")
            #expect(try await phone.lists.serverID(of: "mine") == nil)
            let report = try await phone.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty)
            let serverID = try #require(world.onServer("Lists").first?["id"]?.string)
            #expect(serverID != "mine")
            #expect(try await phone.lists.serverID(of: "mine") == serverID)
            #expect(try await phone.lists.id(ofServerID: serverID) == "mine")
            #expect(try await phone.lists.id(ofServerID: "unknown") == nil)
            try await phone.pullAll()
            try await phone.lists.update(Record(id: "mine", ["text": "groceries"]))
            try await phone.pullAll()
            let rows = try await phone.store.read(Query("Lists")).records
            #expect(rows.map(\.id) == ["mine"] && rows.first?["text"] == "groceries")
            #expect(world.textsOnServer("Lists") == ["groceries"])
            try await phone.lists.delete("mine")
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.onServer("Lists").isEmpty)
        }
    }

    @Test("gives rows of others a local id that stays, with its tombstone too", arguments: DatasyncDialect.allCases)
    func twoDevices(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            try await world.phone.lists.insert(["text": "shopping"], id: "l")
            try await world.phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            _ = try await world.phone.context.push()
            try await world.laptop.pullAll()
            #expect(try await world.laptop.told() == ["shopping: milk"])
            let task = try #require(try await world.laptop.store.read(Query("Tasks")).records.first)
            try await world.laptop.tasks.update(Record(id: task.id, ["text": "cream"]))
            _ = try await world.laptop.context.push()
            try await world.phone.pullAll()
            #expect(try await world.phone.tasks.read("t")?["text"] == "cream")
            try await world.phone.tasks.delete("t")
            _ = try await world.phone.context.push()
            try await world.laptop.pullAll()
            #expect(try await world.laptop.told().isEmpty)
            try await world.laptop.pullAll(.init(reconciles: true))
            #expect(try await world.laptop.texts("Lists") == ["shopping"])
        }
    }

    @Test("has a row of its own under an id that another one has only here", arguments: [false, true])
    func sameIDOnlyHere(isSent: Bool) async throws {
        let server = HistoryServer(choosesIDs: true)
        let table = TableDefinition("TodoItem", columns: [.init("text", .string)], assignsIDs: true)
        let context = SyncContext(store: try makeStore(table), remote: server)
        let todos = try context.table("TodoItem")
        try await todos.insert(["text": "mine"], id: "x")
        if isSent { #expect(try await context.push().pushed == 1) }
        server.write("x", "theirs")
        try await context.pull(todos, options: .init(order: .pullOnly))
        #expect(try await texts(context).values.sorted() == ["mine", "theirs"])
        #expect(try await todos.read("x")?["text"] == "mine")
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts.values.sorted() == ["mine", "theirs"])
    }

    @Test("finds a conflict, shows it in local ids and lets it be settled", arguments: DatasyncDialect.allCases)
    func conflict(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            try await world.phone.lists.insert(["text": "shopping"], id: "l")
            try await world.phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            _ = try await world.phone.context.push()
            try await world.laptop.pullAll()
            let id = try #require(try await world.laptop.store.read(Query("Tasks")).records.first?.id)
            try await world.laptop.tasks.update(Record(id: id, ["text": "theirs"]))
            _ = try await world.laptop.context.push()
            try await world.phone.tasks.update(Record(id: "t", ["text": "mine"]))
            let error = try #require(try await world.phone.context.push().conflicts.first)
            #expect(error.itemID == "t" && error.serverItem?.id == "t" && error.serverItem?["list"] == "l")
            try await world.phone.context.resolve(error, with: .takeServer)
            #expect(try await world.phone.told() == ["shopping: theirs"])
            try await world.phone.tasks.update(Record(id: "t", ["text": "again"]))
            #expect(try await world.phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: again"])
        }
    }

    @Test(
        "has references translated, whichever row was written first",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func references(_ dialect: DatasyncDialect, _ listFirst: Bool) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            if listFirst { try await phone.lists.insert(["text": "shopping"], id: "l") }
            try await phone.tasks.insert(["text": "child", "list": "l", "parent": "p"], id: "c")
            try await phone.tasks.insert(["text": "parent", "list": "l"], id: "p")
            if !listFirst { try await phone.lists.insert(["text": "shopping"], id: "l") }
            let report = try await phone.context.push()
            #expect(report.pushed == 3 && report.notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: child", "shopping: parent"])
            let parent = try await phone.tasks.serverID(of: "p")
            let child = world.onServer("Tasks").first { $0["text"]?.string == "child" }
            #expect(child?["parent"]?.string == parent && parent != nil)
            // The tasks come before the lists that they name.
            try await world.laptop.tasks.pull()
            try await world.laptop.lists.pull()
            #expect(try await world.laptop.told() == ["shopping: child", "shopping: parent"])
            let row = try #require(
                try await world.laptop.store.read(Query("Tasks")).records.first { $0["text"] == "child" }
            )
            #expect(try await world.laptop.tasks.read(row["parent"]?.stringValue ?? "")?["text"] == "parent")
            #expect(try await phone.told() == ["shopping: child", "shopping: parent"], "they are as they were here")
        }
    }

    @Test("keeps a row waiting whose list is refused, and sends it once the list was taken")
    func refusedReference() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.tasks.insert(["text": "free"], id: "f")
            world.emulator.inject(.respond(EmulatorResponse(400)))
            let report = try await phone.context.push()
            #expect(report.pushed == 1 && report.failures.map(\.itemID) == ["l"])
            #expect(world.toldByServer() == ["none: free"])
            #expect(try await phone.context.operations().map(\.state) == [.failed, .pending])
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["groceries: milk", "none: free"])
        }
    }

    @Test("sends a row again after the list that it has come to refer to, when a policy has made that list")
    func referenceMadeInPush() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.tasks.insert(["text": "milk"], id: "t")
            _ = try await phone.context.push()
            try await world.laptop.pullAll()
            let id = try #require(try await world.laptop.store.read(Query("Tasks")).records.first?.id)
            try await world.laptop.tasks.update(Record(id: id, ["text": "theirs"]))
            _ = try await world.laptop.context.push()
            try await phone.tasks.update(Record(id: "t", ["text": "mine"]))
            phone.context.conflictPolicy = .merge { conflict in
                guard var merged = conflict.item else { return nil }
                try await phone.lists.insert(["text": "shopping"], id: "l")
                merged["list"] = "l"
                return .keepMerged(merged)
            }
            let report = try await phone.context.push()
            #expect(report.notTaken.isEmpty)
            #expect(try await phone.context.operations().allSatisfy { $0.state == .pending })
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: mine"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("refuses one of rows that refer to each other in a circle, and takes them once it is open")
    func circle() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping", "first": "t"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.tasks.insert(["text": "waits", "list": "l"], id: "w")
            let report = try await phone.context.push()
            // One is to be settled, and the others wait for that.
            #expect(report.pushed == 0 && report.failures.map(\.itemID) == ["l"] && report.waiting == 2)
            #expect(report.failures.allSatisfy { $0.message.contains("refer") })
            try await phone.lists.update(Record(id: "l", ["first": .null]))
            try await phone.tasks.update(Record(id: "t", ["text": "cream"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: cream", "shopping: waits"])
            try await phone.lists.update(Record(id: "l", ["first": "t"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.onServer("Lists").first?["first"]?.string == (try await phone.tasks.serverID(of: "t")))
        }
    }

    @Test("takes the one that it refused of a circle when it is retried, and another one was taken out")
    func openedCircle() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping", "first": "t"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            let refused = try await phone.context.push().failures
            #expect(refused.map(\.itemID) == ["l"] && refused.allSatisfy { $0.message.contains("retry") })
            try await phone.tasks.update(Record(id: "t", ["list": .null]))
            #expect(try await phone.context.retryRefused() == 1)
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.onServer("Lists").first?["first"]?.string == (try await phone.tasks.serverID(of: "t")))
        }
    }

    @Test("keeps the row of others that has the name for which it has refused one, when that one is given up")
    func nameTaken() async throws {
        try await AssignedIDWorld.with { world in
            try await world.laptop.lists.insert(["text": "shopping"])
            _ = try await world.laptop.context.push()
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            world.emulator.inject(.respond(EmulatorResponse(409), times: 1) { $0.method == "POST" })
            let refused = try #require(try await phone.context.push().failures.first)
            try await phone.context.resolve(refused, with: .discard)
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["shopping"])
        }
    }

    @Test("never hears of an item that was deleted before it was sent")
    func deletedUnsent() async throws {
        try await AssignedIDWorld.with { world in
            try await world.phone.lists.insert(["text": "shopping"], id: "l")
            try await world.phone.lists.delete("l")
            #expect(try await world.phone.context.push().requests == 0)
            #expect(world.emulator.rows(in: "Lists").isEmpty)
        }
    }

    @Test("has a row brought back under the local id that it always had", arguments: DatasyncDialect.allCases)
    func insertedAgain(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            _ = try await phone.context.push()
            try await phone.lists.delete("l")
            _ = try await phone.context.push()
            try await phone.lists.insert(["text": "again"], id: "l")
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["again"])
            try await phone.pullAll()
            #expect(try await phone.texts("Lists") == ["again"])
        }
    }

    @Test("is asked by its own ids in the conditions of pulls", arguments: DatasyncDialect.allCases)
    func conditions(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            for list in ["a", "b"] {
                try await world.phone.lists.insert(["text": .string(list)], id: list)
                try await world.phone.tasks.insert(["text": .string("in \(list)"), "list": .string(list)])
            }
            _ = try await world.phone.context.push()
            try await world.laptop.lists.pull()
            let lists = try await world.laptop.store.read(Query("Lists")).records
            let list = try #require(lists.first { $0["text"] == "a" }?.id.stringValue)
            try await world.laptop.tasks.pull(where: Column("list") == .string(list))
            #expect(try await world.laptop.told() == ["a: in a"])
            try await world.laptop.tasks.pull(
                where: Column("list").isAny(of: [.string(list)]),
                options: .init(reconciles: true)
            )
            #expect(try await world.laptop.told() == ["a: in a"])
        }
    }

    @Test("is asked by its own ids in every part of a condition", arguments: [false, true])
    func partsOfConditions(_ reconciles: Bool) async throws {
        try await AssignedIDWorld.with { world in
            for list in ["a", "b"] {
                try await world.phone.lists.insert(["text": .string(list)], id: list)
                try await world.phone.tasks.insert(
                    ["text": .string("in \(list)"), "list": .string(list), "complete": false]
                )
            }
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.lists.pull()
            let list = try #require(
                try await laptop.store.read(Query("Lists")).records.first { $0["text"] == "a" }?.id.stringValue
            )
            let (isOfList, isOpen) = (Column("list") == .string(list), Column("complete") == false)
            let isOfListInFront = QueryPredicate.comparison(.value(.string(list)), .equal, .column("list"))
            for (condition, told) in [
                (isOfList && isOpen, ["a: in a"]), (isOfList || Column("complete") == true, ["a: in a"]),
                (!isOfList && isOpen, ["b: in b"]), (isOfListInFront, ["a: in a"]),
            ] {
                try await laptop.context.purge(Query("Tasks"))
                for _ in 0..<2 {
                    try await laptop.tasks.pull(where: condition, options: .init(reconciles: reconciles))
                    #expect(try await laptop.told() == told)
                }
            }
        }
    }

    @Test("removes what left with a reconciling pull, and only that", arguments: DatasyncDialect.allCases)
    func reconciling(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            for name in ["stays", "goes"] { try await world.phone.lists.insert(["text": .string(name)], id: name) }
            _ = try await world.phone.context.push()
            let stays = try await world.phone.lists.serverID(of: "stays")
            let rows = world.emulator.rows(in: "Lists").filter { $0["id"]?.string == stays }
            world.emulator.reset()
            try world.emulator.seed(rows, in: "Lists")
            try await world.phone.lists.insert(["text": "unsent"], id: "unsent")
            try await world.phone.context.pull(
                world.phone.lists,
                options: .init(order: .pullOnly, reconciles: true)
            )
            #expect(try await world.phone.texts("Lists") == ["stays", "unsent"])
        }
    }

    @Test("keeps local ids over a purge where rows may refer to them", arguments: DatasyncDialect.allCases)
    func purge(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.tasks.insert(["text": "soap", "list": "l"], id: "s")
            _ = try await phone.context.push()
            try await phone.pullAll()
            try await phone.context.purge(phone.tasks.query.filtered(by: Column("text") == "soap"))
            try await phone.pullAll()
            #expect(try await phone.told() == ["shopping: milk"], "what was purged stays away")
            try await phone.context.purge(phone.lists)
            try await phone.pullAll()
            #expect(try await phone.told() == ["shopping: milk"])
            #expect(try await phone.lists.read("l") != nil)
            try await phone.context.forcePurge("Lists")
            try await phone.pullAll()
            #expect(try await phone.told() == ["shopping: milk"])
        }
    }

    @Test("takes over a table that was declared otherwise before", arguments: DatasyncDialect.allCases)
    func declaredLater(_ dialect: DatasyncDialect) async throws {
        let emulator = Emulator(
            EmulatorConfiguration(
                dialect: dialect == .datasync ? .datasync : .azureMobileApps,
                tables: ["TodoItem"]
            )
        )
        try emulator.seed([["id": "s1", "text": "old"]], in: "TodoItem")
        let store = try makeStore()
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        try await SyncContext(store: store, remote: remote).table("TodoItem").pull()
        let later = MemoryStore(
            try StoreSchema([TableDefinition("TodoItem", columns: todoTable.columns, assignsIDs: true)])
        )
        for table in ["TodoItem", "MS_TableConfig"] {
            let rows = try await store.read(Query(table)).records
            try await later.write { try $0.upsert(rows, into: table) }
        }
        let context = SyncContext(store: later, remote: remote)
        let table = try context.table("TodoItem")
        #expect(try await table.serverID(of: "s1") == "s1")
        #expect(try await table.id(ofServerID: "s1") == "s1")
        #expect(try await table.serverID(of: "unknown") == nil)
        #expect(try await table.id(ofServerID: "unknown") == nil)
        try await table.update(Record(id: "s1", ["text": "new"]))
        try await table.pull(options: .init(reconciles: true))
        #expect(try await texts(context) == ["s1": "new"])
        #expect(emulator.rows(in: "TodoItem").map { $0["text"]?.string } == ["new"])
    }

    @Test("a row whose deletion waits when its table is declared to get ids has no second one by what refers to it")
    func declaredLaterWhileADeletionWaits() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Lists", "Tasks"]))
        try emulator.seed([["id": "s1", "text": "shopping"]], in: "Lists")
        try emulator.seed([["id": "t1", "text": "milk", "list": "s1"]], in: "Tasks")
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let columns = (lists: [ColumnDefinition("text", .string)], tasks: [ColumnDefinition("text", .string)])
        let reference = ColumnDefinition("list", .string, references: "Lists")
        func store(assignsIDs: Bool) throws -> MemoryStore {
            MemoryStore(
                try StoreSchema([
                    TableDefinition("Lists", columns: columns.lists, assignsIDs: assignsIDs),
                    TableDefinition("Tasks", columns: columns.tasks + [reference]),
                ])
            )
        }
        let before = try store(assignsIDs: false)
        let first = SyncContext(store: before, remote: remote)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        try await first.table("Lists").delete("s1")
        let later = try store(assignsIDs: true)
        for table in ["Tasks", "MS_TableConfig", "MS_TableOperations"] {
            let rows = try await before.read(Query(table)).records
            try await later.write { try $0.upsert(rows, into: table) }
        }
        try emulator.seed([["id": "s1", "text": "groceries"]], in: "Lists")
        try emulator.seed(["t2", "t1"].map { ["id": .string($0), "text": "oat milk", "list": "s1"] }, in: "Tasks")
        let context = SyncContext(store: later, remote: remote)
        try await context.pull(context.table("Tasks"), context.table("Lists"), options: .init(order: .pullOnly))
        #expect(try await later.read(Query("Lists")).records.isEmpty)
        let conflict = try #require(try await context.push().conflicts.first)
        try await context.resolve(conflict, with: .takeServer)
        let lists = try await later.read(Query("Lists")).records
        #expect(lists.map { $0["text"] } == ["groceries"])
        #expect(
            try await later.read(Query("Tasks")).records.map { $0["list"]?.stringValue }
                == [lists.first?.id.stringValue, lists.first?.id.stringValue]
        )
    }

    @Test("what refers to a row that was made while it was settled waits for the next push")
    func referenceMadeMeanwhile() async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.tasks.insert(["text": "milk", "complete": false], id: "t")
            _ = try await phone.context.push()
            try await laptop.pullAll()
            let theirs = try #require(try await laptop.store.read(Query("Tasks")).records.first)
            try await laptop.tasks.update(Record(id: theirs.id, ["complete": true]))
            _ = try await laptop.context.push()
            phone.tasks.conflictPolicy = .merge { conflict in
                try await phone.lists.insert(["text": "shopping"], id: "l")
                var merged = try #require(conflict.serverItem)
                merged["list"] = "l"
                return .keepMerged(merged)
            }
            try await phone.tasks.update(Record(id: "t", ["text": "cream"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(try await phone.context.push().pushed == 2)
            #expect(world.toldByServer() == ["shopping: milk"])
        }
    }

    @Test("a row from before its table was declared to get ids is not taken for what a lost insert has made")
    func declaredLaterBesideALostInsert() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Lists"]))
        try emulator.seed([["id": "r1", "text": "milk"]], in: "Lists")
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let server = InterceptedServer(remote)
        func table(assignsIDs: Bool) -> TableDefinition {
            TableDefinition("Lists", columns: [.init("text", .string)], assignsIDs: assignsIDs)
        }
        let before = MemoryStore(try StoreSchema([table(assignsIDs: false)]))
        let first = SyncContext(store: before, remote: server)
        try await first.pull(first.table("Lists"))
        let store = try await before.reopened(with: StoreSchema([table(assignsIDs: true)]))
        let context = SyncContext(store: store, remote: server)
        try await context.table("Lists").insert(["text": "milk"], id: "new")
        server.intercept(.requestLost)
        _ = try await syncErrorCode { _ = try await context.push() }
        #expect(try await context.push().notTaken.isEmpty)
        #expect(emulator.rows(in: "Lists").count == 2)
        try await context.pull(Query("Lists"))
        #expect(try await store.read(Query("Lists")).records.map(\.id) == ["new", "r1"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("a forced purge of a table whose server chooses ids knows what is on its way", arguments: [true, false])
    func forcedPurge(_ isInsert: Bool) async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Lists"]))
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let server = InterceptedServer(remote)
        let table = TableDefinition("Lists", columns: [.init("text", .string)], assignsIDs: true)
        let store = MemoryStore(try StoreSchema([table]))
        let context = SyncContext(store: store, remote: server)
        let lists = try context.table("Lists")
        try await lists.insert(["text": "milk"], id: "l")
        if !isInsert {
            _ = try await context.push()
            try await lists.update(Record(id: "l", ["text": "given up"]))
        }
        server.intercept(.late)
        _ = try await syncErrorCode { _ = try await context.push() }
        #expect(try await context.forcePurge("Lists") == 1)
        if isInsert { await server.deliver() }
        try await context.pull(Query("Lists"))
        let id = try #require(try await store.read(Query("Lists")).records.first?.id.stringValue)
        #expect(id == "l")
        try await lists.update(Record(id: .string(id), ["text": "mine"]))
        await server.deliver()
        #expect(try await context.push().notTaken.isEmpty)
        #expect(emulator.rows(in: "Lists").map { $0["text"] } == ["mine"])
        #expect(try await store.verifyQueue().isEmpty)
    }
}
