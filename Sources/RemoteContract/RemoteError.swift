#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

public import SyncContract

/// Why a request did not do what was asked.
///
/// Messages name addresses, statuses and columns, and what to do next; never row content or credentials.
public struct RemoteError: Error, Sendable {
    /// A reason to branch on. Codes may be added: switch with a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The code as a word.
        public var description: String { name }

        /// The address is not acceptable: no URL, or plain HTTP to another machine.
        public static let invalidAddress = Code("invalidAddress")
        /// The query or record cannot be expressed in the protocol. Nothing was sent.
        public static let invalidRequest = Code("invalidRequest")
        /// The server could not be reached, or the connection broke; whether it acted is not known.
        public static let unreachable = Code("unreachable")
        /// The server asks for authentication (401), or refuses what was given.
        public static let unauthorized = Code("unauthorized")
        /// The server has another version of the row, or a row with this id already (409, 412).
        public static let conflict = Code("conflict")
        /// The server stored a new row under an id of its own, whatever was sent; the row is in
        /// ``RemoteError/serverRecord``. Sent again, it would be stored once more.
        public static let storedUnderAnotherID = Code("storedUnderAnotherID")
        /// The server has no such row or table (404).
        public static let notFound = Code("notFound")
        /// The server asks to come back later (408, 429, 503).
        public static let throttled = Code("throttled")
        /// The server refused the request (any other status from 400 to 499).
        public static let refused = Code("refused")
        /// The answer is not the service's: a gateway that did not reach it (502, 504), a redirection, a page for browsers,
        /// a status that the protocol does not have. Whatever was sent may have reached the service or not, and what the
        /// answer says of rows says nothing.
        public static let notTheService = Code("notTheService")
        /// The server failed (any other status from 500).
        public static let serverFailure = Code("serverFailure")
        /// The server no longer has the history since the cursor that a pull goes on from. For remotes of servers that keep
        /// it for a limited time: thrown by a page of changes since a cursor, it has everything brought anew. Servers of the
        /// Datasync protocols keep what was deleted for good, and have no such answer.
        public static let historyLost = Code("historyLost")
        /// The server has, or gives, other bytes under the name of a file than were added under it. Nothing of them is kept here,
        /// and nothing is written over there: one of the two has to go.
        public static let otherContent = Code("otherContent")
        /// The server's row does not fit its table, such as a fraction in a column of whole numbers.
        /// ``RemoteError/serverRecord`` has its id, and its version where the answer shows one, and nothing else of it. Of a
        /// request that writes a row this says that the row was written, and that it is the row as it is now.
        public static let unfitRow = Code("unfitRow")
        /// The answer is not what the protocol prescribes: no JSON, or not the expected kind.
        public static let invalidResponse = Code("invalidResponse")
    }

    /// The reason to branch on.
    public let code: Code

    /// What went wrong and what to do next.
    public let message: String

    /// The HTTP status, when there was an answer.
    public let status: Int?

    /// The server's row of a conflict, tombstones included, or the new row that it stored under another id; nil when it
    /// could not be had. Of a row that does not fit its table, the id and the version.
    public let serverRecord: Record?

    /// How long the server asks to wait before the next request; nil when it does not say.
    public let retryAfter: Duration?

    /// Whether nothing of what was asked has left this device, so that it certainly was not done: nobody is signed in, or
    /// there is no connection. False when that is not known, and as soon as one of several requests was sent.
    public package(set) var wasNotSent: Bool

    /// The error underneath, when there is one.
    public let cause: (any Error)?

    /// The request and its answer as they went over the wire, for support; nil when nothing was sent, and in a remote that
    /// leaves this out. Never part of the message.
    public let exchange: RemoteExchange?

    /// Whether a web page with a status of 400 to 499 stood in place of the answer: it comes from something in front of the service.
    package var isWebPage = false

    /// Whether an earlier one of several requests of a change was carried out, and the row is no longer what it was: that a
    /// later one was refused, or not sent, then proves nothing. False in a remote that leaves this out.
    public var wasPartlyDone = false

    /// Whether nothing was done because the next step would have brought a tombstone back with the content it was deleted with,
    /// and whoever asked has not stored that this may happen; see ``TombstoneShowing``.
    package var wouldShowTombstone = false

    /// Creates an error.
    public init(
        _ code: Code,
        _ message: String,
        status: Int? = nil,
        serverRecord: Record? = nil,
        retryAfter: Duration? = nil,
        wasNotSent: Bool = false,
        cause: (any Error)? = nil,
        exchange: RemoteExchange? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.serverRecord = serverRecord
        self.retryAfter = retryAfter
        self.wasNotSent = wasNotSent
        self.cause = cause
        self.exchange = exchange
    }
}

extension RemoteError: CustomStringConvertible {
    /// Code, status, message and cause; never the row or the exchange.
    public var description: String {
        "\(code)" + (status.map { " (HTTP \($0))" } ?? "") + ": \(message)" + (cause.map { " (\($0))" } ?? "")
    }
}

extension RemoteError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
