import Foundation
import ReferenceStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore
import ItemCoding

@Suite("Items of Codable types in a store")
struct ItemTests {
    struct Item: Codable, Identifiable, Hashable, Sendable {
        var id: String
        var text: String?
        var bool: Bool?
        var int: Int?
        var double: Double?
        var date: Date?
        var bytes: Data?
    }

    @Test("come back as they went in, whatever order and whichever of them lack values")
    func roundTrip() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let items = (0..<50)
            .map { index in
                Item(
                    id: "item \(index)",
                    text: index.isMultiple(of: 2) ? "text \(index)" : nil,
                    bool: index.isMultiple(of: 3) ? nil : true,
                    int: index - 25,
                    double: Double(index) / 7,
                    date: index.isMultiple(of: 5) ? nil : Date(timeIntervalSince1970: Double(index)),
                    bytes: Data(repeating: 7, count: index)
                )
            }
        try await store.write { try $0.upsert(items, into: "items") }
        let found = try await store.read { try $0.items(Query("items"), as: Item.self) }
        #expect(found.sorted { $0.id < $1.id } == items.sorted { $0.id < $1.id })
        #expect(try await store.read { try $0.item("item 3", in: "items", as: Item.self) } == items[3])
        #expect(try await store.read { try $0.item("none", in: "items", as: Item.self) } == nil)
        await store.close()
    }

    /// An item with one property, of any name.
    private struct Improvised: Encodable, Identifiable {
        struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        var id: String
        var name: String

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(1, forKey: Name(stringValue: name))
        }
    }

    @Test("that make up the names of properties do not fill what the next call would use")
    func improvisedNames() throws {
        let row = ItemRow(TableLayout(TableDefinition("items", columns: [.init("text", .string)])))
        let few = (0..<100).map { Improvised(id: "\($0)", name: "name \($0 % 10)") }
        try Borrowed.forEach(few) { try row.encode($0) }
        #expect(row.isWorthKeeping)
        let many = (0..<100).map { Improvised(id: "\($0)", name: "name \($0)") }
        try Borrowed.forEach(many) { try row.encode($0) }
        #expect(!row.isWorthKeeping)
    }

    @Test("clear columns whose property is nil, and leave those without a property")
    func partial() async throws {
        struct Part: Codable, Identifiable, Sendable {
            var id: String
            var text: String?
        }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "x", "int": 5])], table: "items")
        try await store.write { try $0.upsert([Part(id: "1", text: nil)], into: "items") }
        let record = try #require(try await store.read(table: "items", itemID: "1"))
        #expect(record["text"] == .null && record["int"] == 5)
        await store.close()
    }

    /// Two classes, each with coding keys of its own, in one record.
    private class Named: Codable {
        var text: String

        init(text: String) { self.text = text }
    }

    private final class Counted: Named, Identifiable {
        private enum CodingKeys: CodingKey {
            case id, int
        }

        let id: String
        let int: Int

        init(id: String, text: String, int: Int) {
            (self.id, self.int) = (id, int)
            super.init(text: text)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            int = try container.decode(Int.self, forKey: .int)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try super.encode(to: container.superEncoder())
            try container.encode(int, forKey: .int)
        }
    }

    @Test("may have a superclass, whose properties lie in the same row")
    func superclass() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.write { transaction in
            let items = (0..<3).map { Counted(id: "\($0)", text: "text \($0)", int: $0) }
            try transaction.upsert(items, into: "items")
        }
        for index in 0..<3 {
            let record = try await store.read(table: "items", itemID: .string("\(index)"))
            #expect(record?["text"] == .string("text \(index)") && record?["int"] == .int64(Int64(index)))
            try await store.read { reader in
                let item = try #require(try reader.item(.string("\(index)"), in: "items", as: Counted.self))
                #expect(item.text == "text \(index)" && item.int == index)
            }
        }
        await store.close()
    }

    /// An item with a property that no column is declared for, nested values, and properties in the column of another
    /// type.
    private struct Mixed: Encodable, Identifiable, Sendable {
        struct Place: Encodable {
            var name: String
            var floors: [Int]
        }

        var id: String
        var text: String?
        var double: Int
        var json: Place?
        var date: Date?
        var other: Place?
        var more: Double?
    }

    @Test("are the same rows in a store that makes records of them first")
    func asRecords() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let memory = MemoryStore(try StoreSchema([.items]))
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let items = (0..<20)
                .map { _ in
                    let place = Mixed.Place(name: "Łódź \(random.next() % 3)", floors: [1, Int(random.next() % 9)])
                    return Mixed(
                        id: "\(random.next() % 40)",
                        text: Bool.random(using: &random) ? "text" : nil,
                        double: Int(random.next() % 100),
                        json: Bool.random(using: &random) ? place : nil,
                        date: Bool.random(using: &random) ? Date(timeIntervalSince1970: 1_767_000_000.123) : nil,
                        other: Bool.random(using: &random) ? place : nil,
                        more: Bool.random(using: &random) ? 0.5 : nil
                    )
                }
            try await store.write { try $0.upsert(items, into: "items") }
            try await memory.write { try $0.upsert(items, into: "items") }
            let query = Query("items").ordered(by: "id")
            let (found, expected) = (try await store.read(query).records, try await memory.read(query).records)
            #expect(found == expected)
        }
        await store.close()
    }

    @Test("with a value that does not fit its column are refused, also when they catch the error; the rest is usable")
    func unfit() async throws {
        struct Stubborn: Encodable, Identifiable, Sendable {
            enum CodingKeys: CodingKey {
                case id, text
            }

            var id: String

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                do { try container.encode(5, forKey: .text) } catch { Issue.record("thrown where it can get lost") }
            }
        }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.write { transaction in
            let error = #expect(throws: StoreError.self) { try transaction.upsert([Stubborn(id: "1")], into: "items") }
            #expect(error?.code == .invalidRecord)
            // Nothing was written by then.
            try transaction.upsert([Record(id: "2", ["text": "x"])], into: "items")
        }
        #expect(try await store.read(Query("items")).records.map(\.id) == ["2"])
        await store.close()
    }

    @Test("behind which one cannot be encoded leave nothing, also when the closure goes on")
    func halfDone() async throws {
        struct Throwing: Encodable, Identifiable, Sendable {
            var id: String

            func encode(to encoder: any Encoder) throws {
                guard id == "good" else { throw CancellationError() }
                var container = encoder.container(keyedBy: Key.self)
                try container.encode("x", forKey: .text)
            }

            private enum Key: CodingKey {
                case text
            }
        }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        await #expect(throws: CancellationError.self) {
            try await store.write { transaction in
                #expect(throws: CancellationError.self) {
                    try transaction.upsert([Throwing(id: "good"), Throwing(id: "bad")], into: "items")
                }
                try transaction.upsert([Record(id: "later")], into: "items")
            }
        }
        #expect(try await store.read(Query("items")).records.isEmpty)
        // With nothing written before, the rest of a transaction is usable.
        try await store.write { transaction in
            #expect(throws: CancellationError.self) { try transaction.upsert([Throwing(id: "bad")], into: "items") }
            try transaction.upsert([Record(id: "later")], into: "items")
        }
        #expect(try await store.read(Query("items")).records.map(\.id) == ["later"])
        await store.close()
    }

    @Test("that do not fit are an error that names the property and not the value")
    func misfit() async throws {
        struct Wrong: Codable, Identifiable, Sendable {
            var id: String
            var text: Int
        }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "secret"])], table: "items")
        let error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.item("1", in: "items", as: Wrong.self) }
        }
        #expect(error?.code == .invalidItem)
        #expect(error?.message.contains("text") == true && error?.description.contains("secret") == false)
        await store.close()
    }
}

@Suite("Rows of changing shapes")
struct RowShapeTests {
    @Test("keep what a record leaves out, and the finer text of a date only as long as the date stays")
    func shapes() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let finer = try #require(Timestamp("2024-01-02T03:04:05.1234567Z"))
        let plain = Timestamp(milliseconds: finer.milliseconds)
        let records = [
            Record(id: "1", ["text": "a", "date": .date(finer)]), Record(id: "2", ["date": .date(plain)]),
            Record(id: "1", ["int": 1]), Record(id: "3", ["date": .date(finer), "extra": 5]),
            Record(id: "3", ["date": .date(plain)]), Record(id: "4"), Record(id: "2", ["extra": "x", "text": .null]),
            Record(id: "4", ["bytes": .bytes([UInt8](repeating: 1, count: 200_000)), "text": "after"]),
            Record(id: "5", ["text": ""]), Record(id: "5", ["bytes": .bytes([])]),
        ]
        try await store.write { try $0.upsert(records, into: "items") }
        func value(_ id: RecordID, _ name: String) async throws -> FieldValue? {
            try await store.read(table: "items", itemID: id)?[name]
        }
        #expect(try await value("1", "date")?.dateValue?.finerText == finer.finerText)
        #expect(try await value("1", "text") == "a")
        #expect(try await value("1", "int") == 1)
        #expect(try await value("3", "date") == .date(plain))
        #expect(try await value("3", "extra") == 5)
        #expect(try await value("2", "extra") == "x")
        #expect(try await value("4", "bytes")?.bytesValue?.count == 200_000)
        #expect(try await value("4", "text") == "after")
        #expect(try await value("5", "text") == "")
        #expect(try await value("5", "bytes") == .bytes([]))
        await store.close()
    }
}
