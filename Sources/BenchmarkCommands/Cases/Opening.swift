internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// From nothing to the first row, with a raw key; closing is not counted.
    static func opening(_ databases: Databases) -> BenchmarkCase {
        let count = min(databases.workload.items.count, 50)
        let first = Query(Workload.table.name).limited(to: 1)
        return BenchmarkCase(name: "open", goal: 0.8, unit: "opens", count: count) {
            let file = try await databases.filledStore()
            return try await total(of: count) { add in
                var store: EncryptedStore?
                add(
                    try await timed {
                        let opened = try await databases.openStore(file, durability: .full)
                        try expect(try await opened.read { try $0.first(first) } != nil, "first row")
                        store = opened
                    }
                )
                await store?.close()
            }
        } twin: { encryption in
            let file = try await databases.filledTwin(encryption)
            return try await total(of: count) { add in
                var twin: Twin?
                add(try await timed { twin = try Twin(readingFirstRowOf: file, encryption) })
                withExtendedLifetime(twin) {}
            }
        }
    }

    private static func total(
        of count: Int,
        _ body: ((Duration) -> Void) async throws -> Void
    ) async throws -> Duration {
        var total = Duration.zero
        for _ in 0..<count { try await body { total += $0 } }
        return total
    }
}
