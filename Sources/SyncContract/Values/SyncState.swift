/// Where a row stands between this device and the server.
///
/// The state is written into no row: it is that of the row's operation in ``SystemTables/operations``, as of the instant
/// at which the row is read. ``Column/syncState`` filters by it, ``Query/includingSyncStates()`` puts it beside each row,
/// and a property of this type in an item, whatever its name, receives it with every read and every live query.
public enum SyncState: String, Codable, Sendable, Hashable, CaseIterable {
    /// No local change waits.
    case synced
    /// A local change waits for the next push.
    case pending
    /// A push has a request for the local change under way, or sends it within moments: the answer is not recorded yet.
    case uploading
    /// The server has another version; the change waits for a resolution.
    case conflicted
    /// The server refused the change, or has failed on it too often; the change waits to be edited or resolved.
    case failed
}

extension SyncState {
    /// The columns of ``SystemTables/operations`` that a state follows from.
    package static let operationColumns = ["state", "push"]

    /// The state of the row that an operation is for. For authors of stores; a row without one is ``synced``.
    ///
    /// - Parameter operation: A row of ``SystemTables/operations`` with its columns `state` and `push`.
    public init(ofOperation operation: Record) {
        self.init(storedState: operation["state"]?.int64Value, push: operation["push"]?.int64Value)
    }

    /// The state of the row that an operation is for, from its columns `state` and `push`.
    ///
    /// The push counts while it runs in this process. So nothing is under way after a kill, whatever was stored before.
    public init(storedState: Int64?, push: Int64?) {
        if let push, RunningPushes.contains(push) {
            self = .uploading
            return
        }
        self =
            switch storedState {
            case 1: .conflicted
            case 2, 3: .failed
            default: .pending
            }
    }
}
