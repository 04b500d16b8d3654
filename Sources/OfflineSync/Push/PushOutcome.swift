internal import RemoteContract
internal import SyncContract

/// What the answer to one operation means, decided without I/O.
enum PushOutcome {
    /// The server has the change; its row, when it sent one.
    case accepted(Record?)
    /// The server has another version, or no such row.
    case conflict(serverItem: Record?, status: Int?)
    /// The server refused this change; others may go on.
    case refused(RemoteError)
    /// Nothing more can be sent now.
    case aborted(SyncError)

    /// Judges an error of the remote.
    ///
    /// - Parameters:
    ///   - error: What the remote threw.
    ///   - sent: The operation as it was sent.
    ///   - row: The local row that was sent; nil for deletes.
    ///   - table: The table.
    init(_ error: RemoteError, sent: TableOperation, row: Record?, table: TableDefinition) {
        switch error.code {
        case .conflict:
            // A lost answer: the server already has exactly what was sent.
            if let row, let serverItem = error.serverRecord, !serverItem.isDeleted,
                table.hasSameContent(row, serverItem)
            {
                self = .accepted(serverItem)
            } else {
                self = .conflict(serverItem: error.serverRecord, status: error.status)
            }
        case .notFound where sent.kind == .update:
            self = .conflict(serverItem: nil, status: error.status)
        case .unauthorized:
            self = .aborted(
                SyncError(
                    .pushAbortedAuthentication,
                    "the server asks for authentication; sign in again and push: nothing was lost",
                    cause: error
                )
            )
        case .unreachable, .throttled:
            self = .aborted(
                SyncError(
                    .pushAbortedNetwork,
                    "the server cannot take changes now; they stay queued and the next push sends them",
                    cause: error
                )
            )
        default: self = .refused(error)
        }
    }
}
