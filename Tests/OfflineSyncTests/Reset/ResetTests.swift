import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import SyncMachines
import Testing

@testable import OfflineSync

@Suite("A server that has lost its history")
struct ResetTests {
    let server = HistoryServer()
    let store: MemoryStore
    let context: SyncContext
    let table: SyncTable<Record>
    let all = [FreshPull(Query("TodoItem"))]

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
        table = try context.table("TodoItem")
    }

    private func edit(_ id: String, _ text: String) async throws {
        try await table.update(Record(id: .string(id), ["text": .string(text)]))
    }

    /// Both sides have the same, nothing waits, and the store is as it should be.
    private func expectEqual(_ expected: [String: String]? = nil) async throws {
        #expect(try await context.push().notTaken.isEmpty)
        try await table.pull()
        #expect(try await texts(context) == server.texts)
        if let expected { #expect(server.texts == expected) }
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
        #expect(try await context.resetStage() == .none)
    }

    @Test("a pull says so, and leaves everything as it is")
    func told() async throws {
        server.write("a", "a")
        try await table.pull()
        try await edit("a", "mine")
        server.reset(to: ["b": "b"])
        #expect(try await syncErrorCode { try await table.pull(options: .init(order: .pullOnly)) } == .historyLost)
        #expect(try await texts(context) == ["a": "mine"])
        #expect(try await context.operations().count == 1)
        #expect(try await context.push().conflicts.count == 1, "nothing has begun: pushes go on")
    }

    @Test("rows are replaced, gone or new as one, and the next pull goes on from there")
    func rows() async throws {
        for id in "abcdefg" { server.write("\(id)", "\(id)") }
        try await table.pull()
        server.reset(to: ["b": "b", "c": "other", "x": "x"])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report == ResetReport())
        #expect(try await context.resetStage() == .done(report))
        #expect(try await texts(context) == ["b": "b", "c": "other", "x": "x"])
        try await context.endReset()
        server.write("y", "y")
        let pull = try await table.pull()
        #expect(pull.received == 1)
        try await expectEqual()
    }

    @Test(
        "an id that was deleted here can be used again, although the tombstone is all that came",
        arguments: [false, true]
    )
    func deletedHere(_ discards: Bool) async throws {
        server.write("a", "a")
        try await table.pull()
        try await table.delete("a")
        _ = try await context.push()
        server.reset(to: ["b": "b"])
        server.bury("a")
        _ = try await context.reset(onto: all, discardsChanges: discards)
        try await context.endReset()
        try await table.insert(["text": "again"], id: "a")
        #expect(try await context.push().notTaken.isEmpty)
        try await expectEqual(["a": "again", "b": "b"])
    }

    @Test("an emptied server leaves what waits, and only that")
    func emptied() async throws {
        for id in "abc" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await table.insert(["text": "new"], id: "n")
        try await edit("a", "mine")
        try await table.delete("b")
        server.reset(to: [:])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.waiting == 3 && report.recovered == 1 && report.conflicts == 1 && report.settled == 1)
        #expect(try await texts(context) == ["a": "mine", "n": "new"])
        try await context.endReset()
        #expect(try await context.push().pushed == 1)
        let conflict = try #require(try await context.operationErrors().first)
        #expect(conflict.isMissingOnServer && conflict.item?["text"] == "mine")
        try await context.resolve(conflict, with: .keepMine)
        try await expectEqual(["a": "mine", "n": "new"])
    }

    @Test("the next push asks about conflicts, once, as far as anybody has a say", arguments: [true, false])
    func asked(_ isAsked: Bool) async throws {
        server.write("a", "a")
        try await table.pull()
        try await edit("a", "mine")
        server.reset(to: ["a": "theirs"])
        if isAsked { context.conflictPolicy = .serverWins }
        #expect(try await context.reset(onto: all, discardsChanges: false).conflicts == 1)
        try await context.endReset()
        #expect(try await context.operationErrors().count == 1)
        context.conflictPolicy = .serverWins
        #expect(try await context.push().conflicts.count == (isAsked ? 0 : 1))
        #expect(try await context.journal().count == (isAsked ? 1 : 0))
        if isAsked { try await expectEqual(["a": "theirs"]) }
    }

    @Test("changes made while the fresh rows come count, and nothing is pushed or pulled in between")
    func meanwhile() async throws {
        for id in "abcdefgh" { server.write("\(id)", "\(id)") }
        try await table.pull()
        server.reset(to: ["a": "a", "b": "b", "c": "c", "d": "d", "e": "e", "f": "f"], versions: 9)
        server.onPages { [context, table] page in
            switch page {
            case 1: try await table.update(Record(id: "a", ["text": "mine"]))
            case 2:
                try await table.delete("b")
                try await table.insert(["text": "new"], id: "n")
                await #expect(throws: SyncError.self) { try await context.push() }
            default: break
            }
        }
        let report = try await context.reset(onto: all, discardsChanges: false)
        server.onPages(nil)
        #expect(report.waiting == 3 && report.recovered == 3)
        try await context.endReset()
        try await expectEqual(["a": "mine", "c": "c", "d": "d", "e": "e", "f": "f", "n": "new"])
    }

    @Test("one that is set up anew again meanwhile is brought from the beginning, and so is one after the other")
    func twice() async throws {
        for id in "abcdefgh" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await edit("b", "mine")
        server.reset(to: ["a": "1", "b": "b", "c": "1", "d": "1", "e": "1"])
        server.onPages { [server] page in
            if page == 2 { server.reset(to: ["b": "b", "c": "2"]) }
        }
        #expect(try await context.reset(onto: all, discardsChanges: false).recovered == 1)
        server.onPages(nil)
        #expect(try await texts(context) == ["b": "mine", "c": "2"])
        try await context.endReset()
        server.reset(to: ["b": "theirs"])
        let second = try await context.reset(onto: all, discardsChanges: false)
        #expect(second.conflicts == 1, "\(second)")
        try await context.endReset()
        let conflict = try #require(try await context.operationErrors().first)
        #expect(conflict.serverItem?["text"] == "theirs")
        try await context.resolve(conflict, with: .takeServer)
        try await expectEqual(["b": "theirs"])
    }

    @Test("what is given up is kept under the key of the store, and the rows are the server's")
    func discarded() async throws {
        for id in "abc" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await table.insert(["text": "new"], id: "n")
        try await edit("a", "mine")
        try await table.delete("b")
        server.reset(to: ["a": "theirs", "b": "b"])
        let report = try await context.reset(onto: all, discardsChanges: true)
        #expect(report.waiting == 3 && report.discarded == 3)
        #expect(try await texts(context) == ["a": "theirs", "b": "b"])
        let changes = try await context.discardedChanges()
        #expect(changes.map(\.itemID) == ["n", "a", "b"] && changes.map(\.kind) == [.insert, .update, .delete])
        #expect(changes.map { $0.item?["text"] } == ["new", "mine", "b"])
        #expect(changes.map { $0.baseItem?["text"] } == [nil, "a", "b"])
        try await context.endReset()
        try await expectEqual(["a": "theirs", "b": "b"])
        try await context.forgetDiscardedChanges()
        #expect(try await context.discardedChanges().isEmpty)
    }

    @Test("what is given up is listed in the order in which it was made, however much that is")
    func discardedInOrder() async throws {
        let ids = (1...11).map { "n\($0)" }
        for id in ids { try await table.insert(["text": "new"], id: id) }
        server.reset(to: [:])
        #expect(try await context.reset(onto: all, discardsChanges: true).discarded == 11)
        #expect(try await context.discardedChanges().map(\.itemID) == ids)
    }

    @Test("what was sent and may still arrive is taken back when it is given up")
    func discardedLate() async throws {
        server.write("a", "a")
        try await table.pull()
        try await table.insert(["text": "new"], id: "n")
        server.setFate(.requestLost)
        await #expect(throws: SyncError.self) { try await context.push() }
        server.reset(to: ["a": "a"])
        #expect(try await context.reset(onto: all, discardsChanges: true).discarded == 1)
        try await context.endReset()
        #expect(try await texts(context) == ["a": "a"])
        let operation = try #require(try await context.operations().first)
        #expect(operation.isUndo && operation.kind == .delete, "the insert may still arrive")
        try await expectEqual(["a": "a"])
    }

    @Test(
        "an insert that was sent and dropped is known again though the server has filled it in: no conflict with oneself"
    )
    func droppedInsert() async throws {
        let own = Record(id: "a", ["text": "a", "complete": .null])
        let remote = ScriptedRemote { _, _ in
            PullPage(records: [Record(id: "a", ["text": "a", "complete": false, "version": "v1"])], cursor: "1")
        }
        let store = try makeStore()
        let context = SyncContext(store: store, remote: remote)
        try await store.write { transaction in
            try transaction.upsert([own], into: "TodoItem")
            var memory = ItemMemory<Record>()
            memory.sent = [SentRequest(.insert, content: own)]
            try ItemMemoryStorage.set(memory, of: "a", in: todoTable, &transaction)
        }
        try await context.table("TodoItem").update(Record(id: "a", ["text": "mine"]))
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.conflicts == 0 && report.recovered == 1, "\(report)")
        #expect(try await texts(context) == ["a": "mine"])
    }

    @Test("a group stays one: what cannot be sent holds back the rest")
    func group() async throws {
        server.write("a", "a")
        try await table.pull()
        let table = table
        try await context.write { transaction in
            try transaction.update(Record(id: "a", ["text": "mine"]), in: table)
            try transaction.insert(["text": "n"], id: "n", into: table)
        }
        server.reset(to: [:])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.conflicts == 1 && report.recovered == 1)
        try await context.endReset()
        #expect(try await context.push().pushed == 0)
        #expect(server.texts.isEmpty)
        try await context.resolve(try #require(try await context.operationErrors().first), with: .keepMine)
        try await expectEqual(["a": "mine", "n": "n"])
    }

    @Test("of a table that is brought in part, others are looked up before they are sent; one that is not stays")
    func part() async throws {
        for id in "abc" { server.write("\(id)", "\(id)") }
        server.write("long", "long")
        try await table.pull()
        try await edit("long", "longer")
        try await edit("a", "A")
        server.reset(to: ["a": "a", "long": "long"], versions: 7)
        let query = Query("TodoItem").filtered(by: Column("text") != "long")
        let report = try await context.reset(onto: [FreshPull(query)], discardsChanges: false)
        #expect(report.recovered == 2 && report.conflicts == 0)
        #expect(try await texts(context) == ["a": "A", "long": "longer"])
        try await context.endReset()
        try await expectEqual(["a": "A", "long": "longer"])

        try await edit("a", "again")
        server.reset(to: ["a": "A", "z": "z"], versions: 3)
        #expect(try await context.reset(onto: [], discardsChanges: false).recovered == 1)
        #expect(try await texts(context) == ["a": "again", "long": "longer"])
        try await context.endReset()
        #expect(try await context.push().pushed == 1)
        #expect(try await table.pull().received == 1, "from the beginning")
        #expect(server.texts == ["a": "again", "z": "z"])
    }

    @Test(
        "a row that does not come because of a limit or of parameters is not gone either",
        arguments: [
            FreshPull(Query("TodoItem").limited(to: 1), options: .init(reconciles: true)),
            FreshPull(Query("TodoItem"), options: .init(parameters: ["project": "1"])),
        ]
    )
    func partWithoutCondition(_ pull: FreshPull) async throws {
        let remote = ScriptedRemote { request, _ in
            let isPart = request.position == .everything || request.parameters["project"] == "1"
            return PullPage(records: isPart ? [serverRow("a")] : [serverRow("a"), serverRow("long")], cursor: "end")
        }
        let scripted = SyncContext(store: store, remote: remote)
        try await scripted.pull(Query("TodoItem"), options: .init(order: .pullOnly))
        try await edit("long", "longer")
        let report = try await scripted.reset(onto: [pull], discardsChanges: false)
        #expect(report.recovered == 1 && report.conflicts == 0)
        #expect(try await texts(scripted) == ["a": "milk", "long": "longer"])
        try await scripted.endReset()
        #expect(try await scripted.operationErrors().isEmpty)
        #expect(try await scripted.status().pending == 1)
    }

    @Test("what waits can be sent as soon as the fresh rows are in their place, also before the end is on record")
    func sentBeforeTheEnd() async throws {
        server.write("a", "a")
        try await table.pull()
        try await edit("a", "mine")
        server.reset(to: ["a": "a", "b": "b"])
        #expect(try await context.reset(onto: all, discardsChanges: false).recovered == 1)
        #expect(try await context.push().pushed == 1)
        try await table.pull()
        try await context.endReset()
        try await expectEqual(["a": "mine", "b": "b"])
    }

    @Test("what is refused or in conflict is tried again on the fresh rows")
    func laidAside() async throws {
        for id in "ab" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await edit("a", "mine")
        server.write("a", "theirs")
        #expect(try await context.push().conflicts.count == 1)
        server.reset(to: ["a": "a", "b": "b"])
        #expect(try await context.reset(onto: all, discardsChanges: false).recovered == 1)
        try await context.endReset()
        #expect(try await context.operationErrors().isEmpty)
        try await expectEqual(["a": "mine", "b": "b"])
    }

    @Test("a change of a row that was kept over the server's goes over that one still", arguments: [true, false])
    func kept(_ deletes: Bool) async throws {
        server.write("a", "a")
        try await table.pull()
        try await edit("a", "mine")
        server.write("a", "theirs")
        let error = try #require(try await context.push().conflicts.first)
        try await context.resolve(error, with: .keepLocal())
        if deletes { try await table.delete("a") } else { try await edit("a", "later") }
        server.reset(to: ["a": "theirs"])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.recovered == 1 && report.conflicts == 0)
        try await context.endReset()
        try await expectEqual(deletes ? [:] : ["a": "later"])
    }

    @Test("the versions of before are forgotten of however many rows")
    func versions() async throws {
        let ids = (0..<1_100).map { "r\($0)" }
        for id in ids { server.write(id, "a") }
        try await table.pull()
        func remembered() async throws -> Int {
            try await store.read { try $0.records(ConfigurationTable.query(.itemMemory, "TodoItem")).count }
        }
        let table = table
        try await context.write { tx in
            for id in ids { try tx.update(Record(id: .string(id), ["text": "mine"]), in: table) }
        }
        #expect(try await context.push().pushed == ids.count)
        #expect(try await remembered() == ids.count)
        server.reset(to: Dictionary(uniqueKeysWithValues: ids.map { ($0, "fresh") }))
        _ = try await context.reset(onto: all, discardsChanges: false)
        #expect(try await remembered() == 0)
    }

    @Test("what was done is told after a restart as well, conflicts included")
    func reportAfterRestart() async throws {
        for id in "ab" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await edit("a", "mine")
        server.reset(to: ["a": "theirs", "b": "b"])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.conflicts == 1 && report.waiting == 1)
        #expect(try await context.resetStage() == .done(report))
    }

    @Test("a change that is given up once more lies beside the one of before")
    func discardedTwice() async throws {
        server.write("a", "a")
        try await table.pull()
        for text in ["first", "second"] {
            try await table.update(Record(id: "a", ["text": .string(text)]))
            server.setFate(.requestLost)
            await #expect(throws: SyncError.self) { try await context.push() }
            server.reset(to: ["a": "a"])
            #expect(try await context.reset(onto: all, discardsChanges: true).discarded == 1)
            try await context.endReset()
        }
        let discarded = try await context.discardedChanges()
        #expect(discarded.map { $0.item?["text"] } == ["first", "second"])
        #expect(Set(discarded.map(\.id)).count == 2)
        let highest = try #require(discarded.last?.id)
        try await table.insert(["text": "new"], id: "n")
        #expect(try await context.operations().allSatisfy { $0.itemID != "n" || $0.id > highest })
    }

    @Test(
        "what takes a change back goes over no row of others that has its version",
        arguments: ["all", "none", "unfit"]
    )
    func undoOverUsedVersion(_ brought: String) async throws {
        server.write("a", "a")
        try await table.pull()
        try await table.update(Record(id: "a", ["text": "mine"]))
        server.setFate(.requestLost)
        await #expect(throws: SyncError.self) { try await context.push() }
        if brought == "all" { try await table.revert("a") }
        server.reset(to: ["a": "theirs"])
        if brought == "unfit" { server.unfit("a") }
        _ = try await context.reset(onto: brought == "none" ? [] : all, discardsChanges: brought != "all")
        try await context.endReset()
        _ = try await context.push()
        #expect(server.texts == ["a": "theirs"])
        // Nobody has seen one that does not fit.
        let waiting = try await context.operations()
        #expect(waiting.isEmpty || brought == "unfit")
    }
}
