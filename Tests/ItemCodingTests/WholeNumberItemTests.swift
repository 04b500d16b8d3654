import ItemCoding
import ReferenceStore
import SyncContract
import Testing

@Suite("Whole numbers of items")
struct WholeNumberItemTests {
    private struct Item: Codable, Equatable {
        var int: Int, int8: Int8, int16: Int16, int32: Int32, int64: Int64
        var uint: UInt, uint8: UInt8, uint16: UInt16, uint32: UInt32, uint64: UInt64
    }

    private struct OptionalItem: Codable {
        var int: Int?, int8: Int8?, int16: Int16?, int32: Int32?, int64: Int64?
        var uint: UInt?, uint8: UInt8?, uint16: UInt16?, uint32: UInt32?, uint64: UInt64?
    }

    private static func bounds<Number: FixedWidthInteger>(_ type: Number.Type) -> ClosedRange<Int64> {
        Int64(clamping: type.min)...Int64(clamping: type.max)
    }

    /// What of each property's type a column can hold.
    private static let bounds: [(name: String, type: Any.Type, range: ClosedRange<Int64>)] = [
        ("int", Int.self, bounds(Int.self)), ("int8", Int8.self, bounds(Int8.self)),
        ("int16", Int16.self, bounds(Int16.self)), ("int32", Int32.self, bounds(Int32.self)),
        ("int64", Int64.self, bounds(Int64.self)), ("uint", UInt.self, bounds(UInt.self)),
        ("uint8", UInt8.self, bounds(UInt8.self)), ("uint16", UInt16.self, bounds(UInt16.self)),
        ("uint32", UInt32.self, bounds(UInt32.self)), ("uint64", UInt64.self, bounds(UInt64.self)),
    ]

    private let store: MemoryStore

    init() throws {
        let table = TableDefinition("Item", columns: Self.bounds.map { .init($0.name, .int64) })
        store = MemoryStore(try StoreSchema([table]))
    }

    private func row(_ value: ((name: String, type: Any.Type, range: ClosedRange<Int64>)) -> Int64) -> Record {
        Record(id: "a", Dictionary(uniqueKeysWithValues: Self.bounds.map { ($0.name, .int64(value($0))) }))
    }

    private func read<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
        try #require(try await store.read { try $0.item("a", in: "Item", as: type) })
    }

    @Test("of every width come back at the bounds of their type")
    func bounds() async throws {
        try await store.upsert([row { $0.range.upperBound }], table: "Item")
        let most = Item(
            int: .max,
            int8: .max,
            int16: .max,
            int32: .max,
            int64: .max,
            uint: UInt(Int64.max),
            uint8: .max,
            uint16: .max,
            uint32: .max,
            uint64: UInt64(Int64.max)
        )
        #expect(try await read(Item.self) == most)
        #expect(try await read(OptionalItem.self).uint8 == .max)
        try await store.upsert([row { $0.range.lowerBound }], table: "Item")
        let least = Item(
            int: .min,
            int8: .min,
            int16: .min,
            int32: .min,
            int64: .min,
            uint: 0,
            uint8: 0,
            uint16: 0,
            uint32: 0,
            uint64: 0
        )
        #expect(try await read(Item.self) == least)
        #expect(try await read(OptionalItem.self).int16 == .min)
    }

    @Test("beyond the bounds of their type are an error that names property and type")
    func beyond() async throws {
        for (name, type, range) in Self.bounds {
            for (bound, step) in [(range.lowerBound, Int64(-1)), (range.upperBound, 1)] {
                let (beyond, isBeyondColumn) = bound.addingReportingOverflow(step)
                guard !isBeyondColumn else { continue }
                try await store.upsert([row { $0.name == name ? beyond : 0 }], table: "Item")
                let errors = [
                    await #expect(throws: StoreError.self) { try await read(Item.self) },
                    await #expect(throws: StoreError.self) { try await read(OptionalItem.self) },
                ]
                for error in errors {
                    #expect(error?.code == .invalidItem)
                    #expect(error?.message.contains("property '\(name)' is no \(type)") == true)
                }
            }
        }
    }

    @Test("are nil where the column is null and the property optional, and an error where it is not")
    func null() async throws {
        try await store.upsert([Record(id: "a")], table: "Item")
        #expect(try await read(OptionalItem.self).int32 == nil)
        let error = await #expect(throws: StoreError.self) { try await read(Item.self) }
        #expect(error?.code == .invalidItem)
    }
}
