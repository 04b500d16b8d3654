import Foundation
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
}
