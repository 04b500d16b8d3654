internal import CBenchmarkTwin
internal import Foundation
internal import SeededNumbers
internal import SyncContract

/// The rows that all engines write and read: the same values in the form each of them takes.
struct Workload: Sendable {
    /// A row as an item. Five columns, of five types.
    struct Item: Codable, Identifiable, Sendable {
        var id: String
        var text: String
        var complete: Bool
        var priority: Int
        var score: Double
        var due: Date
    }

    /// The table of the items. Without system properties, which the twin would have to carry as nulls.
    static let table = TableDefinition(
        "Item",
        columns: [
            .init("text", .string), .init("complete", .bool), .init("priority", .int64), .init("score", .double),
            .init("due", .date),
        ],
        systemProperties: []
    )

    /// The same in every run, so that runs can be compared.
    static let seed: UInt64 = 0x5EA1

    let items: [Item]
    /// How many rows of a filled database wait to be sent: the first ones.
    var waitingCount: Int { max(1, items.count / 100) }
    let records: [Record]
    let operations: [Record]
    let arrays: TwinArrays

    /// Makes rows with random ids; the same ones in every run.
    init(rows: Int) {
        var generator = SeededGenerator(seed: Workload.seed)
        items = (0..<rows).map { Self.item($0, &generator) }
        records = items.map(Self.record)
        operations = items.enumerated().map { Self.operation($0 + 1, on: $1.id) }
        arrays = TwinArrays(items)
    }

    static func item(_ index: Int, _ generator: inout SeededGenerator) -> Item {
        Item(
            id: generator.id(),
            text: "Item \(index) " + String(repeating: "x", count: Int(generator.next() % 40)),
            complete: index.isMultiple(of: 2),
            priority: Int(generator.next() % 1_000),
            score: Double(generator.next() % 1_000_000) / 7,
            due: Date(timeIntervalSince1970: Double(1_700_000_000_000 + generator.next() % 100_000_000) / 1_000)
        )
    }

    static func record(_ item: Item) -> Record {
        Record(
            id: .string(item.id),
            [
                "text": .string(item.text), "complete": .bool(item.complete), "priority": .int64(Int64(item.priority)),
                "score": .double(item.score), "due": .date(Timestamp(milliseconds: item.dueMilliseconds)),
            ]
        )
    }

    /// An operation as the engine queues it.
    static func operation(_ number: Int, on id: String) -> Record {
        Record(
            id: .int64(Int64(number)),
            [
                "table": .string(table.name), "tableKind": 0, "itemId": .string(id), "itemKey": .string(id),
                "properties": .bytes(Array(TwinArrays.properties.utf8)), "baseVersion": .null, "editCounter": 0,
                "state": 0, "attempted": false, "serverItem": .null,
            ]
        )
    }
}

extension Workload.Item {
    var dueMilliseconds: Int64 { Int64((due.timeIntervalSince1970 * 1_000).rounded()) }
}

extension SeededGenerator {
    /// A random UUID in upper case.
    mutating func id() -> String {
        let (high, low) = (next(), next())
        let bytes =
            (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * $0)) }
        return unsafe UUID(uuid: bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: uuid_t.self) }).uuidString
    }
}
