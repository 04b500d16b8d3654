internal import CBenchmarkTwin
internal import Foundation
internal import SeededNumbers
internal import SyncContract

/// The rows that a server has, and the changes that are made to a store.
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

    /// The rows of the server, in the order of their stamps.
    static func serverItems(_ count: Int) -> [Workload.Item] { items(count, seed: Workload.seed) }

    /// Items that the server does not have.
    static func newItems(_ count: Int) -> [Workload.Item] { items(count, seed: Workload.seed + 1) }

    /// Others that it does not have, whose insertion waits.
    static func waitingItems(_ count: Int) -> [Workload.Item] { items(count, seed: Workload.seed + 2) }

    private static func items(_ count: Int, seed: UInt64) -> [Workload.Item] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { Workload.item($0, &generator) }
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

/// Rows of the server as a C array, which is written once and lives as long as the process: that is why it can be shared.
@safe
struct SyncedArray: @unchecked Sendable {
    let items: UnsafeMutableBufferPointer<twin_synced_item>

    init(_ rows: [Workload.Item]) {
        let arrays = TwinArrays(rows)
        unsafe items = .allocate(capacity: rows.count)
        for place in rows.indices {
            unsafe items.initializeElement(
                at: place,
                to: twin_synced_item(
                    item: arrays.items[place],
                    updated_at: SyncWorkload.stamp(place),
                    version: TwinArrays.text(SyncWorkload.version(place))
                )
            )
        }
    }
}
