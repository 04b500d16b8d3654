import RemoteContract
import SyncContract
import Synchronization

/// A server in memory that takes several changes at a time.
final class BatchServer: SyncRemote {
    let rows = GroupServer()
    let maximumBatchSize: Int
    private let sizes = Mutex<[Int]>([])
    private let fate = Mutex<@Sendable ([Result<RemoteOperationAnswer, any Error>]) throws -> [Answer]>(\.self)

    typealias Answer = Result<RemoteOperationAnswer, any Error>

    init(_ maximumBatchSize: Int = 10) { self.maximumBatchSize = maximumBatchSize }

    /// How many changes each batch had.
    var batchSizes: [Int] { sizes.withLock(\.self) }

    /// What becomes of the answer to a batch that was carried out.
    func answer(_ body: @escaping @Sendable ([Answer]) throws -> [Answer]) { fate.withLock { $0 = body } }

    func send(_ batch: [RemoteOperation]) async throws -> [Answer] {
        sizes.withLock { $0.append(batch.count) }
        var answers: [Answer] = []
        for operation in batch {
            do {
                answers.append(.success(try await carryOut(operation)))
            } catch {
                answers.append(.failure(error))
            }
        }
        return try fate.withLock(\.self)(answers)
    }

    private func carryOut(_ operation: RemoteOperation) async throws -> RemoteOperationAnswer {
        switch operation {
        case .insert(let record, let table): .row(try await rows.insert(record, into: table))
        case .update(let record, let table, let version, let restoring):
            .row(try await rows.update(record, in: table, version: version, restoring: restoring))
        case .delete(let id, let table, let version):
            .deletion(try await rows.delete(id, from: table, version: version))
        }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await rows.insert(record, into: table)
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { try await rows.update(record, in: table, version: version, restoring: restoring) }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await rows.delete(id, from: table, version: version)
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await rows.record(id, in: table)
    }

    /// Whether the server fails on everything.
    let isDown = Mutex(false)

    func confirm(_ table: TableDefinition) async throws {
        if isDown.withLock({ $0 }) { throw RemoteError(.serverFailure, "down", status: 500) }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { throw RemoteError(.unreachable, "nothing is pulled here") }
}
