import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("Queries with the columns of an item type")
struct TypedQueryTests {
    enum Kind: String, Codable, ColumnValue { case food, fuel }
    enum Rank: Int, Codable, CaseIterable, ColumnValue { case low, high }

    struct Item: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var complete = false
        var due: Date?
        var created: Date
        var count: Int
        var total: Int64?
        var ratio: Double
        var price: Decimal
        var kind: Kind?
        var rank: Rank
        var owner: UUID
        var link: URL?
        var day: Day
        var time: TimeOfDay?
        var photo: Data
        var tags: [String] = []
        var version: String?

        var isOpen: Bool { !complete }
    }

    /// A store of each kind.
    enum Kept: CaseIterable { case inMemory, encrypted }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func withTable(_ kept: Kept, _ body: (SyncTable<Item>, SyncContext) async throws -> Void) async throws {
        let definition = try TableDefinition(Item.self, .searchable(\.text), .indexed(\.due))
        switch kept {
        case .inMemory:
            let context = context(MemoryStore(try StoreSchema([definition])))
            try await body(try context.table(Item.self), context)
        case .encrypted:
            let store = try await EncryptedStore.open(in: folder, [definition])
            let context = context(store)
            try await body(try context.table(Item.self), context)
            await store.close()
        }
    }

    private func context(_ store: any SyncContextDataSource) -> SyncContext {
        SyncContext(store: store, remote: UnavailableRemote.unreachable)
    }

    private static let owners = [UUID(), UUID()]

    private static func item(_ number: Int) throws -> Item {
        Item(
            id: "\(number)",
            text: ["Ärger", "banana", "Zebra", "apple"][number],
            complete: number % 2 == 1,
            due: number == 0 ? nil : Date(timeIntervalSince1970: Double(number) * 86_400),
            created: Date(timeIntervalSince1970: 100_000),
            count: number,
            total: number == 1 ? nil : Int64(number) * 10,
            ratio: Double(number) / 4,
            price: Decimal(number) + (try #require(Decimal(string: "0.10"))),
            kind: [nil, .food, .fuel, .food][number],
            rank: number < 2 ? .low : .high,
            owner: owners[number / 2],
            link: URL(string: "https://example.org/\(number)"),
            day: try #require(Day(year: 2026, month: 11, day: 20 + number)),
            time: number == 3 ? nil : TimeOfDay(hour: 8 + number),
            photo: Data([UInt8(number)])
        )
    }

    @Test("right comparisons with variables of every type find the right rows", arguments: Kept.allCases)
    func comparisons(_ kept: Kept) async throws {
        let (text, count, total, ratio) = ("apple", 2, Int64(20), 0.5)
        let price = try #require(Decimal(string: "1.1"))
        let (date, day) = (Date(timeIntervalSince1970: 86_400 * 2), try #require(Day("2026-11-21")))
        let (time, owner) = (try #require(TimeOfDay("09:00")), Self.owners[1])
        let (link, photo, rank) = (try #require(URL(string: "https://example.org/2")), Data([3]), Rank.high)
        let (maybeDate, maybeKind): (Date?, Kind?) = (nil, .food)
        try await withTable(kept) { items, _ in
            for number in 0..<4 { try await items.insert(Self.item(number)) }
            let cases: [(TableQuery<SyncTable<Item>>, [String])] = [
                (items.where { $0.text == text }, ["3"]),
                (items.where { $0.text != text && $0.text > "Z" }, ["0", "1", "2"]),
                (items.where { $0.complete }, ["1", "3"]), (items.where { !$0.complete }, ["0", "2"]),
                (items.where { $0.due < date }, ["1"]), (items.where { $0.due >= date && !$0.complete }, ["2"]),
                (items.where { $0.due == maybeDate }, ["0"]), (items.where { $0.due != nil }, ["1", "2", "3"]),
                (items.where { $0.due < $0.created }, ["1"]),
                (items.where { $0.due.year == 1970 && $0.due.day == 2 }, ["1"]),
                (items.where { $0.count >= count }, ["2", "3"]), (items.where { $0.count * 2 + 1 == 5 }, ["2"]),
                (items.where { $0.total == total }, ["2"]), (items.where { $0.total == nil }, ["1"]),
                (items.where { $0.ratio < ratio }, ["0", "1"]), (items.where { $0.price == price }, ["1"]),
                (items.where { $0.price * 10 > 21 }, ["3"]),
                (items.where { $0.count.decimal < $0.ratio.decimal * 5 }, ["1", "2", "3"]),
                (items.where { $0.kind == .food }, ["1", "3"]), (items.where { $0.kind == maybeKind }, ["1", "3"]),
                (items.where { $0.rank == rank }, ["2", "3"]), (items.where { $0.rank.isAny(of: [.low]) }, ["0", "1"]),
                (items.where { $0.owner == owner }, ["2", "3"]), (items.where { $0.owner != owner }, ["0", "1"]),
                (items.where { $0.link == link }, ["2"]), (items.where { $0.day > day }, ["2", "3"]),
                (items.where { $0.time == time }, ["1"]), (items.where { $0.time < time }, ["0"]),
                (items.where { $0.photo == photo }, ["3"]), (items.where { $0.id == "1" }, ["1"]),
                (items.where { $0.text.folded.contains("ÄR") }, ["0"]),
                (items.where { $0.text.matches(words: "arg") }, ["0"]),
                (items.where { $0.text.length == 5 && $0.syncState == .pending }, ["0", "2", "3"]),
                (items.filtered(by: Column("count") > count), ["3"]),
                (items.filtered(by: Column<Date?>("due") == date), ["2"]),
                (items.where { $0["count", as: Int.self] < 1 || $0.complete }, ["0", "1", "3"]),
                (items.where { $0.complete }.where { $0.count > 1 }, ["3"]),
                (items.ordered(by: \.text), ["2", "3", "1", "0"]),
                (items.ordered(by: \.text.folded), ["3", "0", "1", "2"]),
                (items.ordered(by: \.complete).ordered(by: \.count, .descending), ["2", "0", "3", "1"]),
                (items.ordered(by: \.count).skipping(1).limited(to: 2), ["1", "2"]),
                (items.limited(to: 3).limited(to: 5), ["0", "1", "2"]),
            ]
            for (query, ids) in cases {
                #expect(try await query.read().map(\.id) == ids, "\(query.source)")
            }
            #expect(try await items.read().count == 4)
        }
    }

    @Test("sets and ranges of values are conditions, and a limit has an offset", arguments: Kept.allCases)
    func setsAndRanges(_ kept: Kept) async throws {
        let (counts, owners): (Set<Int>, Set<UUID>) = ([1, 3, 7], [Self.owners[1]])
        let (first, last) = (Date(timeIntervalSince1970: 86_400), Date(timeIntervalSince1970: 86_400 * 2))
        try await withTable(kept) { items, _ in
            for number in 0..<4 { try await items.insert(Self.item(number)) }
            func check(_ query: TableQuery<SyncTable<Item>>, _ ids: [String]) async throws {
                #expect(try await query.read().map(\.id) == ids, "\(query.source)")
            }
            try await check(items.where { $0.count.isAny(of: counts) }, ["1", "3"])
            try await check(items.where { $0.owner.isAny(of: owners) }, ["2", "3"])
            try await check(items.where { 1...2 ~= $0.count }, ["1", "2"])
            try await check(items.where { 1..<2 ~= $0.count }, ["1"])
            // A null lies in none.
            try await check(items.where { first...last ~= $0.due }, ["1", "2"])
            try await check(items.where { first..<last ~= $0.due && $0.complete }, ["1"])
            try await check(items.limited(to: 1, skipping: 2), ["2"])
        }
    }

    @Test("every verb goes by the query", arguments: Kept.allCases)
    func verbs(_ kept: Kept) async throws {
        try await withTable(kept) { items, context in
            for number in 0..<4 { try await items.insert(Self.item(number)) }
            let done = items.where { $0.complete }.ordered(by: \.count, .descending)
            #expect(try await done.count() == 2)
            #expect(try await done.first()?.id == "3")
            #expect(try await items.count() == 4)
            #expect(try await items.where { $0.count > 9 }.first() == nil)
            var batches: [[String]] = []
            for try await batch in items.ordered(by: \.count, .descending).batches(of: 3) {
                batches.append(batch.map(\.id))
            }
            #expect(batches == [["3", "2", "1"], ["0"]])

            let (found, first, number, visited) = try await context.read { tx in
                var visited: [String] = []
                try tx.forEach(done) { visited.append($0.id) }
                return try (tx.read(done).map(\.id), tx.first(done)?.id, tx.count(items), visited)
            }
            #expect(found == ["3", "1"] && first == "3" && number == 4 && visited == found)

            var live = done.observe().makeAsyncIterator()
            #expect(try await live.next()?.map(\.id) == ["3", "1"])
            try await items.update("2") { $0.complete = true }
            #expect(try await live.next()?.map(\.id) == ["3", "2", "1"])

            #expect(try await context.write { try $0.delete(items.where { $0.count == 1 }) } == 1)
            #expect(try await done.delete() == 2)
            #expect(try await items.read().map(\.id) == ["0"])
            await #expect(throws: SyncError.self) { try await items.where { $0.count == 0 }.purge() }
            #expect(try await items.where { $0.count == 0 }.forcePurge() == 1)
        }
    }

    @Test("a UUID is found in upper and in lower case")
    func cases() async throws {
        try await withTable(.inMemory) { items, _ in
            let item = try Self.item(0)
            try await items.insert(item)
            let lower = item.owner.uuidString.lowercased()
            try await items.table.update(Record(id: "0", ["owner": .string(lower)]))
            #expect(try await items.where { $0.owner == item.owner }.count() == 1)
            #expect(try await items.where { $0.owner != item.owner }.count() == 0)
        }
    }

    @Test(
        "comparing a column with another kind is an error that names both, wherever it is asked",
        arguments: Kept.allCases
    )
    func otherKinds(_ kept: Kept) async throws {
        try await withTable(kept) { items, context in
            let predicates: [(QueryPredicate, String, String)] = [
                (Column("due") == "2026-11-22", "'due'", "text"), (Column("text") > 5, "'text'", "a number"),
                (Column("complete") == "true", "'complete'", "text"),
                (Column("count").isAny(of: [1, "2"]), "'count'", "text"),
                (Column("due") == Column("text"), "'due'", "'text'"), (Column("id") == 5, "'id'", "a number"),
                (Column("count").contains("1"), "'count'", "a number"),
                (Column("text").year == 2026, "'text'", "a date"),
                (Column("photo") == .string("AQ=="), "'photo'", "bytes"), (Column("tags") == "x", "'tags'", "JSON"),
                (Column("text") == "x" && !(Column("count") + 1 == "2"), "'add'", "a number"),
            ]
            let emulator = Emulator(EmulatorConfiguration(tables: ["Item"]))
            let remote = try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: EmulatorTransport(emulator)
            )
            let online = try SyncContext(store: context.store, remote: remote).remoteTable(items.name)
            for (predicate, first, second) in predicates {
                let query = items.query.filtered(by: predicate)
                let asked: [() async throws -> Void] = [
                    { _ = try await items.read(query) }, { _ = try await items.table.read(query) },
                    { _ = try await items.count(query) }, { _ = try await items.filtered(by: predicate).first() },
                    { for try await _ in items.observe(query) {} },
                    { for try await _ in items.table.observe(query) {} },
                    { _ = try await context.read { try $0.read(query) } },
                    { _ = try await context.write { try $0.delete(query) } },
                    { _ = try await context.write { try $0.count(query) } },
                    { try await context.purge(query) }, { try await context.pull(query) },
                    { try await context.forcePurge(query) },
                ]
                let askedInTransactions: [() async throws -> Void] = [
                    { try await context.write { try $0.forEach(query) { _ in } } },
                    { _ = try await context.write { try $0.read(query) } },
                    { _ = try await context.write { try $0.aggregate(AggregateQuery(query, [.count])) } },
                    { _ = try await context.read { try $0.aggregate(AggregateQuery(query, [.count])) } },
                ]
                let askedOnline: [() async throws -> Void] = [
                    { _ = try await online.read(query) }, { _ = try await online.count(query) },
                    { _ = try online.pages(query) },
                ]
                for body in asked + askedInTransactions + askedOnline {
                    let error = await #expect(throws: StoreError.self) { try await body() }
                    #expect(error?.code == .invalidQuery, "\(predicate)")
                    let message = error?.message ?? ""
                    #expect(message.contains(first) && message.contains(second), "\(message)")
                    #expect(!message.contains("2026-11-22"))
                }
            }
            #expect(emulator.requests.isEmpty)
            for predicate: QueryPredicate in [
                Column("count") == 1.0, Column("price") == 1, Column("due") == .null, Column("ratio") > Column("count"),
                Column("count").isAny(of: [1, .null]), Column("text").length % 2 == 0,
            ] {
                let count = try await items.count(items.query.filtered(by: predicate))
                #expect(count == 0)
            }
        }
    }

    @Test("a computed property is refused when the query runs")
    func computed() async throws {
        try await withTable(.inMemory) { items, _ in
            let error = await #expect(throws: StoreError.self) { try await items.where { $0.isOpen }.read() }
            #expect(error?.code == .invalidQuery && error?.message.contains("no stored property") == true)
            #expect(error?.message.contains(".<computed Bool>'") == true && error?.message.contains("0x") == false)
        }
    }
}
