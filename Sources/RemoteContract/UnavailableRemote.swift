package import SyncContract

/// A remote that answers every request with one error: for work that stays on the device.
package struct UnavailableRemote: SyncRemote {
    package let replacesWholeRows = true
    private let failure: RemoteError

    package init(_ failure: RemoteError) { self.failure = failure }

    package func insert(_ record: Record, into table: TableDefinition) async throws -> Record { throw failure }
    package func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { throw failure }
    package func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        throw failure
    }
    package func writeTombstone(
        _ record: Record,
        in table: TableDefinition,
        version: String?
    ) async throws -> Record? { throw failure }
    package func record(_ id: String, in table: TableDefinition) async throws -> Record? { throw failure }
    package func confirm(_ table: TableDefinition) async throws { throw failure }
    package func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { throw failure }
}
