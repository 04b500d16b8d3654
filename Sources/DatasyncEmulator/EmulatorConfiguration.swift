public import Foundation

/// What an emulator serves and how.
public struct EmulatorConfiguration: Sendable {
    /// Which server is emulated.
    public enum Dialect: String, Sendable, CaseIterable {
        /// A Datasync server: protocol 3, page objects, full replacement by PUT.
        case datasync
        /// The Node server of Azure Mobile Apps on its SQLite provider: protocol 2, bare arrays, merging by PATCH.
        case azureMobileApps
    }

    /// A server of other make that speaks one of the dialects in its own way.
    public enum Edition: Sendable {
        /// The server that the dialect names.
        case usual
        /// The Azure Mobile Apps server for .NET in the dialect's protocol: a deleted row comes back by PATCH only, the
        /// losers of a race get 500, instants end in `+00:00`, `ZUMO-API-VERSION` is needed. In protocol 3 a next link is a
        /// whole URL without escapes; in protocol 2 a list is an array, or `results` and `count`, and has no link.
        case predecessor
        /// Version 4 of the Node server, protocol 2: a deleted row is not found by updates and deletions, `$top` overrides
        /// the page size and is ignored when 0, and every full page has a link.
        case node4
    }

    /// Which server is emulated.
    public var dialect: Dialect
    /// Which make of it.
    public var edition = Edition.usual
    /// The tables served below `/tables`.
    public var tables: [EmulatedTableDefinition]
    /// Whether a request for a table that is not configured creates it, with soft delete on and nothing declared.
    public var createsTablesOnDemand = false
    /// Whether protocol 3 answers as the genuine server also where that is no good: 500 for bodies that cannot be read,
    /// for lists in `If-Match` and for what queries should not ask, a write without condition for an `If-Match` that cannot
    /// be read, 500 after storing a row whose id cannot stand in a header, and a row with a number out of range stored so
    /// that no page with it can be read any more. Otherwise the first two and the last are a 400 that changes nothing, and
    /// the others do what they say.
    public var isGenuine = false
    /// Whether protocol 3 refuses queries whose operands have types that do not go together, as a genuine server does. Off,
    /// they are compared as the contract of stores says, so that the meaning of any query can be told.
    package var refusesMistypedQueries = true
    /// How many rows an answer holds at most. Nil means the dialect's default: 100 or 50.
    public var pageSize: Int?
    /// The largest `$top` accepted. Nil means the dialect's default: 128000 or 1000.
    public var maximumTop: Int?
    /// What the database behind the server does.
    public var store = StoreBehaviour()
    /// Who may ask, by the bearer token with which they do; empty means anybody. Every user has rows of their own in every
    /// table; without a known token a request is answered 401.
    public var users: [String: String] = [:]
    /// Whether users share the ids of a table, as where one table holds the rows of all: a server for .NET refuses an insert of an
    /// id that another user has, with an empty 400, and the predecessor with a 409 that gives that row away. Otherwise every
    /// user may have a row of the same id.
    public var usersShareIDs = false
    /// Where clients send files to, and fetch them from, each under an id of theirs: the path in front of the id. Nil takes
    /// none. Users have files of their own.
    public var attachmentPath: String? = "attachments"
    /// The folder in which these files are kept; nil for a temporary one, which goes with the emulator. The emulator makes it
    /// when the first file comes. A file that is not whole yet has `.part` behind its id.
    public var attachmentFolder: URL?
    /// How probable it is, from 0 to 1, that something goes wrong with a request for which no fault is scripted: request
    /// or answer is lost, late, doubled or cut, or the answer is a 500, 503, 429 or a page of HTML.
    public var faultRate = 0.0
    /// How many requests the log keeps; the oldest go first.
    public var logCapacity = 1_000
    /// The time in milliseconds since 1970. It may stand still or go back; stamps rise all the same.
    public var clock: @Sendable () -> Int64
    /// A number of random bytes, for ids and versions.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]

    /// Makes a configuration with the system's clock and random generator.
    public init(dialect: Dialect = .datasync, tables: [EmulatedTableDefinition]) {
        self.dialect = dialect
        self.tables = tables
        self.clock = {
            var now = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &now)
            return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
        }
        self.randomBytes = { count in
            var generator = SystemRandomNumberGenerator()
            // Eight at a time: each number is a call of the system, and rows are made by the hundred thousand.
            let words = (0..<(max(0, count) + 7) / 8).map { _ in generator.next() as UInt64 }
            return (0..<max(0, count)).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64($0 % 8 * 8)) }
        }
    }

    /// Whether the server is one for .NET, whose rows, limits and queries are the same in both protocols.
    var isDotNet: Bool {
        dialect == .datasync || edition == .predecessor
    }

    var effectivePageSize: Int {
        max(1, pageSize ?? (isDotNet ? 100 : 50))
    }

    var effectiveMaximumTop: Int {
        max(1, maximumTop ?? (isDotNet ? 128_000 : 1_000))
    }

    /// The largest body accepted, in bytes.
    var maximumBodySize: Int {
        isDotNet ? 30_000_000 : 102_400
    }

    /// The id of the file that a path leads to, unchecked; nil when it leads elsewhere.
    func attachmentID(in segments: [String]) -> String? {
        guard let path = attachmentPath?.split(separator: "/").map(String.init) else { return nil }
        return segments.count == path.count + 1 && segments.starts(with: path) ? segments.last : nil
    }

    /// Whether a request brings bytes of a file, of any number.
    func takesFile(_ method: String, _ target: String) -> Bool {
        guard method.uppercased() == "PATCH" else { return false }
        return EmulatorRequest(method, target).segments.flatMap(attachmentID) != nil
    }

    func accepts(_ request: EmulatorRequest) -> Bool {
        !request.isBodyTooLarge && request.body.count <= maximumBodySize
    }
}
