import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Reading rows that do not have all that an item type wants")
struct TolerantReadTests {
    enum Status: String, Codable, CaseIterable, ColumnValue { case draft, sent }

    struct Invoice: SyncItem, Equatable {
        var id = ""
        var text: String
        var status = Status.draft
        var count = 1
        var paid = false
        var note: String?
        var isFavourite = false
        var syncState = SyncState.synced
    }

    /// What cannot be made of a row says what it met: that must stay here.
    struct Strict: SyncItem {
        struct Refusal: Error { let quoted: String }
        var id = ""
        var text: String

        enum CodingKeys: CodingKey { case id, text }
        init(id: String = "", text: String) { (self.id, self.text) = (id, text) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            text = try container.decode(String.self, forKey: .text)
            if text == "secret" { throw Refusal(quoted: text) }
        }
    }

    /// The first reading of its rows fails before it asks for their states, as if there had been none.
    struct Late: SyncItem, Equatable {
        struct Refusal: Error {}
        final class Refusals: Sendable {
            private let left: Mutex<Int>
            init(_ count: Int) { left = Mutex(count) }
            func take() -> Bool {
                left.withLock { left in
                    left -= 1
                    return left >= 0
                }
            }
        }
        @TaskLocal static var refusals: Refusals?
        var id = ""
        var syncState = SyncState.synced

        enum CodingKeys: CodingKey { case id, syncState }
        init() {}
        init(from decoder: any Decoder) throws {
            if Self.refusals?.take() ?? false { throw Refusal() }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            syncState = try container.decode(SyncState.self, forKey: .syncState)
        }
    }

    @Test("in batches, the first rows may come when nothing has told yet that the type asks for states")
    func lateStates() async throws {
        let table = TableDefinition("Late", columns: [])
        let context = SyncContext(store: MemoryStore(try StoreSchema([table])), remote: UnavailableRemote.unreachable)
        for id in ["1", "2", "3"] { try await context.store.upsert([Record(id: .string(id))], table: "Late") }
        let late: SyncTable<Late> = try context.table("Late")
        var batches: [[String]] = []
        try await Late.$refusals.withValue(Late.Refusals(3)) {
            for try await batch in late.batches(of: 2) { batches.append(batch.map(\.id)) }
        }
        #expect(batches == [["1", "2"], ["3"]])
    }

    private static let example = Invoice(text: "?", status: .sent, count: 7, note: "none of these")

    private func world(_ rows: [Record], hasExample: Bool = true) async throws -> (SyncContext, SyncTable<Invoice>) {
        let table =
            hasExample
            ? try TableDefinition(Invoice.self, .local(\.isFavourite), .example(Self.example))
            : try TableDefinition(Invoice.self, .local(\.isFavourite))
        let store = MemoryStore(try StoreSchema([table]))
        try await store.upsert(rows, table: "Invoice")
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        return (context, try context.table(Invoice.self))
    }

    private static let whole: [String: FieldValue] = [
        "text": "a", "status": "draft", "count": 2, "paid": true, "isFavourite": true,
    ]

    @Test("the example stands in for nulls where the property is not optional, and nowhere else")
    func standIns() async throws {
        let (context, invoices) = try await world([Record(id: "1"), Record(id: "2", Self.whole)])
        let first = Invoice(id: "1", text: "?", status: .sent, count: 7)
        let second = Invoice(id: "2", text: "a", count: 2, paid: true, isFavourite: true)
        #expect(try await invoices.read() == [first, second])
        #expect(try await invoices.read("1") == first)
        #expect(try await context.read { try $0.read("1", in: invoices) } == first)
        #expect(try await context.read { try $0.read(invoices) } == [first, second])
        var live = invoices.observe().makeAsyncIterator()
        #expect(try await live.next() == [first, second])
        for try await batch in invoices.batches(of: 5) { #expect(batch == [first, second]) }
        #expect(try await invoices.where { $0.count == 7 }.count() == 0, "a condition sees the null")
        #expect(try await invoices.count(by: \.status) == [.sent: 1, .draft: 1])
    }

    @Test("what only stands in is not written back")
    func notWritten() async throws {
        let (context, invoices) = try await world([Record(id: "1", ["text": "a"]), Record(id: "2")])
        let item = try await invoices.update("1") { $0.note = "n" }
        #expect(item == Invoice(id: "1", text: "a", status: .sent, count: 7, note: "n", syncState: .pending))
        try await invoices.update("1") {
            $0.count = 7
            $0.status = .draft
        }
        var row = try #require(try await invoices.table.read("1"))
        #expect(row["count"]?.isNull ?? true)
        #expect(row["status"] == "draft" && row["note"] == "n" && row["text"] == "a")

        var second = try #require(try await invoices.read("2"))
        second.paid = true
        try await invoices.update(second)
        row = try #require(try await invoices.table.read("2"))
        #expect(row["paid"] == true && (row["count"]?.isNull ?? true) && (row["text"]?.isNull ?? true))
        second.count = 8
        try await context.write { [second] in try $0.update(second, in: invoices) }
        second.count = 7
        try await invoices.update(second)
        #expect(try await invoices.table.read("2")?["count"] == 7, "it is a value of the row's by now")

        let unchanged = try await invoices.update("2") { $0.paid = true }
        #expect(unchanged.paid)
    }

    @Test("without an example, columns of this device begin with nothing")
    func localColumns() async throws {
        var row = Self.whole
        row["isFavourite"] = nil
        let (_, invoices) = try await world([Record(id: "1", row)], hasExample: false)
        #expect(try await invoices.read().map(\.isFavourite) == [false])
        #expect(try await invoices.update("1") { $0.isFavourite.toggle() }.isFavourite)
        #expect(try await invoices.table.read("1")?["isFavourite"] == true)
    }

    /// Takes as many events as there are ids, which have to be told in this order.
    private func told(_ ids: [RecordID], by events: inout AsyncStream<SyncEvent>.Iterator) async throws {
        for expected in ids {
            let event = try #require(await events.next(isolation: nil))
            guard case .itemLeftOut(let table, let id, let reason) = event else {
                Issue.record("\(event)")
                return
            }
            #expect(table == "Invoice" && id == expected)
            #expect(reason.contains("'status'") && !reason.contains("unheard"))
            #expect(event.logLine.contains("'status'") && !event.logLine.contains("unheard"))
        }
    }

    @Test("a live query of a closure tells a row that it leaves out once, whatever is changed meanwhile")
    func leftOutOfAClosure() async throws {
        var unreadable = Self.whole
        unreadable["status"] = "unheard-of"
        let (context, invoices) = try await world([Record(id: "1", unreadable), Record(id: "2", Self.whole)])
        var events = context.events.makeAsyncIterator()
        let observation = context.observe { try $0.read(invoices.query, in: invoices).count }
        var counts = observation.makeAsyncIterator()
        #expect(try await counts.next() == 1)
        for number in 3...6 {
            try await context.store.upsert([Record(id: .string("\(number)"), Self.whole)], table: "Invoice")
            while let count = try await counts.next(), count < number - 1 {}
        }
        try await told(["1"], by: &events)
        // Read once, it is told by that.
        _ = try await invoices.read()
        _ = try await invoices.where { $0.id == "1" }.first()
        try await told(["1", "1"], by: &events)
        try await context.store.upsert([Record(id: "9", unreadable)], table: "Invoice")
        _ = try await invoices.where { $0.id == "9" }.first()
        try await told(["9"], by: &events)
    }

    @Test("rows that cannot be decoded are left out, told once, and thrown for by their id")
    func leftOut() async throws {
        var unreadable = Self.whole
        unreadable["status"] = "unheard-of"
        let (context, invoices) = try await world(
            [Record(id: "1", unreadable), Record(id: "2", Self.whole), Record(id: "3", unreadable)]
        )
        var events = context.events.makeAsyncIterator()
        #expect(try await invoices.read().map(\.id) == ["2"])
        try await told(["1", "3"], by: &events)
        #expect(try await invoices.first()?.id == "2")
        try await told(["1"], by: &events)
        #expect(try await invoices.where { $0.id != "2" }.first() == nil)
        try await told(["1", "3"], by: &events)
        #expect(try await invoices.limited(to: 1).first() == nil)
        try await told(["1"], by: &events)
        try await context.write { tx in
            #expect(try tx.read(invoices).map(\.id) == ["2"])
            #expect(try tx.first(invoices)?.id == "2")
            var visited: [String] = []
            try tx.forEach(invoices) { visited.append($0.id) }
            #expect(visited == ["2"])
            #expect(throws: SyncError.self) { try tx.read("1", in: invoices) }
            #expect(try tx.count(invoices) == 3)
        }
        try await told(["1", "3", "1", "1", "3"], by: &events)
        var batches: [[String]] = []
        for try await batch in invoices.batches(of: 1) { batches.append(batch.map(\.id)) }
        #expect(batches == [["2"]])
        try await told(["1", "3"], by: &events)

        var reported: [RecordID] = []
        let items = try await invoices.read(onUndecodable: { id, error in
            reported.append(id)
            #expect((error as? SyncError)?.code == .invalidItem)
        })
        #expect(items.map(\.id) == ["2"] && reported == ["1", "3"])
        let error = await #expect(throws: SyncError.self) { try await invoices.read("1") }
        #expect(error?.code == .invalidItem && error?.message.contains("unheard") == false)
        await #expect(throws: SyncError.self) { try await invoices.update("1") { $0.count += 1 } }

        var live = invoices.observe().makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["2"])
        try await told(["1", "3"], by: &events)
        try await invoices.update("2") { $0.count += 1 }
        #expect(try await live.next()?.map(\.count) == [3])
        try await invoices.table.update(Record(id: "3", ["status": "sent"]))
        #expect(try await live.next()?.map(\.id) == ["2", "3"])
        try await invoices.table.update(Record(id: "3", ["status": "unheard-of"]))
        #expect(try await live.next()?.map(\.id) == ["2"])
        try await told(["3"], by: &events)
    }

    @Test("what a type throws is not quoted")
    func refusals() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition("Strict", columns: [.init("text", .string)])]))
        try await store.upsert(
            [Record(id: "1", ["text": "secret"]), Record(id: "2", ["text": "b"])],
            table: "Strict"
        )
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let items = try context.table(Strict.self)
        var events = context.events.makeAsyncIterator()
        #expect(try await items.read().map(\.id) == ["2"])
        let event = try #require(await events.next())
        #expect(event.logLine.contains("Refusal") && !event.logLine.contains("secret"))
        await #expect(throws: Strict.Refusal.self) { try await items.read("1") }
    }

    @Test("tables on the server do the same, with rows that do not fit the table as well")
    func online() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Invoice"]))
        try emulator.seed(
            [
                ["id": "1"], ["id": "2", "text": "b", "status": "unheard-of"],
                ["id": "3", "text": "c", "count": "many"], ["id": "4", "text": "d", "paid": true],
            ],
            in: "Invoice"
        )
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let table = try TableDefinition(Invoice.self, .local(\.isFavourite), .example(Self.example))
        let context = SyncContext(store: MemoryStore(try StoreSchema([table])), remote: remote)
        let invoices: RemoteTable<Invoice> = try context.remoteTable(Invoice.self)
        var events = context.events.makeAsyncIterator()
        let expected = [
            Invoice(id: "1", text: "?", status: .sent, count: 7),
            Invoice(id: "4", text: "d", status: .sent, count: 7, paid: true),
        ]
        #expect(try await invoices.read() == expected)
        for id: RecordID in ["2", "3"] {
            guard case .itemLeftOut(_, let told, _) = await events.next() else {
                Issue.record("another event")
                return
            }
            #expect([RecordID("2"), "3"].contains(told), "\(id)")
        }
        var reported: Set<RecordID> = []
        #expect(try await invoices.read(onUndecodable: { id, _ in reported.insert(id) }) == expected)
        #expect(reported == ["2", "3"])
        #expect(try await invoices.where { $0.text != "?" }.first()?.id == "1")
        #expect(try await invoices.where { $0.text > "a" }.first()?.id == "4")
        await #expect(throws: SyncError.self) { try await invoices.read("2") }
        for try await page in try invoices.pages(invoices.query) {
            #expect(page.items == expected && Set(page.setAside.map(\.id)) == ["2", "3"])
        }
    }

    @Test(
        "one that cannot be made again of its row is not written, also when the group goes on",
        arguments: [false, true]
    )
    func notMadeAgain(_ inserts: Bool) async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition("Strict", columns: [.init("text", .string)])]))
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table("Strict", of: Strict.self)
        try await table.insert(Strict(id: "a", text: "open"))
        await #expect(throws: Strict.Refusal.self) {
            try await context.write { tx in
                do {
                    if inserts {
                        try tx.insert(Strict(id: "b", text: "secret"), into: table)
                    } else {
                        try tx.update("a", in: table) { $0.text = "secret" }
                    }
                } catch is Strict.Refusal {}
            }
        }
        #expect(try await store.read(Query("Strict")).records.map { $0["text"] } == ["open"])
        #expect(try await context.operations().map(\.itemID) == ["a"])
    }

    @Test("the first of some that are asked for from the middle is looked for among them alone")
    func firstOfTheMiddle() async throws {
        let rows = (0..<6)
            .map { number in
                var row = Record(id: .string("\(number)"), Self.whole)
                row["status"] = number == 2 || number == 5 ? "unheard-of" : "draft"
                return row
            }
        let (context, invoices) = try await world(rows)
        let some = invoices.ordered(by: \.id)
        #expect(try await some.skipping(2).limited(to: 2).first()?.id == "3")
        #expect(try await some.skipping(2).limited(to: 1).first() == nil)
        #expect(try await some.skipping(5).first() == nil)
        #expect(try await context.read { try $0.first(some.skipping(4).limited(to: 9))?.id } == "4")
    }
}
