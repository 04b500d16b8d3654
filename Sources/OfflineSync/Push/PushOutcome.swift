internal import RemoteContract
internal import SyncContract

/// What the answer to one operation means, decided without I/O.
enum PushOutcome {
    /// The server has the change; its row, when it sent one.
    case accepted(Record?)
    /// The server has another version, or no such row.
    case conflict(ServerSide, status: Int?)
    /// An earlier attempt, whose answer was lost, was carried out: the change is to be sent again, over this row.
    case sendAgain(over: Record)
    /// The server refused this change; others may go on.
    case refused(RemoteError)
    /// Nothing more can be sent now.
    case aborted(SyncError)

    /// What the server has of the item in a conflict.
    enum ServerSide {
        /// A row, possibly a tombstone.
        case row(Record)
        /// No row of that id.
        case nothing
        /// It could not be found out.
        case unknown
    }

    /// Judges an error of the remote.
    ///
    /// - Parameters:
    ///   - error: What the remote threw.
    ///   - inFlight: The operation as it was sent.
    init(_ error: RemoteError, _ inFlight: InFlightOperation) {
        switch error.code {
        case .conflict: self = Self.judgeConflict(error, inFlight)
        case .notFound where inFlight.operation.kind == .update:
            self = .conflict(.nothing, status: error.status)
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

    private static func judgeConflict(_ error: RemoteError, _ inFlight: InFlightOperation) -> PushOutcome {
        guard let serverItem = error.serverRecord else { return .conflict(.unknown, status: error.status) }
        guard !serverItem.isDeleted else { return .conflict(.row(serverItem), status: error.status) }
        // Only a row that this device may have written itself can have a server's default in place of a null.
        if let row = inFlight.row,
            inFlight.table.hasSameContent(row, serverItem, defaultsCountAsNull: !inFlight.previouslySent.isEmpty)
        {
            return .accepted(serverItem)
        }
        return inFlight.wasSentBefore(serverItem)
            ? .sendAgain(over: serverItem) : .conflict(.row(serverItem), status: error.status)
    }
}
