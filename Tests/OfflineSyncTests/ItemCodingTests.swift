import Foundation
import ItemCoding
import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("Items of Codable types")
struct ItemCodingTests {
    enum Priority: String, Codable { case low, high }
    struct Place: Codable, Hashable {
        var name: String
        var visited: Date
    }
    struct Item: Codable, Identifiable, Hashable, Sendable {
        var id: String
        var text: String
        var count: Int?
        var ratio: Double?
        var price: Decimal?
        var due: Date?
        var photo: Data?
        var link: URL?
        var owner: UUID?
        var priority: Priority?
        var place: Place?
        var tags: [String]?
        var complete: Bool?
        var version: String?
    }

    static let definition = TableDefinition(
        "Item",
        columns: [
            .init("text", .string), .init("count", .int64), .init("ratio", .double), .init("price", .decimal),
            .init("due", .date), .init("photo", .bytes), .init("link", .string), .init("owner", .string),
            .init("priority", .string), .init("place", .json), .init("tags", .json), .init("complete", .bool),
        ]
    )

    let table: SyncTable<Item>

    init() throws {
        let context = SyncContext(store: try makeStore(Self.definition), remote: UnavailableRemote.unreachable)
        table = try context.table("Item")
    }

    static var full: Item {
        Item(
            id: "a",
            text: "mi\u{0}lk",
            count: Int(Int64.max),
            ratio: 0.1,
            price: Decimal(string: "12.30"),
            due: Date(timeIntervalSince1970: 1_700_000_000.123),
            photo: Data([0, 1, 255]),
            link: URL(string: "https://example.org/?q=1"),
            owner: UUID(),
            priority: .high,
            place: Place(name: "Köln", visited: Date(timeIntervalSince1970: 1)),
            tags: ["a", "b"],
            complete: true
        )
    }

    @Test("every property comes back as it went in")
    func roundTrip() async throws {
        let item = Self.full
        #expect(try await table.insert(item) == item)
        #expect(try await table.read("a") == item)
        #expect(try await table.read(table.query.filtered(by: Column("count") > 5)) == [item])
    }

    @Test("a property that is nil clears its column")
    func nilClears() async throws {
        try await table.insert(Self.full)
        try await table.update(Item(id: "a", text: "x"))
        #expect(try await table.read("a") == Item(id: "a", text: "x"))
    }

    @Test("an item with an empty id gets one")
    func emptyID() async throws {
        #expect(try await table.insert(Item(id: "", text: "x")).id.isEmpty == false)
    }

    @Test("a row that does not fit the type is an error that names the property and not the value")
    func mismatch() async throws {
        struct Strict: Codable, Identifiable, Sendable {
            var id: String
            var count: Int
        }
        let context = SyncContext(store: try makeStore(Self.definition), remote: UnavailableRemote.unreachable)
        let strict: SyncTable<Strict> = try context.table("Item")
        try await strict.table.insert(["text": "secret text"], id: "a")
        do {
            _ = try await strict.read("a")
            Issue.record("the row was read")
        } catch let error as SyncError {
            #expect(error.code == .invalidItem)
            #expect(error.description.contains("count"))
            #expect(!error.description.contains("secret"))
        }
    }

    @Test("what cannot be encoded is told without the value, which is of a row")
    func notEncoded() async throws {
        struct Word: Codable, Hashable {
            var text: String

            func encode(to encoder: any Encoder) throws {
                let context = EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "on purpose")
                throw EncodingError.invalidValue(text, context)
            }
        }
        struct Wordy: Codable, Identifiable, Sendable {
            var id: String
            var place: Word
        }
        let context = SyncContext(store: try makeStore(Self.definition), remote: UnavailableRemote.unreachable)
        let wordy: SyncTable<Wordy> = try context.table("Item")
        let error = await #expect(throws: (any Error).self) {
            try await wordy.insert(Wordy(id: "a", place: Word(text: "secret text")))
        }
        let description = error.map { "\($0)" } ?? ""
        #expect(description.contains("Item") && description.contains("String") && !description.contains("secret"))
    }

    @Test(
        "milliseconds survive the way through Date",
        arguments: [0, 1, 999, 1_700_000_000_123, -1, -62_135_596_800_000]
    )
    func dates(_ milliseconds: Int64) async throws {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        let item = try await table.insert(Item(id: "", text: "x", due: date))
        let record = try #require(try await table.table.read(item.id))
        #expect(record["due"]?.dateValue?.milliseconds == milliseconds)
        #expect(item.due == date)
    }

    struct Nested: SyncItem, Equatable {
        var id = ""
        var dates: [Date] = []
        var ratios: [Double] = []
        var prices: [Decimal] = []
    }

    private func nestedTable() throws -> (SyncContext, SyncTable<Nested>) {
        let definition = TableDefinition(
            "Nested",
            columns: [.init("dates", .json), .init("ratios", .json), .init("prices", .json)]
        )
        let context = SyncContext(store: try makeStore(definition), remote: UnavailableRemote.unreachable)
        return (context, try context.table(Nested.self))
    }

    @Test(
        "a nested value that could not be read again is refused with its property, by whatever way it is written",
        arguments: [
            Nested(id: "a", dates: [Date(timeIntervalSince1970: 1_700_000_000_000)]),
            Nested(id: "a", dates: [Date(timeIntervalSince1970: -62_167_219_201)]),
            Nested(id: "a", dates: [Date(timeIntervalSince1970: 253_402_300_800)]), Nested(id: "a", ratios: [0, .nan]),
            Nested(id: "a", prices: [.nan]),
        ]
    )
    func unreadable(_ item: Nested) async throws {
        let (context, table) = try nestedTable()
        let name = item.dates.isEmpty ? item.ratios.isEmpty ? "prices" : "ratios" : "dates"
        func expectRefused(_ write: () async throws -> Void) async {
            let error = await #expect(throws: SyncError.self) { try await write() }
            #expect(error?.code == .invalidItem && error?.message.contains("'\(name)'") == true, "\(error as Any)")
        }
        await expectRefused { try await table.insert(item) }
        await expectRefused { try await context.write { try $0.insert(contentsOf: [item], into: table) } }
        #expect(try await table.count() == 0)
        try await table.insert(Nested(id: "a"))
        await expectRefused { try await table.update(item) }
        await expectRefused {
            try await table.update("a") { ($0.dates, $0.ratios, $0.prices) = (item.dates, item.ratios, item.prices) }
        }
        #expect(try await table.read() == [Nested(id: "a")])
    }

    @Test(
        "nested dates of the years 0 to 9999 come back",
        arguments: [-62_167_219_200, -1, 0, 253_402_300_799] as [Double]
    )
    func nestedDates(_ seconds: Double) async throws {
        let item = Nested(id: "a", dates: [Date(timeIntervalSince1970: seconds)])
        #expect(try await nestedTable().1.insert(item) == item)
    }

    /// Types that take a null themselves.
    struct Nullable: SyncItem, Equatable {
        @propertyWrapper struct Trimmed: Codable, Hashable, Sendable {
            var wrappedValue: String?
            init(wrappedValue: String?) { self.wrappedValue = wrappedValue }
            init(from decoder: any Decoder) throws {
                wrappedValue = try decoder.singleValueContainer().decode(String?.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(wrappedValue)
            }
        }
        @propertyWrapper struct Flag: Codable, Hashable, Sendable {
            var wrappedValue: Bool
            init(wrappedValue: Bool) { self.wrappedValue = wrappedValue }
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                wrappedValue = try !container.decodeNil() && container.decode(Bool.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                if wrappedValue { try container.encode(true) } else { try container.encodeNil() }
            }
        }
        struct Box<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
            var value: Value
            init(_ value: Value) { self.value = value }
            init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
        var id = ""
        @Trimmed var name: String?
        @Flag var flag: Bool
        var count: Box<Int?>
    }

    @Test("a property of a type that takes a null itself holds one, also where the example has another value")
    func nulls() async throws {
        let example = Nullable(name: "x", flag: true, count: .init(1))
        for definition in [try TableDefinition(Nullable.self), try TableDefinition(Nullable.self, .example(example))] {
            let context = SyncContext(store: try makeStore(definition), remote: UnavailableRemote.unreachable)
            let table = try context.table(Nullable.self)
            let none = Nullable(id: "a", name: nil, flag: false, count: .init(nil))
            var other = none
            other.id = "b"
            #expect(try await table.insert(none) == none)
            try await context.write { [other] in try $0.insert(contentsOf: [other], into: table) }
            #expect(try await table.read() == [none, other])
            #expect(try await table.update("a") { $0.name = "y" }.name == "y")
            try await table.update(none)
            #expect(try await table.read("a") == none)
        }
    }
}
