internal import Foundation
internal import OfflineSync
internal import RemoteContract
internal import SQLCipherStore
internal import SeededNumbers
internal import SyncContract

/// How much longer it takes to open a large store than one without rows.
func opening(_ large: URL, _ databases: Databases, rounds: Int) async throws -> GrowthCheck {
    let empty = databases.folder.newFile()
    await (try databases.openStore(empty)).close()
    let query = Query(Workload.table.name).limited(to: 1)
    let ratio = try await medianRatio(rounds: rounds) { isLarge in
        var opened: EncryptedStore?
        let duration = try await timed {
            let store = try await databases.openStore(isLarge ? large : empty)
            _ = try await store.read { try $0.first(query) }
            opened = store
        }
        await opened?.close()
        return duration
    }
    return GrowthCheck("opening the large store, to an empty one", ratio, limit: 1.25, "times")
}

/// How much longer a durable insert takes while many operations wait than while none does.
func pendingOperations(_ count: Int, _ databases: Databases, rounds: Int) async throws -> GrowthCheck {
    let (none, many) = (databases.folder.newFile(), databases.folder.newFile())
    let full = try await databases.openStore(many, durability: .full)
    var generator = SeededGenerator(seed: Workload.seed)
    for first in stride(from: 0, to: count, by: 1_000) {
        let items = (first..<min(first + 1_000, count)).map { Workload.item($0, &generator) }
        try await full.write { transaction in
            try transaction.upsert(items.map(Workload.record), into: Workload.table.name)
            let operations = items.enumerated().map { Workload.operation(first + $0 + 1, on: $1.id) }
            try transaction.upsert(operations, into: SystemTables.operations.name)
        }
    }
    let empty = try await databases.openStore(none, durability: .full)
    let remote = UnavailableRemote(RemoteError(.unreachable, "there is no server in a benchmark"))
    let tables = try [empty, full]
        .map { store in
            try SyncContext(store: store, remote: remote).table(Workload.table.name, of: Workload.Item.self)
        }
    let ratio = try await medianRatio(rounds: rounds) { isLarge in
        let items = (0..<10).map { Workload.item($0, &generator) }
        return try await timed { for item in items { try await tables[isLarge ? 1 : 0].insert(item) } }
    }
    await empty.close()
    await full.close()
    return GrowthCheck("a durable insert, to one with nothing waiting", ratio, limit: 1.25, "times")
}

/// The median of how much longer the large takes than the small, measured in turns.
private func medianRatio(
    rounds: Int,
    _ measure: (_ isLarge: Bool) async throws -> Duration
) async throws -> Double {
    var ratios: [Double] = []
    for round in 0...rounds {
        let isFirst = round.isMultiple(of: 2)
        let first = try await measure(isFirst)
        let second = try await measure(!isFirst)
        // The first round warms up what a process does once.
        if round > 0 { ratios.append(isFirst ? first / second : second / first) }
    }
    return ratios.median
}
