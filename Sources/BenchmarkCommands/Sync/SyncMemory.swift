internal import HTTPTransport
internal import OfflineSync
internal import SyncContract

extension SyncBench {
    /// What ``memoryChecks()`` is called by `--case`.
    static let memoryName = "growth-memory"

    /// How much memory a large pull takes, and changes and a push while many changes wait: above what the process has had
    /// before, so this comes before all that keeps rows in memory.
    func memoryChecks() async throws -> [GrowthCheck] {
        let name = SyncWorkload.table().name
        let server = try await servers.server(.init(rows: workload.rows))
        let waiting = StoreSize(waiting: workload.waiting)
        _ = try await stores.store(waiting)
        var checks: [GrowthCheck] = []
        func check(_ what: String, _ body: () async throws -> Void) async throws {
            let before = PeakMemory.bytes
            try await body()
            let grown = Double(PeakMemory.bytes - before) / 1_048_576
            checks.append(GrowthCheck("memory of \(what), above what there was", grown, limit: 64, "MiB"))
        }
        try await check("changes behind a long queue") {
            try await stores.withStore(waiting) { store in
                let context = context(store)
                let table = try context.table(name, of: Workload.Item.self)
                for item in ItemSource.first(min(workload.changes, 500), .new) { try await table.insert(item) }
            }
        }
        try await check("a pull of \(workload.rows) rows") {
            try await stores.withStore(StoreSize()) { store in
                let context = try context(store, server, DefaultTransport())
                _ = try await context.pull(context.table(name).query, options: .init(order: .pullOnly))
            }
        }
        let other = try await servers.server(.init())
        try await check("a push out of a long queue") {
            try await stores.withStore(waiting) { store in
                let transport = RequestRecord.ending(after: min(workload.changes, workload.waiting - 1, 500))
                let context = try context(store, other, transport)
                do {
                    _ = try await context.push()
                } catch let error as SyncError where error.code == .pushAbortedNetwork {
                    // As it should.
                }
            }
        }
        return checks
    }
}
