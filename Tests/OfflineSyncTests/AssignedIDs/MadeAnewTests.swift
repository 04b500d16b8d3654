import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

/// The server keeps nothing of rows that are deleted: the id that it gave is one of no row any more.
@Suite("An item whose row the server has no longer, and that is made anew")
struct MadeAnewTests {
    /// Loses the answer to the insert, and tries again, with or without a pull in between: there is one row everywhere.
    private func expectOneRow(_ world: AssignedIDWorld, pullsBetween: Bool) async throws {
        let phone = world.phone
        phone.server.intercept(.answerLost)
        #expect(try await syncErrorCode { _ = try await phone.context.push() } == .pushAbortedNetwork)
        if pullsBetween { try await phone.context.pull(phone.lists, options: .init(order: .pullOnly)) }
        for _ in 1...2 { #expect(try await phone.context.push().notTaken.isEmpty) }
        #expect(try await phone.context.operations().isEmpty)
        #expect(world.textsOnServer("Lists") == ["groceries"])
        try await phone.pullAll()
        #expect(try await phone.texts("Lists") == ["groceries"])
        #expect(try await phone.lists.read("l")?["text"] == "groceries")
        // It is known by its new id.
        try await phone.tasks.insert(["text": "milk", "list": "l", "complete": false])
        try await phone.lists.update(Record(id: "l", ["text": "errands"]))
        #expect(try await phone.context.push().notTaken.isEmpty)
        #expect(world.toldByServer() == ["errands: milk"])
    }

    @Test(
        "after its own deletion gets one row, also when the answer is lost",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func deletedHere(_ dialect: DatasyncDialect, pullsBetween: Bool) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            #expect(try await phone.context.push().pushed == 1)
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().pushed == 1)
            #expect(world.emulator.rows(in: "Lists").isEmpty)
            try await phone.lists.insert(["text": "groceries"], id: "l")
            try await expectOneRow(world, pullsBetween: pullsBetween)
        }
    }

    @Test("after others have deleted it gets one row, also when the answer is lost", arguments: [false, true])
    func deletedThere(pullsBetween: Bool) async throws {
        try await AssignedIDWorld.with(keepsTombstones: false) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "l")
            #expect(try await phone.context.push().pushed == 1)
            try await laptop.pullAll()
            let list = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            try await laptop.lists.delete(list)
            #expect(try await laptop.context.push().pushed == 1)
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            let conflict = try #require(try await phone.context.push().conflicts.first)
            #expect(conflict.isMissingOnServer)
            try await phone.context.resolve(conflict, with: .keepMine)
            try await expectOneRow(world, pullsBetween: pullsBetween)
        }
    }

    @Test("is named by its new id in what is sent right behind it", arguments: DatasyncDialect.allCases, [1, 8])
    func namedBehindIt(_ dialect: DatasyncDialect, parallel: Int) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let phone = world.phone
            // The clock stands still: several operations are prepared together.
            let context = SyncContext(
                store: phone.store,
                remote: phone.server,
                options: SyncOptions(parallelOperations: parallel),
                clock: ManualClock()
            )
            try await phone.lists.insert(["text": "shopping"], id: "l")
            #expect(try await context.push().pushed == 1)
            try await phone.lists.delete("l")
            for number in 1...8 { try await phone.lists.insert(["text": .string("\(number)")]) }
            #expect(try await context.push().pushed == 9)
            for number in 1...8 { try await phone.tasks.insert(["text": .string("\(number)"), "complete": false]) }
            try await phone.lists.insert(["text": "groceries"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l", "complete": false])
            let report = try await context.push()
            #expect(report.notTaken.isEmpty && report.waiting == 0)
            #expect(world.toldByServer().contains("groceries: milk"))
            #expect(try await phone.told() == world.toldByServer())
        }
    }

    /// A list of the phone's that the laptop has deleted is made anew, and has another id; a task still names it by the former one.
    private func makeListAnew(_ world: AssignedIDWorld) async throws {
        let (phone, laptop) = (world.phone, world.laptop)
        try await phone.lists.insert(["text": "shopping"], id: "l")
        try await phone.tasks.insert(["text": "milk", "list": "l", "complete": false], id: "t")
        _ = try await phone.context.push()
        try await laptop.pullAll()
        let list = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
        try await laptop.lists.delete(list)
        _ = try await laptop.context.push()
        try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
        let conflict = try #require(try await phone.context.push().conflicts.first)
        try await phone.context.resolve(conflict, with: .keepMine)
        #expect(try await phone.context.push().notTaken.isEmpty)
    }

    @Test("is still the one that rows mean which name it by the id that it had", arguments: DatasyncDialect.allCases)
    func namedByItsFormerID(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await makeListAnew(world)
            // Somebody who does not know that changes the task.
            let task = try #require(try await laptop.store.read(Query("Tasks")).records.first?.id)
            try await laptop.tasks.update(Record(id: task, ["text": "oat milk"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            try await phone.pullAll()
            #expect(try await phone.told() == ["groceries: oat milk"])
            try await phone.tasks.update(Record(id: "t", ["complete": true]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["groceries: oat milk"])
        }
    }

    @Test(
        "is asked for by both ids: no reconciling pull of what names it removes a row that still has the former one",
        arguments: DatasyncDialect.allCases
    )
    func reconciledByItsFormerID(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let phone = world.phone
            try await makeListAnew(world)
            for predicate in [Column("list") == "l", Column("list").isAny(of: ["l", "other"])] {
                let query = phone.tasks.query.filtered(by: predicate)
                try await phone.context.pull(query, options: .init(order: .pullOnly, reconciles: true))
                #expect(try await phone.told() == ["groceries: milk"])
            }
            let others = phone.tasks.query.filtered(by: Column("list") != "l")
            #expect(try await phone.context.pull(others, options: .init(order: .pullOnly)).received == 0)
        }
    }

    @Test(
        "is meant by a row that was made before, and is found by its content",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func namedByALostInsert(_ dialect: DatasyncDialect, isFromBefore: Bool) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "l")
            _ = try await phone.context.push()
            try await laptop.pullAll()
            let list = try #require(try await phone.lists.serverID(of: "l"))
            let own = isFromBefore ? list : "l"
            if isFromBefore {
                // The table chose no ids when the row came: it has the same one on both sides, of which nothing is written.
                try await phone.store.write { transaction in
                    var row = try #require(try transaction.record(.string("l"), in: "Lists"))
                    row.id = .string(list)
                    try transaction.delete([.string("l")], from: "Lists")
                    try transaction.upsert([row], into: "Lists")
                    let settings = Query(SystemTables.configuration.name)
                    try transaction.delete(settings.filtered(by: Column("table") == "Lists"))
                }
            }
            try await phone.tasks.insert(["text": "milk", "list": .string(own), "complete": false], id: "t")
            phone.server.intercept(.answerLost)
            #expect(try await syncErrorCode { _ = try await phone.context.push() } == .pushAbortedNetwork)
            let there = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            try await laptop.lists.delete(there)
            _ = try await laptop.context.push()
            try await phone.lists.update(Record(id: .string(own), ["text": "groceries"]))
            let conflict = try #require(try await phone.context.push(phone.lists).conflicts.first)
            try await phone.context.resolve(conflict, with: .keepMine)
            #expect(try await phone.context.push(phone.lists).notTaken.isEmpty)
            for _ in 1...2 { #expect(try await phone.context.push().notTaken.isEmpty) }
            #expect(world.textsOnServer("Tasks") == ["milk"])
            try await phone.pullAll()
            #expect(try await phone.told() == ["groceries: milk"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("does not come once more with a page that was asked for before", arguments: DatasyncDialect.allCases)
    func pageUnderWay(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect, keepsTombstones: false) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            #expect(try await phone.context.push().pushed == 1)
            phone.server.afterNextPage {
                try await phone.lists.delete("l")
                #expect(try await phone.context.push().pushed == 1)
                try await phone.lists.insert(["text": "groceries"], id: "l")
                #expect(try await phone.context.push().pushed == 1)
            }
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            #expect(world.textsOnServer("Lists") == ["groceries"])
            #expect(try await phone.texts("Lists") == ["groceries"])
            #expect(try await phone.lists.read("l")?["text"] == "groceries")
        }
    }
}
