import Foundation
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@testable import OfflineSync

@Suite("Local changes without a network")
struct LocalChangesTests {
    let store: MemoryStore
    let context: SyncContext
    let table: SyncTable<Record>

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        table = try context.table("TodoItem")
    }

    private func kinds() async throws -> [TableOperation.Kind] { try await context.operations().map(\.kind) }

    @Test("an insert stores the item and queues one operation")
    func insert() async throws {
        let item = try await table.insert(["text": "milk"], id: "a")
        #expect(item["text"] == "milk")
        #expect(try await table.read("a") == item)
        let operations = try await context.operations()
        #expect(operations.map(\.itemID) == ["a"])
        #expect(operations.map(\.kind) == [.insert])
        #expect(try await table.syncStates() == ["a": .pending])
    }

    @Test("an item without an id gets a UUID in upper case")
    func generatedID() async throws {
        let id = try #require(try await table.insert(["text": "milk"]).id.stringValue)
        #expect(id.count == 36)
        #expect(id == id.uppercased())
    }

    @Test("such ids lie in the order in which they were made, and no two are the same")
    func orderOfIDs() throws {
        let times: [Int64] = [0, 1, 255, 1_700_000_000_000, 1_700_000_000_001, 1_800_000_000_000, 1 << 47]
        let ids = times.map { ItemID.make(at: Timestamp(milliseconds: $0)) }
        #expect(ids == ids.sorted())
        #expect(ids[3].hasPrefix("018BCFE5-6800-7"), "\(ids[3])")
        let ofOneMoment = (0..<1_000).map { _ in ItemID.make(at: Timestamp(milliseconds: times[3])) }
        #expect(Set(ofOneMoment).count == 1_000)
        // Version 7, of the variant of RFC 9562.
        let form = /[0-9A-F]{8}-[0-9A-F]{4}-7[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
        #expect(ofOneMoment.allSatisfy { $0.wholeMatch(of: form) != nil })
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        let made = try #require(Int64(ItemID.make().replacing("-", with: "").prefix(12), radix: 16))
        #expect((now...now + 600_000).contains(made))
    }

    @Test(
        "ids that break the rules are refused and change nothing",
        arguments: ["", "  ", ".", "..", "a/b", "a+b", "a?b", "a\"b", "a\\b", "a`b", "a\u{7}b", "a\u{85}b"]
            + [String(repeating: "x", count: 256), String(repeating: "😀", count: 128)]
    )
    func invalidIDs(_ id: String) async throws {
        #expect(try await syncErrorCode { try await table.insert([:], id: id) } == .invalidItemID)
        #expect(try await syncErrorCode { try await table.delete(id) } == .invalidItemID)
        #expect(try await context.operations().isEmpty)
        #expect(try await table.read(table.query).records.isEmpty)
    }

    @Test("a rule for ids forbids what is added to it, a hyphen as well")
    func changedRule() {
        var rule = RowIDRule.standard
        #expect(rule.problem(of: "a-b") == nil)
        rule.forbiddenCharacters.insert("-")
        #expect(rule.problem(of: "a-b") != nil && rule.problem(of: "ab") == nil)
    }

    @Test("unusual ids that keep the rules are taken", arguments: ["...", "a b", "it's", "#%&"])
    func validIDs(_ id: String) async throws {
        #expect(try await table.insert([:], id: id).id == .string(id))
    }

    @Test("inserting an item twice is refused and leaves item and queue as they were")
    func insertTwice() async throws {
        try await table.insert(["text": "first"], id: "a")
        #expect(try await syncErrorCode { try await table.insert(["text": "second"], id: "a") } == .invalidAction)
        #expect(try await table.read("a")?["text"] == "first")
        #expect(try await kinds() == [.insert])
    }

    @Test("an insert that is updated stays an insert; deleted, it is forgotten")
    func collapseIntoInsert() async throws {
        try await table.insert(["text": "milk"], id: "a")
        try await table.update(Record(id: "a", ["text": "cream"]))
        #expect(try await kinds() == [.insert])
        #expect(try await table.read("a")?["text"] == "cream")
        try await table.delete("a")
        #expect(try await kinds() == [])
        #expect(try await table.read("a") == nil)
    }

    @Test("an update keeps values that were not given and clears those given as null")
    func updateMerges() async throws {
        try await store.upsert([Record(id: "a", ["text": "milk", "complete": true])], table: "TodoItem")
        try await table.update(Record(id: "a", ["complete": .null]))
        let row = try #require(try await table.read("a"))
        #expect(row["text"] == "milk")
        #expect(row["complete"] == .null)
    }

    @Test("an update that is deleted becomes a delete in the same place and captures the stored row")
    func updateThenDelete() async throws {
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "v1"])], table: "TodoItem")
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await table.insert([:], id: "b")
        try await table.delete("a")
        let operations = try await context.operations()
        #expect(operations.map(\.kind) == [.delete, .insert])
        #expect(operations[0].deletedItem?["text"] == "cream")
        #expect(operations[0].baseVersion == "v1")
    }

    @Test("an item whose deletion waits can be neither changed nor deleted again")
    func afterDelete() async throws {
        try await store.upsert([Record(id: "a", ["text": "milk"])], table: "TodoItem")
        try await table.delete("a")
        #expect(try await syncErrorCode { try await table.update(Record(id: "a")) } == .invalidAction)
        #expect(try await syncErrorCode { try await table.delete("a") } == .invalidAction)
        #expect(try await kinds() == [.delete])
    }

    @Test("an item inserted over its waiting deletion is a change of the row that was to be deleted")
    func insertAfterDelete() async throws {
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "1"])], table: "TodoItem")
        try await table.delete("a")
        try await table.insert(["text": "cream"], id: "a")
        #expect(try await kinds() == [.update])
        #expect(try await context.operations().map(\.baseVersion) == ["1"])
        #expect(try await table.read("a")?["text"] == "cream")
    }

    @Test("a change is based on the version the app saw, or else on the stored one")
    func baseVersion() async throws {
        try await store.upsert(
            [Record(id: "a", ["version": "stored"]), Record(id: "b", ["version": "stored"])],
            table: "TodoItem"
        )
        try await table.update(Record(id: "a", ["text": "x", "version": "seen"]))
        try await table.update(Record(id: "b", ["text": "x"]))
        #expect(try await context.operations().map(\.baseVersion) == ["seen", "stored"])
        #expect(try await table.read("a")?.version == "seen", "what it is based on from now on")
        #expect(try await table.read("b")?.version == "stored", "only the server sets the stored version")
    }

    @Test("columns that are not declared can be brought back, not written")
    func undeclaredColumns() async throws {
        try await store.upsert([Record(id: "a", ["text": "milk", "extra": "server's"])], table: "TodoItem")
        let row = try #require(try await table.read("a"))
        try await table.update(row)
        var changed = row
        changed["extra"] = "mine"
        let written = changed
        #expect(try await syncErrorCode { try await table.update(written) } == .invalidItem)
        #expect(try await syncErrorCode { try await table.insert(["other": 1], id: "b") } == .invalidItem)
        #expect(try await table.read("a")?["extra"] == "server's")
    }

    @Test("a number is never given to a second operation")
    func numbers() async throws {
        try await table.insert([:], id: "a")
        try await table.insert([:], id: "b")
        let last = try #require(try await context.operations().last?.id)
        try await table.delete("b")
        try await table.insert([:], id: "c")
        #expect(try #require(try await context.operations().last?.id) > last)
        try await table.forcePurge()
        try await table.insert([:], id: "d")
        #expect(try #require(try await context.operations().last?.id) > last + 1)
    }

    @Test("a change that waits can be given up; one that was edited since cannot")
    func discard() async throws {
        try await table.insert(["text": "milk"], id: "a")
        let operation = try #require(try await context.operations().first)
        try await table.update(Record(id: "a", ["text": "cream"]))
        #expect(try await syncErrorCode { try await context.discard(operation) } == .operationChanged)
        let current = try #require(try await context.operations().first)
        try await context.discard(current)
        #expect(try await table.read("a") == nil)
        #expect(try await context.operations().isEmpty)
    }

    @Test("in a table that ignores case, an id of other casing meets the operation that waits")
    func caseInsensitiveIDs() async throws {
        let definition = TableDefinition(
            "TodoItem",
            columns: [.init("text", .string)],
            idComparison: .asciiCaseInsensitive
        )
        let context = SyncContext(store: try makeStore(definition), remote: UnavailableRemote.unreachable)
        let table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "Item")
        try await table.update(Record(id: "ITEM", ["text": "cream"]))
        #expect(try await context.operations().map(\.itemID) == ["Item"], "the casing that the server will know")
        #expect(try await table.read("item")?.id == "Item")
        #expect(try await syncErrorCode { try await table.insert([:], id: "item") } == .invalidAction)
    }

    @Test("a store whose items the app writes itself gets operations only")
    func appWritesItems() async throws {
        let store = try makeStore(handlesOperations: false)
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        #expect(try await table.read("a") == nil)
        #expect(try await context.operations().map(\.kind) == [.insert])
    }

    @Test("a push without a network fails, says so, and leaves queue and items as they were")
    func pushOffline() async throws {
        try await table.insert(["text": "milk"], id: "a")
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        #expect(try await table.read("a")?["text"] == "milk")
        #expect(try await context.status().pending == 1)
    }

    @Test("a purge is refused while changes wait, and only then")
    func purge() async throws {
        try await store.upsert([Record(id: "old")], table: "TodoItem")
        try await table.insert([:], id: "new")
        #expect(try await syncErrorCode { try await table.purge() } == .purgeAbortedPendingChanges)
        #expect(try await table.read(table.query).records.count == 2)
        try await table.forcePurge()
        #expect(try await table.read(table.query).records.isEmpty)
        #expect(try await context.operations().isEmpty)
        try await table.purge()
    }

    @Test("an id may stand among the fields of a new item, as the original's does")
    func idAmongFields() async throws {
        #expect(try await table.insert(["id": "a", "text": "milk"]).id == "a")
        #expect(try await table.insert(["id": "b"], id: "b").id == "b")
        #expect(try await table.insert(["id": ""], id: "c").id == "c")
        for unset in ["", .null] as [FieldValue] {
            #expect(try await table.insert(["id": unset]).id.stringValue?.count == 36)
        }
        #expect(try await syncErrorCode { try await table.insert(["id": "d"], id: "e") } == .invalidItemID)
        #expect(try await syncErrorCode { try await table.insert(["id": 7]) } == .invalidItemID)
        #expect(try await syncErrorCode { try await table.insert(["id": "a/b"]) } == .invalidItemID)
        #expect(try await context.operations().prefix(3).map(\.itemID) == ["a", "b", "c"])
    }
}
