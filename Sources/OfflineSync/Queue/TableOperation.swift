public import SyncContract

/// A local change that waits to be sent.
public struct TableOperation: Sendable, Hashable, Identifiable {
    /// What the change does. The numbers are those of the stored `type`.
    public enum Kind: Int64, Sendable, Hashable {
        /// The server does not know the item yet.
        case insert = 0
        /// The item changed.
        case update = 1
        /// The item was deleted.
        case delete = 2
    }

    /// Where the change stands.
    public enum State: Int64, Sendable, Hashable {
        /// It waits for the next push.
        case pending = 0
        /// The server has another version; pushes leave it alone until it is resolved.
        case conflicted = 1
        /// The server refused it, or has failed on it too often; pushes leave it alone until it is edited or resolved.
        case failed = 2
    }

    /// The number: operations are sent in ascending order over all tables. A number is never used twice.
    public internal(set) var id: Int64

    /// The table.
    public let table: String

    /// The id of the item, in the casing it was last given.
    public internal(set) var itemID: String

    /// What the change does.
    public internal(set) var kind: Kind

    /// Where the change stands.
    public internal(set) var state = State.pending

    /// The server version the first change was based on; nil sends unconditionally.
    public internal(set) var baseVersion: String?

    /// How often the item changed since the operation was queued.
    public internal(set) var editCounter: Int64 = 0

    /// Whether the server may have carried it out already.
    public internal(set) var isAttempted = false

    /// The row as it was when it was deleted locally; nil unless ``kind`` is ``Kind/delete``.
    public internal(set) var deletedItem: Record?

    /// The server's row that a pull or a conflict brought while the change was waiting.
    public internal(set) var serverItem: Record?

    /// What attempts without an answer have sent, the latest last. A server that has exactly one of these has carried
    /// that attempt out, although its answer was lost.
    var sentItems: [Record] = []

    /// Whether the row, deleted on the server, is to be brought back.
    var restores = false

    /// The server's row that the change is based on: that of ``baseVersion``. Nil when it is not known, as with changes
    /// that an older version of this library has queued.
    var base: Record?

    /// Whether an older version of this library has queued the refused change to be sent again by the next push.
    var isRetried = false

    /// How a refused change is stored that waits to be edited or resolved. With the number of ``State/failed`` older
    /// versions have stored those that the next push sends again.
    static let parkedState: Int64 = 3

    /// The states that a push sends, as they are stored.
    static let sentStates: [FieldValue] = [.int64(State.pending.rawValue), .int64(State.failed.rawValue)]

    /// The state as it is stored.
    var storedState: Int64 { state == .failed && !isRetried ? Self.parkedState : state.rawValue }

    /// Takes over a stored state; false for one that there is not.
    mutating func restoreState(_ stored: Int64?) -> Bool {
        guard let known = stored == Self.parkedState ? .failed : stored.flatMap(State.init) else { return false }
        state = known
        isRetried = stored == State.failed.rawValue
        return true
    }

    /// Lays the change aside until it is edited or resolved.
    mutating func park() {
        state = .failed
        isRetried = false
    }

    /// That the server failed on the change: it may have been carried out all the same.
    var unknownOutcome: UnknownOutcome?

    /// A failure of the server that leaves open whether it carried a change out.
    struct UnknownOutcome: Sendable, Hashable {
        /// How many pushes in a row may fail in the same way.
        static let mostPushes = 5

        var status: Int?
        var message: String
        /// How many pushes in a row failed in this way since the last edit.
        var pushes = 1

        var isFinal: Bool { pushes >= Self.mostPushes }
    }

    /// Takes note of a failure that leaves the outcome open.
    mutating func failed(status: Int?, _ message: String) {
        let before = unknownOutcome
        unknownOutcome = UnknownOutcome(status: status, message: message)
        if let before, before.status == status, before.message == message {
            unknownOutcome?.pushes = before.pushes + 1
        }
    }

    /// Bases the change on a row of the server: whatever was sent before can never succeed any more.
    mutating func rebase(onto serverItem: Record?) {
        baseVersion = serverItem?.version
        base = serverItem
        self.serverItem = nil
        sentItems = []
        unknownOutcome = nil
    }

    /// Remembers what is about to be sent, unless it is what was sent last.
    mutating func willSend(_ item: Record) {
        guard sentItems.last != item else { return }
        // More attempts in a row with other content each, all without an answer, are not to be expected.
        sentItems = sentItems.suffix(7) + [item]
    }

    init(id: Int64, table: String, itemID: String, kind: Kind) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.kind = kind
    }
}
