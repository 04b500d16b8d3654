internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// Rows that come: against the same bytes fetched and dropped, and the twin's upsert of the same rows.
    var pulls: [SyncCase] { [pull("pull-new", at: StoreSize())] }

    func pull(_ name: String, at size: StoreSize) -> SyncCase {
        let kind = ServerProcess.Kind(rows: workload.rows)
        let (record, rows) = (RequestRecord(), SyncedArray(SyncWorkload.serverItems(workload.rows)))
        return SyncCase(
            name: name,
            unit: "row",
            count: workload.rows,
            goal: .init(elapsed: 1.3, processor: 2)
        ) { [self] in
            let server = try await servers.server(kind)
            return try await stores.withStore(size) { store in
                let context = try context(store, server, record.transport())
                let query = try context.table(SyncWorkload.table().name).query
                return try await measured {
                    // Rows that are there already are brought all the same, but do not count.
                    let report = try await context.pull(query, options: .init(order: .pullOnly))
                    try expect(report.received == workload.rows - size.rows && report.isComplete, "pull")
                }
            }
        } floor: { [self] in
            let requests = record.requests
            let fetched = try await measured { try await RequestLoop.send(requests, parallel: 1) }
            return try await stores.withTwin(size) { twin in
                fetched + (try await measured { try twin.upsert(rows, page: 1_000) })
            }
        }
    }
}
