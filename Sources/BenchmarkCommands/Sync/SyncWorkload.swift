internal import Foundation
internal import SeededNumbers
internal import SyncContract

/// How much is done in one run.
struct SyncWorkload: Sendable {
    /// How many rows the server has.
    let rows: Int
    /// How many changes are made, or pushed.
    let changes: Int
    /// How many changes wait where many do.
    let waiting: Int

    /// A table as a store declares it: the columns of the store's benchmarks, and what the server says about each row.
    static func table(_ number: Int = 0) -> TableDefinition {
        TableDefinition(
            number == 0 ? "TodoItem" : "TodoItem\(number)",
            columns: Workload.table.columns,
            systemProperties: [.updatedAt, .version]
        )
    }

    /// When the server wrote a row, in milliseconds since 1970: one a second.
    static func stamp(_ place: Int) -> Int64 { 1_700_000_000_000 + Int64(place) * 1_000 }

    /// The version that the server gave a row.
    static func version(_ place: Int) -> String { Data("version \(place)".utf8).base64EncodedString() }

    /// A row of the server as the store has it.
    static func serverRecord(_ item: Workload.Item, _ place: Int) -> Record {
        var record = Workload.record(item)
        record["updatedAt"] = .date(Timestamp(milliseconds: stamp(place)))
        record["version"] = .string(version(place))
        return record
    }

    /// An operation for an item that was inserted, as the engine queues it.
    static func operation(_ number: Int, on id: String) -> Record {
        var record = Workload.operation(number, on: id)
        record["table"] = .string(table().name)
        return record
    }
}

/// Items of one kind, the same ones in every run.
struct ItemSource: Sendable {
    /// What items are there for; no item is of two kinds.
    enum Kind: UInt64, Sendable {
        /// Those that a pull brings.
        case served
        /// Those that a store and the server have, and that no pull brings.
        case settled
        /// Those whose insertion waits.
        case waiting
        /// Those that a measurement inserts.
        case new
    }

    private let kind: Kind
    private var generator: SeededGenerator
    private var place = 0

    init(_ kind: Kind) {
        self.kind = kind
        generator = SeededGenerator(seed: Workload.seed + kind.rawValue)
    }

    mutating func next(_ count: Int) -> [Workload.Item] {
        defer { place += count }
        return (place..<place + count)
            .map { place in
                var item = Workload.item(place, &generator)
                if let made = kind.made { item.id = item.id(made: made + place) }
                return item
            }
    }

    /// The first items of a kind.
    static func first(_ count: Int, _ kind: Kind) -> [Workload.Item] {
        var source = Self(kind)
        return source.next(count)
    }

    /// Hands the first items of a kind to a closure, 1,000 at a time, with the place of each page's first one.
    static func forEachPage(
        of count: Int,
        _ kind: Kind,
        _ body: (_ items: [Workload.Item], _ first: Int) async throws -> Void
    ) async throws {
        var source = Self(kind)
        for first in stride(from: 0, to: count, by: 1_000) {
            try await body(source.next(min(1_000, count - first)), first)
        }
    }
}

extension ItemSource.Kind {
    /// When the first item was made on this device, in milliseconds since 1970; nil for those of others.
    fileprivate var made: Int? {
        switch self {
        case .served, .settled: nil
        case .waiting: 1_750_000_000_000
        case .new: 1_760_000_000_000
        }
    }
}

extension Workload.Item {
    /// The item's id as the engine would have made it, one a millisecond: what is made later is greater.
    fileprivate func id(made time: Int) -> String {
        let digits = String(time, radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return "\(padded.prefix(8))-\(padded.suffix(4))-7\(id.dropFirst(15))"
    }
}
