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
    /// The server failed, or answered what cannot be read: it may have carried the change out. Others may go on.
    case unknown(RemoteError)
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
    ///   - error: What the remote threw. When it ``RemoteError/isPerhapsAboutTheAddress``, the table has been confirmed.
    ///   - inFlight: The operation as it was sent.
    init(_ error: RemoteError, _ inFlight: InFlightOperation) {
        switch error.code {
        case .conflict: self = Self.judge(error.serverRecord, status: error.status, inFlight)
        case .notFound where inFlight.operation.kind == .update:
            self = .conflict(.nothing, status: error.status)
        case .unauthorized, .unreachable, .throttled, .notTheService:
            self = .aborted(SyncError(aborting: error))
        case .serverFailure, .invalidResponse: self = .unknown(error)
        default: self = .refused(error)
        }
    }

    /// Judges the row that the server has instead of the one that the change is based on.
    static func judge(_ serverItem: Record?, status: Int?, _ inFlight: InFlightOperation) -> PushOutcome {
        guard let serverItem else {
            // 410 says what is the matter even when the tombstone is not shown.
            return .conflict(status == 410 ? .nothing : .unknown, status: status)
        }
        guard !serverItem.isDeleted else { return .conflict(.row(serverItem), status: status) }
        if inFlight.hasLocalContent(serverItem) { return .accepted(serverItem) }
        return inFlight.mayGoOver(serverItem)
            ? .sendAgain(over: serverItem) : .conflict(.row(serverItem), status: status)
    }
}

extension RemoteError {
    /// Whether an address without the table would have answered the same.
    var isPerhapsAboutTheAddress: Bool {
        switch code {
        case .notFound, .invalidResponse: true
        case .conflict: status == 410 && serverRecord == nil
        case .notTheService: status.map { $0 < 500 } ?? false
        case .refused: status == 405 || status == 410
        default: false
        }
    }
}

extension SyncError {
    /// Ends a push.
    init(aborting error: RemoteError) {
        switch error.code {
        case .unauthorized:
            self.init(
                .pushAbortedAuthentication,
                "The server asks for authentication; sign in again and push: nothing was lost.",
                cause: error
            )
        case .notFound:
            self.init(
                .pushAbortedAddress,
                "What the address says of rows is not believed; the changes stay queued.",
                cause: error
            )
        default:
            self.init(
                .pushAbortedNetwork,
                "The server cannot take changes now; they stay queued and the next push sends them.",
                cause: error
            )
        }
    }
}
