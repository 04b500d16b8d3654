internal import OfflineSync
internal import RemoteContract
internal import SyncContract

extension SessionFailure {
    /// What an error of a push or pull means for what comes next; to be asked in the task that has met it.
    init(_ error: any Error) {
        switch error {
        // Nobody has cancelled the work: somebody below has thrown it for a reason of its own.
        case is CancellationError where !Task.isCancelled:
            self = .temporary(name: "cancelled", wait: nil, isAnswer: false)
        case is CancellationError: self = .cancelled
        case let error as ServerFailure:
            self = .temporary(name: "\(type(of: error))", wait: error.wait, isAnswer: true)
        case is OvertakenChanges: self = .temporary(name: "\(type(of: error))", wait: nil, isAnswer: true)
        case let error as SyncError: self.init(error)
        case let error as RemoteError: self.init(error)
        case let error as StoreError: self.init(error)
        // What a delegate, policy or hook of the app throws, whatever its type: nothing is known of it.
        case let error as AppFailure:
            self = .temporary(name: "\(type(of: error.cause))", wait: nil, isAnswer: false)
        default: self = .temporary(name: "\(type(of: error))", wait: nil, isAnswer: false)
        }
    }

    private init(_ error: SyncError) {
        guard error.code != .historyLost else {
            self = .historyLost
            return
        }
        if let cause = error.cause as? RemoteError {
            // A push in which everything was forbidden says so by its code.
            let isForbidden = error.code == .pushAbortedAuthentication
            self = isForbidden ? .credentials(name: cause.failureName, isAnswer: cause.isAnswer) : .init(cause)
            return
        }
        if error.code == .storeUnavailable, let cause = error.cause as? StoreError {
            self.init(cause)
            return
        }
        switch error.code {
        case .pushAbortedNetwork, .pullAborted, .pushAbortedAuthentication:
            self = .temporary(name: "\(error.code)", wait: nil, isAnswer: true)
        // What code of the app meets or answers when it decides: the next time it may be otherwise.
        case .operationChanged, .invalidAction, .invalidItem:
            self = .temporary(name: "\(error.code)", wait: nil, isAnswer: false)
        default: self = .permanent
        }
    }

    private init(_ error: RemoteError) {
        switch error.code {
        case .unauthorized: self = .credentials(name: error.failureName, isAnswer: error.isAnswer)
        case .refused where error.isWebPage:
            self = .temporary(name: error.failureName, wait: nil, isAnswer: false)
        case .refused where error.status == 403:
            self = .credentials(name: error.failureName, isAnswer: true)
        case .invalidAddress, .invalidRequest, .refused, .notFound: self = .permanent
        default:
            self = .temporary(name: error.failureName, wait: error.retryAfter, isAnswer: error.isAnswer)
        }
    }

    private init(_ error: StoreError) {
        switch error.code {
        case .closed: self = .storeClosed
        case .full, .inputOutput, .locked, .inUse, .internal:
            self = .temporary(name: "\(error.code)", wait: nil, isAnswer: false)
        // A row that code of the app has made.
        case .invalidRecord, .constraint:
            self = .temporary(name: "\(error.code)", wait: nil, isAnswer: false)
        default: self = .permanent
        }
    }
}

extension SessionFailure {
    /// Failures of the same name are the same.
    var name: String {
        switch self {
        case .temporary(let name, _, _), .credentials(let name, _): name
        case .historyLost, .permanent, .cancelled, .storeClosed: "\(self)"
        }
    }

    /// How long the server asks to wait; nil when it does not say.
    var wait: Duration? { if case .temporary(_, let wait, _) = self { wait } else { nil } }
}

extension Error {
    /// Whether what ended a pull may be about that pull alone, as when an answer takes too long for what carries it: it
    /// is when another one is answered next. What has not left the device is about the connection.
    var mayBeOfOnePull: Bool {
        guard let cause = (self as? SyncError)?.causeWithoutTime, !cause.wasNotSent else { return false }
        return [.unreachable, .notTheService].contains(cause.code)
    }

    /// Whether what ended one pull is what the service has answered: one that is refused here says nothing of the service.
    var isAnswer: Bool {
        let cause = (self as? SyncError)?.cause as? RemoteError
        return cause?.code != .invalidRequest || cause?.status != nil
    }

    /// Whether the store was locked, which somebody unlocks again.
    var isOfLockedStore: Bool {
        let error = (self as? SyncError)?.cause ?? self
        return (error as? StoreError)?.code == .locked
    }
}

extension RemoteError {
    /// Failures of the same name are the same.
    fileprivate var failureName: String { "\(code)" + (status.map { " \($0)" } ?? "") }

    /// Whether it was the service that answered.
    fileprivate var isAnswer: Bool {
        switch code {
        case .unreachable, .notTheService, .invalidAddress: false
        default: status != nil
        }
    }
}
