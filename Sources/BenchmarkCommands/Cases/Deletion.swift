internal import SQLCipherStore
internal import SyncContract

extension BenchmarkCase {
    /// Half the rows, by a query.
    static func deletion(_ databases: Databases) -> BenchmarkCase {
        let half = databases.workload.items.count / 2
        return BenchmarkCase(name: "delete-query", goal: nil, unit: "rows", count: half) {
            try await databases.withNewStore { store in
                let records = databases.workload.records
                try await store.write { try $0.upsert(records, into: Workload.table.name) }
                let query = Query(Workload.table.name).filtered(by: Column("complete") == false)
                return try await timed {
                    try expect(try await store.write { try $0.delete(query) } == half, "delete")
                }
            }
        } twin: { encryption in
            let arrays = databases.workload.arrays
            return try await databases.withNewTwin(encryption) { twin in
                try twin.upsert(arrays, page: arrays.count)
                return try await timed { try expect(try twin.delete() == half, "delete") }
            }
        }
    }
}
