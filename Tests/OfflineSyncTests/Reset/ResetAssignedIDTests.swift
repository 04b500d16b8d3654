import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("A server that chooses ids and has lost its history")
struct ResetAssignedIDTests {
    static let table = TableDefinition(
        "TodoItem",
        columns: [.init("text", .string), .init("parent", .string, references: "TodoItem")],
        assignsIDs: true
    )

    let server = HistoryServer(choosesIDs: true)
    let store: MemoryStore
    let context: SyncContext
    let items: SyncTable<Record>
    let all = [FreshPull(Query("TodoItem"))]

    init() throws {
        store = try makeStore(Self.table)
        context = SyncContext(store: store, remote: server)
        items = try context.table("TodoItem")
    }

    /// The rows here, each with the text of the one it refers to: `milk in shopping`.
    private func told() async throws -> [String] {
        let rows = try await store.read(Query("TodoItem")).records
        let texts = Dictionary(uniqueKeysWithValues: rows.map { ($0.id.stringValue ?? "", $0["text"]?.stringValue) })
        return
            rows.map { row in
                let text = row["text"]?.stringValue ?? ""
                return row["parent"]?.stringValue.map { "\(text) in \(texts[$0].flatMap { $0 } ?? "?")" } ?? text
            }
            .sorted()
    }

    private func toldByServer() -> [String] {
        let (texts, parents) = (server.texts, server.values("parent"))
        return texts.map { id, text in parents[id].map { "\(text) in \(texts[$0] ?? "?")" } ?? text }.sorted()
    }

    private func id(of text: String) async throws -> String {
        let rows = try await store.read(Query("TodoItem").filtered(by: Column("text") == .string(text))).records
        return try #require(rows.first?.id.stringValue)
    }

    /// Here are `shopping`, with `milk` and `eggs` in it, made on this device, and `bread` of somebody else.
    private func begin() async throws {
        server.write("of others", "bread")
        try await items.pull()
        try await items.insert(["text": "shopping"], id: "l")
        try await items.insert(["text": "milk", "parent": "l"], id: "m")
        try await items.insert(["text": "eggs", "parent": "l"], id: "e")
        #expect(try await context.push().pushed == 3)
        try await items.pull()
        #expect(try await told() == ["bread", "eggs in shopping", "milk in shopping", "shopping"])
    }

    private func serverID(_ text: String) throws -> String {
        try #require(server.texts.first { $0.value == text }?.key)
    }

    private func expectEqual(_ expected: [String]) async throws {
        try await context.endReset()
        for _ in 0..<2 { #expect(try await context.push().notTaken.isEmpty) }
        try await items.pull()
        #expect(try await told() == expected)
        #expect(toldByServer() == expected)
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("rows that have their ids again are the same here, and what refers to them does so still")
    func restored() async throws {
        try await begin()
        try await items.update(Record(id: "m", ["text": "oat milk"]))
        try await items.delete("e")
        try await items.insert(["text": "tea", "parent": "l"], id: "t")
        try await items.insert(["text": "tray", "parent": "t"], id: "tray")
        let (list, milk, eggs) = (try serverID("shopping"), try serverID("milk"), try serverID("eggs"))
        server.reset(
            to: [list: "shopping", milk: "milk", eggs: "eggs", "new": "sugar"],
            versions: 7,
            parents: [milk: list, eggs: list, "new": list]
        )
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.waiting == 4 && report.recovered == 4, "\(report)")
        #expect(try await items.read("l") != nil)
        #expect(try await items.read("m")?["text"] == "oat milk")
        try await expectEqual(
            ["oat milk in shopping", "shopping", "sugar in shopping", "tea in shopping", "tray in tea"]
        )
        #expect(try await items.read("t")?["parent"] == "l")
    }

    @Test("rows that have other ids are others: what waits for those of before is in conflict, and made anew if wanted")
    func renumbered() async throws {
        try await begin()
        try await items.update(Record(id: "m", ["text": "oat milk"]))
        server.reset(to: ["1": "shopping", "2": "milk", "3": "bread"], parents: ["2": "1"])
        let report = try await context.reset(onto: all, discardsChanges: false)
        #expect(report.waiting == 1 && report.conflicts == 1)
        #expect(try await items.read("l") == nil)
        #expect(try await told().count == 4)
        let conflict = try #require(try await context.operationErrors().first)
        #expect(conflict.isMissingOnServer)
        let list = try await id(of: "shopping")
        try await context.resolve(conflict, with: .keepMine)
        try await items.update(Record(id: "m", ["parent": .string(list)]))
        try await expectEqual(["bread", "milk in shopping", "oat milk in shopping", "shopping"])
        #expect(try await items.read("m") != nil)
    }

    @Test("ids that are used again for other rows do not have them overwritten")
    func reused() async throws {
        try await begin()
        try await items.update(Record(id: "m", ["text": "oat milk"]))
        try await items.delete("e")
        server.reset(to: [try serverID("milk"): "of somebody", try serverID("eggs"): "of somebody else"], versions: 1)
        let before = toldByServer()
        #expect(try await context.reset(onto: all, discardsChanges: false).conflicts == 2)
        try await context.endReset()
        #expect(try await context.push().pushed == 0)
        #expect(toldByServer() == before)
        for error in try await context.operationErrors() { try await context.resolve(error, with: .takeServer) }
        try await expectEqual(before)
    }

    @Test("an insert whose answer was lost is the row that the server has with its content", arguments: [false, true])
    func lostAnswer(_ discards: Bool) async throws {
        try await begin()
        try await items.insert(["text": "tea", "parent": "l"], id: "t")
        server.setFate(.answerLost)
        await #expect(throws: SyncError.self) { try await context.push() }
        let (list, tea) = (try serverID("shopping"), try serverID("tea"))
        server.reset(to: [list: "shopping", tea: "tea", "new": "sugar"], versions: 3, parents: [tea: list])
        let report = try await context.reset(onto: all, discardsChanges: discards)
        #expect(report.waiting == 1 && (discards ? report.discarded : report.settled) == 1, "\(report)")
        try await expectEqual(["shopping", "sugar", "tea in shopping"])
        #expect(try await items.read("t") != nil, "it is the same row")
    }

    @Test("an insert that never arrived is sent, or is gone where it is given up", arguments: [false, true])
    func lostRequest(_ discards: Bool) async throws {
        try await begin()
        try await items.insert(["text": "tea", "parent": "l"], id: "t")
        server.setFate(.requestLost)
        await #expect(throws: SyncError.self) { try await context.push() }
        let list = try serverID("shopping")
        server.reset(to: [list: "shopping", "new": "sugar"])
        let report = try await context.reset(onto: all, discardsChanges: discards)
        #expect(report.waiting == 1 && (discards ? report.discarded : report.recovered) == 1, "\(report)")
        try await expectEqual(discards ? ["shopping", "sugar"] : ["shopping", "sugar", "tea in shopping"])
    }

    @Test("what was given up is kept with the local ids, by which the app may make it anew")
    func discarded() async throws {
        try await begin()
        try await items.update(Record(id: "m", ["text": "oat milk"]))
        try await items.insert(["text": "tea", "parent": "l"], id: "t")
        let (list, milk) = (try serverID("shopping"), try serverID("milk"))
        server.reset(to: [list: "shopping", milk: "milk"], parents: [milk: list])
        #expect(try await context.reset(onto: all, discardsChanges: true).discarded == 2)
        let changes = try await context.discardedChanges()
        #expect(changes.map(\.itemID) == ["m", "t"] && changes.map { $0.item?["parent"] } == ["l", "l"])
        try await expectEqual(["milk in shopping", "shopping"])
    }
}
