import RemoteContract
import SyncContract

/// A remote that does some calls in another way than the one it wraps.
struct FaultyRemote: SyncRemote {
    typealias Insert = @Sendable (any SyncRemote, Record, TableDefinition) async throws -> Record
    typealias Update = @Sendable (any SyncRemote, Record, TableDefinition, String?, Bool) async throws -> Record
    typealias Delete = @Sendable (any SyncRemote, String, TableDefinition, String?) async throws -> RemoteDeletion
    typealias WriteTombstone = @Sendable (any SyncRemote, Record, TableDefinition, String?) async throws -> Record?
    typealias Read = @Sendable (any SyncRemote, String, TableDefinition) async throws -> Record?
    typealias Confirm = @Sendable (any SyncRemote, TableDefinition) async throws -> Void
    typealias Page = @Sendable (any SyncRemote, PageRequest) async throws -> PullPage
    typealias Repeat = @Sendable (any SyncRemote, Record, TableDefinition, String) -> Bool
    typealias Send =
        @Sendable (any SyncRemote, [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>]

    /// What a page is asked for with.
    struct PageRequest: Sendable {
        var query: Query
        var table: TableDefinition
        var position: PullPosition
        var pageSize: Int?
        var parameters: [String: String] = [:]

        func ask(_ remote: any SyncRemote) async throws -> PullPage {
            try await remote.page(query, of: table, at: position, pageSize: pageSize, parameters: parameters)
        }
    }

    let base: any SyncRemote
    var inserting: Insert = { try await $0.insert($1, into: $2) }
    var updating: Update = { try await $0.update($1, in: $2, version: $3, restoring: $4) }
    var deleting: Delete = { try await $0.delete($1, from: $2, version: $3) }
    var tombstone: WriteTombstone = { try await $0.writeTombstone($1, in: $2, version: $3) }
    var reading: Read = { try await $0.record($1, in: $2) }
    var confirming: Confirm = { try await $0.confirm($1) }
    var paging: Page = { try await $1.ask($0) }
    var sending: Send = { try await $0.send($1) }
    var repeating: Repeat = { $0.mayRepeat($1, of: $2, after: $3) }
    var replacing: Bool?
    var rule: RowIDRule?
    var batchSize: Int?

    init(_ base: any SyncRemote) { self.base = base }

    var replacesWholeRows: Bool { replacing ?? base.replacesWholeRows }
    var idRule: RowIDRule { rule ?? base.idRule }
    var restoresInSteps: Bool { base.restoresInSteps }
    var keepsCreatedAt: Bool { base.keepsCreatedAt }
    var maximumBatchSize: Int { batchSize ?? base.maximumBatchSize }

    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        try await sending(base, batch)
    }
    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await inserting(base, record, table)
    }
    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        try await updating(base, record, table, version, restoring)
    }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await deleting(base, id, table, version)
    }
    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        try await tombstone(base, record, table, version)
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { try await reading(base, id, table) }
    func confirm(_ table: TableDefinition) async throws { try await confirming(base, table) }
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await page(query, of: table, at: position, pageSize: pageSize, parameters: [:])
    }
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let request = PageRequest(
            query: query,
            table: table,
            position: position,
            pageSize: pageSize,
            parameters: parameters
        )
        return try await paging(base, request)
    }
    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        repeating(base, row, table, cursor)
    }
}
