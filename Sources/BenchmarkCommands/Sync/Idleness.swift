internal import HTTPTransport
internal import OfflineSync
internal import SQLCipherStore
internal import SyncContract

extension SyncBench {
    /// Syncs that find nothing to do, against a bare loop of the same requests; and the first look at a store in which many
    /// changes wait.
    var idleness: [SyncCase] { [idle("idle-one", tables: 1), idle("idle-ten", tables: 10), status] }

    private static let syncs = 20

    private func idle(_ name: String, tables: Int) -> SyncCase {
        let kind = ServerProcess.Kind(rows: 100, tables: tables)
        let record = RequestRecord()
        return SyncCase(name: name, unit: "table", count: Self.syncs * tables, record: record) { [self] in
            let server = try await servers.server(kind)
            return try await stores.withStore(StoreSize(tables: tables)) { store in
                _ = try await context(store, server, DefaultTransport()).sync()
                let context = try context(store, server, record.transport())
                return try await measured {
                    for _ in 0..<Self.syncs {
                        let report = try await context.sync()
                        try expect(report.isComplete && report.pull.received == 0, "sync")
                    }
                }
            }
        } floor: {
            let requests = record.requests
            return try await measured { try await RequestLoop.send(requests, parallel: 1) }
        }
    }

    private var status: SyncCase {
        let size = StoreSize(waiting: workload.waiting)
        return SyncCase(name: "open-status", unit: "opening", count: 1) { [self] in
            try await stores.withStoreFile(size) { file in
                var opened: EncryptedStore?
                let cost = try await measured {
                    let store = try await stores.open(file)
                    try expect(try await context(store).status().pending == size.waiting, "status")
                    opened = store
                }
                await opened?.close()
                return cost
            }
        } floor: { [self] in
            try await stores.withTwinFile(size) { file in
                var twin: Twin?
                let cost = try await measured {
                    twin = try Twin(readingStatusOf: file, .encrypted, expecting: size.waiting)
                }
                withExtendedLifetime(twin) {}
                return cost
            }
        }
    }

    /// What an idle table may ask for, and take of the processor.
    static func idleChecks(_ results: [SyncMeasurement]) -> [GrowthCheck] {
        results.filter { $0.name.hasPrefix("idle-") }
            .flatMap { result in
                [
                    GrowthCheck("requests for a table, \(result.name)", result.requests ?? 0, limit: 1, "requests"),
                    GrowthCheck(
                        "processor time of a table, \(result.name)",
                        result.processor.microseconds / 1_000,
                        limit: 1,
                        "ms"
                    ),
                ]
            }
    }
}
