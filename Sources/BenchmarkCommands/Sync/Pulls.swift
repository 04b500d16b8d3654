internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// Rows that come, in pages of 1,000: against the same bytes fetched and dropped, and the twin's upsert of the same
    /// rows.
    var pulls: [SyncCase] {
        let count = workload.rows
        return [
            pull("pull-new", count: count),
            pull("pull-again", count: count, at: StoreSize(served: count)),
            pull("pull-waiting", count: count, at: StoreSize(waiting: workload.waiting)),
            pull("pull-new-v2", protocolNumber: 2, count: count),
        ]
    }

    /// A pull of so many rows into a store of a size.
    func pull(
        _ name: String,
        protocolNumber: Int = 3,
        count: Int,
        at size: StoreSize = StoreSize()
    ) -> SyncCase {
        let kind = ServerProcess.Kind(protocolNumber: protocolNumber, rows: count)
        let record = RequestRecord()
        let arrays = Lazy { SyncArrays(ItemSource.first(count, .served)) }
        return SyncCase(
            name: name,
            unit: "row",
            count: count,
            goal: .init(elapsed: 1.3, processor: 2),
            record: record
        ) { [self] in
            let server = try await servers.server(kind)
            return try await stores.withStore(size) { store in
                let context = try context(store, server, record.transport())
                let query = try context.table(SyncWorkload.table().name).query
                return try await measured {
                    // Rows that are there already are brought all the same, but do not count.
                    let report = try await context.pull(query, options: .init(order: .pullOnly))
                    try expect(report.received == count - size.served && report.isComplete, "pull")
                }
            }
        } floor: { [self] in
            let (requests, arrays) = (record.requests, arrays.value)
            let fetched = try await measured { try await RequestLoop.send(requests, parallel: 1) }
            return try await stores.withTwin(size) { twin in
                fetched + (try await measured { try twin.upsert(arrays, page: 1_000) })
            }
        }
    }
}
