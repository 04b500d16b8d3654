#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

package import RemoteContract
internal import SyncContract

/// Why the sync engine could not do what was asked.
///
/// Failures of the store reach the caller as the store's own `StoreError`, but for a push or pull whose store is locked or
/// closed: ``Code/storeUnavailable``.
public struct SyncError: Error, Sendable {
    /// A reason to branch on. Codes may be added: switch with a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The code as a word.
        public var description: String { name }

        /// The id breaks the rules of ``ItemID``.
        public static let invalidItemID = Code("invalidItemID")
        /// The item cannot be turned into a record, or a record into the item.
        public static let invalidItem = Code("invalidItem")
        /// The change contradicts one that waits for the same item, or inserts an item that exists. Nothing changed.
        public static let invalidAction = Code("invalidAction")
        /// An argument is not acceptable.
        public static let invalidParameter = Code("invalidParameter")
        /// The server could not be reached or asked to come back later. The queue is as it was.
        public static let pushAbortedNetwork = Code("pushAbortedNetwork")
        /// The server asks for authentication. The queue is as it was.
        public static let pushAbortedAuthentication = Code("pushAbortedAuthentication")
        /// The address has no such table, whatever it says of rows. The queue is as it was.
        public static let pushAbortedAddress = Code("pushAbortedAddress")
        /// The pull stopped. Pages that were applied before stay, and the next pull goes on from there.
        public static let pullAborted = Code("pullAborted")
        /// The store was locked or closed while a push or pull ran, or before it. What was recorded and applied stays, and
        /// nothing is lost: what the server has taken meanwhile is found again by the next push.
        public static let storeUnavailable = Code("storeUnavailable")
        /// The table has changes that were not pushed. Nothing was purged.
        public static let purgeAbortedPendingChanges = Code("purgeAbortedPendingChanges")
        /// The operation of this error is no longer queued, or was changed since. Nothing was resolved.
        public static let operationChanged = Code("operationChanged")
        /// The remote of this context cannot do what was asked, or there is none.
        public static let unsupported = Code("unsupported")
        /// The server no longer has the history that this device goes on from, or was set up anew: everything has to be
        /// brought anew, which a session does as its options say. Nothing was changed.
        public static let historyLost = Code("historyLost")
        /// The time that was allowed has passed.
        public static let timedOut = Code("timedOut")
        /// The session is not started, is suspended in the direction that was asked for, or has ended; or the server refuses a
        /// pull that was waited for.
        public static let sessionEnded = Code("sessionEnded")
        /// A system table holds something the engine did not write.
        public static let damagedQueue = Code("damagedQueue")
    }

    /// The reason to branch on.
    public let code: Code

    /// What went wrong and what to do next. Never row content.
    public let message: String

    /// The error underneath, when there is one.
    public let cause: (any Error)?

    /// What a push did before it stopped, or before the pull that failed after it: how many changes were taken, which
    /// were not, and how many requests were sent. Nil when nothing was pushed. What was not taken is missing where the
    /// store was not there any more; ``SyncContext/operationErrors()`` has it.
    public package(set) var push: PushReport?

    /// What a pull did before it stopped, or beside the push that failed: how many rows came, which were set aside, and how
    /// many requests were sent. That stays; the next pull goes on from there. Nil when none was begun.
    public package(set) var pull: PullReport?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension SyncError {
    /// What ends a push or pull: an error of the engine, or a store that was taken away from it; nil for any other.
    package init?(ending error: any Error) {
        switch error {
        case let error as SyncError: self = error
        case let error as StoreError where error.code == .locked:
            let message = "The store was locked; unlock it and sync again: nothing was lost."
            self.init(.storeUnavailable, message, cause: error)
        case let error as StoreError where error.code == .closed:
            let message = "The store was closed; open it and sync again: nothing was lost."
            self.init(.storeUnavailable, message, cause: error)
        default: return nil
        }
    }
}

extension SyncError {
    /// Whether it ended a push in which the server has forbidden every change (403): pulls may be answered all the same.
    package var isOfForbiddenChanges: Bool {
        code == .pushAbortedAuthentication && (cause as? RemoteError)?.status == 403
    }

    /// What the remote has said, unless the server has set a time.
    package var causeWithoutTime: RemoteError? {
        guard let cause = cause as? RemoteError, cause.retryAfter == nil else { return nil }
        return cause
    }

    /// Whether the same call may succeed later without anybody doing anything: no network, a busy server.
    public var isTransient: Bool {
        guard let code = (cause as? RemoteError)?.code else { return false }
        return [.unreachable, .throttled, .serverFailure, .notTheService].contains(code)
    }

    /// Request and answer as they went over the wire, for support, when the cause knows them; otherwise empty. They may have
    /// rows in them, so they belong into no log.
    public var exchange: String { (cause as? RemoteError)?.exchange?.text ?? "" }
}

extension Error {
    /// Whether it ended one pull, and says nothing of others: the service answers, and not this question.
    package var isOfOnePull: Bool {
        let code = (self as? SyncError)?.causeWithoutTime?.code
        return [.serverFailure, .refused, .notFound, .invalidRequest, .invalidResponse].contains(code)
    }
}

extension SyncError: CustomStringConvertible {
    /// Code, message and cause.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}

extension SyncError: LocalizedError {
    /// The message; after it that of the service's answer, or of another error of the engine, when that is the cause: it says
    /// what is to be done, such as to check the address.
    public var errorDescription: String? {
        switch cause {
        case let cause as RemoteError: "\(message) \(cause.message)"
        case let cause as SyncError: "\(message) \(cause.errorDescription ?? cause.message)"
        default: message
        }
    }
}
