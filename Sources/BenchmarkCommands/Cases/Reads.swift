internal import ItemCoding
internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// Rows by id, each in a transaction of its own.
    static func singleReads(_ databases: Databases) -> [BenchmarkCase] {
        let ids = databases.workload.records.map(\.id).prefix(10_000)
        let twin: @Sendable (Twin) throws -> Void = { twin in
            let arrays = databases.workload.arrays
            try expect(
                try twin.readByID(arrays, count: ids.count, inOneTransaction: false) == ids.count,
                "read by id"
            )
        }
        return [
            reading("read-each", 0.6, ids.count, databases, store: { try await readEach(ids, of: $0) }, twin: twin),
            reading(
                "read-each-main",
                nil,
                ids.count,
                databases,
                store: { try await readOnMain(ids, of: $0) },
                twin: twin
            ),
            reading("read-closures", nil, ids.count, databases) { store in
                for id in ids {
                    let record = try await store.read { try $0.record(id, in: Workload.table.name) }
                    try expect(record != nil, "read by id")
                }
            } twin: {
                try twin($0)
            },
        ]
    }

    private static func readEach(_ ids: ArraySlice<RecordID>, of store: EncryptedStore) async throws {
        for id in ids {
            try expect(try await store.read(table: Workload.table.name, itemID: id) != nil, "read by id")
        }
    }

    /// As an app's user interface does.
    @MainActor
    private static func readOnMain(_ ids: ArraySlice<RecordID>, of store: EncryptedStore) async throws {
        try await readEach(ids, of: store)
    }

    /// Rows by id, all in one transaction.
    static func blockReads(_ databases: Databases) -> [BenchmarkCase] {
        let ids = databases.workload.records.map(\.id)
        return [
            reading("read-block", 0.6, ids.count, databases) { store in
                try await store.read { reader in
                    for id in ids { try expect(try reader.record(id, in: Workload.table.name) != nil, "read by id") }
                }
            } twin: { twin in
                let arrays = databases.workload.arrays
                try expect(
                    try twin.readByID(arrays, count: ids.count, inOneTransaction: true) == ids.count,
                    "read by id"
                )
            }
        ]
    }

    /// A filtered, ordered query, and all rows; each on a store that was just opened.
    static func scans(_ databases: Databases) -> [BenchmarkCase] {
        let query = Query(Workload.table.name).filtered(by: Column("complete") == false).ordered(by: "priority")
        let half = databases.workload.items.count / 2
        let all = databases.workload.items.count
        return [
            reading("query-records", 0.3, half, databases) { store in
                try expect(try await store.read { try $0.records(query).count } == half, "query")
            } twin: { twin in
                try expect(try twin.query() == half, "query")
            },
            reading("query-items", 0.15, half, databases) { store in
                let found = try await store.read { try $0.items(query, as: Workload.Item.self).count }
                try expect(found == half, "query")
            } twin: { twin in
                try expect(try twin.query() == half, "query")
            },
            reading("scan-records", 0.3, all, databases) { store in
                let found = try await store.read { reader in
                    var found = 0
                    try reader.forEach(Query(Workload.table.name)) { _ in found += 1 }
                    return found
                }
                try expect(found == all, "scan")
            } twin: { twin in
                try expect(try twin.scan() == all, "scan")
            },
            reading("scan-items", 0.15, all, databases) { store in
                let found = try await store.read { reader in
                    var found = 0
                    try reader.forEach(Query(Workload.table.name), as: Workload.Item.self) { _ in found += 1 }
                    return found
                }
                try expect(found == all, "scan")
            } twin: { twin in
                try expect(try twin.scan() == all, "scan")
            },
        ]
    }

    /// The rows that wait to be sent, one in a hundred, and all rows with their states.
    static func states(_ databases: Databases) -> [BenchmarkCase] {
        let query = Query(Workload.table.name)
        let (waiting, all) = (databases.workload.waitingCount, databases.workload.items.count)
        return [
            reading("state-query", 0.3, waiting, databases) { store in
                let found = try await store.read {
                    try $0.records(query.filtered(by: Column.syncState == .pending)).count
                }
                try expect(found == waiting, "query by state")
            } twin: { twin in
                try expect(try twin.waiting() == waiting, "query by state")
            },
            reading("state-scan", 0.3, all, databases) { store in
                let found = try await store.read { reader in
                    var found = 0
                    try reader.forEach(query.includingSyncStates()) { if $0.syncState == .pending { found += 1 } }
                    return found
                }
                try expect(found == waiting, "scan with states")
            } twin: { twin in
                try expect(try twin.scanStates() == all, "scan with states")
            },
        ]
    }

    /// Opens the filled database anew for every run, so that no page is in its cache.
    static func reading(
        _ name: String,
        _ goal: Double?,
        _ count: Int,
        _ databases: Databases,
        store read: @escaping @Sendable (EncryptedStore) async throws -> Void,
        twin readTwin: @escaping @Sendable (Twin) throws -> Void
    ) -> BenchmarkCase {
        BenchmarkCase(name: name, goal: goal, unit: "rows", count: count) {
            let store = try await databases.openStore(databases.filledStore())
            let duration = try await timed { try await read(store) }
            await store.close()
            return duration
        } twin: { encryption in
            let twin = try Twin(await databases.filledTwin(encryption), encryption)
            return try await timed { try readTwin(twin) }
        }
    }
}
