internal import RemoteContract
internal import SyncContract

/// Answers nothing: for looks at a store.
struct NoRemote: SyncRemote {
    private static var failure: RemoteError { RemoteError(.unreachable, "there is no server") }

    var replacesWholeRows: Bool { true }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { throw Self.failure }
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { throw Self.failure }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        throw Self.failure
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { throw Self.failure }
    func confirm(_ table: TableDefinition) async throws { throw Self.failure }
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { throw Self.failure }
}
