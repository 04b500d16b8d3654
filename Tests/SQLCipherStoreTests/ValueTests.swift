import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Values come back as they went in")
struct ValueTests {
    private static let values: [(String, FieldValue)] = [
        ("bool", true), ("bool", false), ("int", .int64(.max)), ("int", .int64(.min)), ("int", 0),
        ("double", 0.1), ("double", .double(-0.0)), ("double", .double(.infinity)), ("double", .double(-.infinity)),
        ("double", .double(.leastNonzeroMagnitude)), ("double", .double(.greatestFiniteMagnitude)), ("double", 3.0),
        ("double", .double(1e15)), ("double", .double(123_456_789_012_345_680)),
        ("decimal", .decimal(DecimalText("1.10")!)), ("decimal", .decimal(DecimalText("-0")!)),
        ("decimal", .decimal(DecimalText("123456789012345678901234567890.5")!)),
        ("decimal", .decimal(DecimalText("1E+3")!)), ("text", ""), ("text", "a\0b"), ("text", "\0"), ("text", "007"),
        ("text", "1e5"), ("text", "e\u{301}"), ("text", "\u{E9}"), ("text", "\u{FEFF}x"), ("text", "😀"),
        ("text", .string(String(repeating: "x", count: 100_000))), ("date", .date(Timestamp(milliseconds: 0))),
        ("date", .date(Timestamp(milliseconds: .min))), ("date", .date(Timestamp(milliseconds: .max))),
        ("date", .date(Timestamp("2024-02-29T12:00:00.1234567+02:00")!)), ("bytes", .bytes([])), ("bytes", .bytes([0])),
        ("bytes", .bytes(Array(repeating: 255, count: 100_000))), ("json", .json(JSONText("{\"b\": 1, \"a\":[ ]}")!)),
        ("json", .json(JSONText("1.50")!)),
    ]

    @Test("of every type, in a declared column and under an undeclared key")
    func everyType() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        for (column, value) in Self.values {
            for name in [column, "undeclared", "\u{301}odd:\"key\0", "Text", "__sealed_extra", "deleted"] {
                try await store.upsert([Record(id: "1", [name: value])], table: "items")
                let read = try await store.read(table: "items", itemID: "1")?[name]
                #expect(read == value, "\(name)")
                // Equality takes 0 and -0 for one.
                #expect(read?.doubleValue?.bitPattern == value.doubleValue?.bitPattern)
                try await store.upsert([Record(id: "1", [name: .null])], table: "items")
                #expect(try await store.read(table: "items", itemID: "1")?[name] == .null)
            }
        }
        await store.close()
    }

    @Test("ids of every kind, the empty one and one with a U+0000 included")
    func ids() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])
        let ids = ["", "a", "A", "a\0b", "a\0c", "A\0B", "é", "e\u{301}", "%", "'", "\""]
        for table in ["items", "folding"] {
            try await store.upsert(ids.map { Record(id: .string($0), ["text": .string($0)]) }, table: table)
        }
        #expect(try await store.read(Query("items")).records.count == ids.count)
        #expect(
            try await store.read(Query("folding")).records.map(\.id) == [
                "", "\"", "%", "'", "A", "A\0B", "a\0c", "e\u{301}", "é",
            ]
        )
        for id in ids {
            #expect(try await store.read(table: "items", itemID: .string(id))?["text"] == .string(id))
        }
        await store.close()
    }

    @Test("a whole number is taken by double and decimal columns, and a NaN by none")
    func conversions() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["double": 5, "decimal": 7])], table: "items")
        let record = try #require(try await store.read(table: "items", itemID: "1"))
        #expect(record["double"] == 5.0)
        #expect(record["decimal"] == .decimal(DecimalText("7")!))
        for (name, value) in [("double", FieldValue.double(.nan)), ("int", 1.5), ("text", 1), ("other", .double(.nan))]
        {
            let found = try await code { try await store.upsert([Record(id: "1", [name: value])], table: "items") }
            #expect(found == .invalidRecord, "\(name)")
        }
        #expect(try await store.read(table: "items", itemID: "1") == record)
        await store.close()
    }

    @Test("the finer text of a date lasts until the date is written again, be it to the same millisecond")
    func finerDates() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let finer = Timestamp("2024-01-01T00:00:00.1234567Z")!
        func date() async throws -> Timestamp? { try await store.read(table: "items", itemID: "1")?["date"]?.dateValue }
        try await store.upsert([Record(id: "1", ["date": .date(finer)])], table: "items")
        #expect(try await date() == finer)
        #expect(try await store.read(Query("items").selecting(["date"])).records.first?["date"] == .date(finer))
        try await store.upsert([Record(id: "1", ["text": "other", "undeclared": 1])], table: "items")
        #expect(try await date() == finer)
        try await store.upsert(
            [Record(id: "1", ["date": .date(Timestamp(milliseconds: finer.milliseconds))])],
            table: "items"
        )
        #expect(try await date()?.finerText == nil)
        #expect(try await store.read(table: "items", itemID: "1")?["undeclared"] == 1)
        await store.close()
    }

    @Test("numbers are the ids of the operations table, in numeric order")
    func numericIDs() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let ids: [Int64] = [10, 9, -1, .max, .min, 0]
        try await store.upsert(ids.map { Record(id: .int64($0), ["itemId": "x"]) }, table: "MS_TableOperations")
        let read = try await store.read(Query("MS_TableOperations")).records.map(\.id)
        #expect(read == ids.sorted().map(RecordID.int64))
        #expect(
            try await code { try await store.upsert([Record(id: "1")], table: "MS_TableOperations") } == .invalidRecord
        )
        #expect(try await code { _ = try await store.read(table: "items", itemID: 1) } == .invalidRecord)
        await store.close()
    }

    /// Writes rows, opens the store again, and reads them.
    private func reopened(_ records: [Record]) async throws -> [Record] {
        let folder = try TestFolder()
        let first = try await EncryptedStore.open(in: folder)
        try await first.upsert(records, table: "items")
        await first.close()
        let second = try await EncryptedStore.open(in: folder)
        let read = try await second.read { reader in
            try records.map { try reader.record($0.id, in: "items") ?? Record(id: "missing") }
        }
        await second.close()
        return read
    }

    @Test("after the store was opened again, in a column and under an undeclared key")
    func reopening() async throws {
        let megabyte = String(repeating: "Aé日😀\0", count: 100_000)
        let values =
            Self.values + [
                ("text", .string(megabyte)), ("bytes", .bytes((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0) })),
                (
                    "decimal",
                    .decimal(DecimalText("-0.000" + String(repeating: "1234567890", count: 50) + "E-999999999999")!)
                ),
                ("date", .date(Timestamp("1969-12-31T23:59:59.9999999-12:34")!)),
                ("date", .date(Timestamp("0001-01-01T00:00:00.001Z")!)),
                ("json", .json(JSONText(" {\"a\" : [1.0, 1e2,{\"\\u0041\\ud83d\\ude00\":null}],\"a\":\"\\/\" }\n")!)),
                ("json", .json(JSONText("[\"" + megabyte.replacing("\0", with: "") + "\"]")!)),
            ]
        let records = values.enumerated()
            .map { index, value in
                Record(id: .string("\(index)"), [value.0: value.1, "undeclared": value.1, "empty": "", "null": .null])
            }
        for (record, (column, value)) in zip(try await reopened(records), values) {
            // Not through the description: a megabyte says nothing.
            let isSame = record[column] == value && record["undeclared"] == value
            #expect(isSame, "record \(record.id)")
            #expect(record[column]?.doubleValue?.bitPattern == value.doubleValue?.bitPattern)
            #expect(record["undeclared"]?.doubleValue?.bitPattern == value.doubleValue?.bitPattern)
            #expect(record["empty"] == "" && record["null"] == .null)
            let others = ["bool", "int", "double", "decimal", "text", "date", "bytes", "json"].filter { $0 != column }
            #expect(others.allSatisfy { record[$0] == .null })
        }
    }

    @Test("doubles to the last bit, whatever their bits")
    func doubles() async throws {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        let doubles = (0..<5_000).map { _ in Double(bitPattern: generator.next()) }.filter { !$0.isNaN }
        let records = doubles.enumerated()
            .map { Record(id: .string("\($0)"), ["double": .double($1), "other": .double($1)]) }
        for (record, double) in zip(try await reopened(records), doubles) {
            #expect(record["double"]?.doubleValue?.bitPattern == double.bitPattern, "seed \(seed)")
            #expect(record["other"]?.doubleValue?.bitPattern == double.bitPattern, "seed \(seed)")
        }
    }

    @Test("every scalar of Unicode, in texts and in ids")
    func unicode() async throws {
        let scalars = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        #expect(scalars.count == 1_112_064)
        let texts = stride(from: 0, to: scalars.count, by: 4_096)
            .map { String(String.UnicodeScalarView(scalars[$0..<min($0 + 4_096, scalars.count)])) }
        let records = texts.map { Record(id: .string($0), ["text": .string($0), "other": .string($0)]) }
        for (record, text) in zip(try await reopened(records), texts) {
            let isSame =
                record.id == .string(text) && record["text"] == .string(text) && record["other"] == .string(text)
            #expect(isSame, "texts from U+\(String(text.unicodeScalars.first?.value ?? 0, radix: 16))")
        }
    }
}
