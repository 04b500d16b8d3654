internal import DatasyncHTTP
internal import Foundation
internal import HTTPTransport
internal import OfflineSync
internal import RemoteContract
internal import SQLCipherStore
internal import SyncContract

/// What the cases share.
struct SyncBench: Sendable {
    let workload: SyncWorkload
    let stores: SyncStores
    let servers = ServerProcesses()

    init(_ workload: SyncWorkload, folder: TemporaryFolder) throws {
        self.workload = workload
        stores = try SyncStores(folder: folder)
    }

    /// All cases, in the order of the report.
    var cases: [SyncCase] { localChanges + pushes + pulls + idleness }

    /// A context that reaches nobody.
    func context(_ store: EncryptedStore) -> SyncContext {
        let remote = UnavailableRemote(RemoteError(.unreachable, "There is no server in a benchmark."))
        return SyncContext(store: store, remote: remote)
    }

    /// A context with a server.
    func context(
        _ store: EncryptedStore,
        _ server: ServerProcess,
        _ transport: any ClientTransport,
        parallel: Int = 1
    ) throws -> SyncContext {
        let remote = try DatasyncRemote(baseURL: server.url, dialect: server.dialect, transport: transport)
        return SyncContext(
            store: store,
            remote: remote,
            options: SyncOptions(parallelOperations: parallel, pageSize: 1_000)
        )
    }
}

extension ServerProcess {
    fileprivate var dialect: DatasyncDialect { kind.protocolNumber == 2 ? .azureMobileApps : .datasync }
}
