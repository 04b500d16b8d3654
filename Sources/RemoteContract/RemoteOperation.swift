public import SyncContract

/// One change, as ``SyncRemote/send(_:)`` takes it: what one of the single calls would be given.
public enum RemoteOperation: Sendable, Hashable {
    /// As ``SyncRemote/insert(_:into:)``.
    case insert(Record, into: TableDefinition)
    /// As ``SyncRemote/update(_:in:version:restoring:)``.
    case update(Record, in: TableDefinition, version: String?, restoring: Bool)
    /// As ``SyncRemote/delete(_:from:version:)``.
    case delete(String, from: TableDefinition, version: String?)
}

/// What became of one change of a batch that the server took.
public enum RemoteOperationAnswer: Sendable, Hashable {
    /// The row as the server keeps it after an insert or an update.
    case row(Record)
    /// What the server said to a deletion.
    case deletion(RemoteDeletion)
}

// What remotes have unless they say otherwise.
extension SyncRemote {
    /// The rule that every server of the original SDKs can be told: ``RowIDRule/standard``.
    public var idRule: RowIDRule { .standard }

    /// 1: the server takes no batches.
    public var maximumBatchSize: Int { 1 }

    /// Sends the operations one by one, by the single calls.
    ///
    /// What says nothing about the row but about the server, or the way to it, is the answer to those behind it as well,
    /// which are not sent: ``RemoteError/Code/unreachable``, ``RemoteError/Code/notTheService``,
    /// ``RemoteError/Code/unauthorized`` and ``RemoteError/Code/throttled``, and cancellation.
    public func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        var answers: [Result<RemoteOperationAnswer, any Error>] = []
        for operation in batch {
            do {
                answers.append(.success(try await send(operation)))
            } catch {
                answers.append(.failure(error))
                guard let error = error as? RemoteError, !error.isAboutTheServer else {
                    answers += Array(repeating: .failure(error), count: batch.count - answers.count)
                    break
                }
            }
        }
        return answers
    }

    private func send(_ operation: RemoteOperation) async throws -> RemoteOperationAnswer {
        switch operation {
        case .insert(let record, let table): .row(try await insert(record, into: table))
        case .update(let record, let table, let version, let restoring):
            .row(try await update(record, in: table, version: version, restoring: restoring))
        case .delete(let id, let table, let version):
            .deletion(try await delete(id, from: table, version: version))
        }
    }
}

extension RemoteError {
    fileprivate var isAboutTheServer: Bool { [.unreachable, .notTheService, .unauthorized, .throttled].contains(code) }
}
