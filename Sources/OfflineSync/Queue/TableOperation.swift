internal import SyncMachines
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

    /// What the change does, what it is based on and what it has sent.
    var change: QueuedChange<Record>

    /// Whether an older version of this library has queued the refused change to be sent again by the next push.
    var isRetried = false

    /// That the server failed on the change: it may have been carried out all the same.
    var unknownOutcome: UnknownOutcome?

    /// The groups of changes that it is part of, and where it stands in them.
    var memberships: [GroupMembership] = []

    init(id: Int64, table: String, itemID: String, change: QueuedChange<Record>) {
        self.id = id
        self.table = table
        self.itemID = itemID
        self.change = change
    }
}

extension TableOperation {
    /// What the change does.
    public var kind: Kind { Kind(change.kind) }

    /// Where the change stands.
    public var state: State {
        switch change.state {
        case .pending: .pending
        case .conflicted: .conflicted
        case .parked: .failed
        }
    }

    /// The server version the change is based on; nil when none is known: then the row is looked up before it is sent.
    public var baseVersion: String? { change.baseVersion }

    /// The numbers of the groups of changes that it is part of, in ascending order; empty when it was made outside of
    /// ``SyncContext/write(_:)``, or alone in one.
    public var groups: [Int64] { memberships.map(\.group) }

    /// How often the item changed since the operation was queued.
    public var editCounter: Int64 { change.editCounter }

    /// Whether the server may have carried it out already.
    public var isAttempted: Bool { change.wasSent || !change.sent.isEmpty }

    /// Whether the change was given up while it was on its way, and takes back what may arrive.
    public var isUndo: Bool { change.isUndo }

    /// The server's row that the change is based on; nil when it is not known.
    public var baseItem: Record? { change.base }

    /// The row as it was when it was deleted locally; nil unless ``kind`` is ``Kind/delete``.
    public var deletedItem: Record? { change.deletedRow }

    /// The server's row that a pull or a conflict brought while the change was waiting.
    public var serverItem: Record? { change.shown }
}

extension TableOperation.Kind {
    init(_ kind: QueuedChange<Record>.Kind) {
        self =
            switch kind {
            case .insert: .insert
            case .update: .update
            case .delete: .delete
            }
    }
}

extension TableOperation {
    /// How a refused change is stored that waits to be edited or resolved. With the number of ``State/failed`` older
    /// versions have stored those that the next push sends again.
    static let parkedState: Int64 = 3

    /// The states that a push sends, as they are stored.
    static let sentStates: [FieldValue] = [.int64(State.pending.rawValue), .int64(State.failed.rawValue)]

    /// The state as it is stored.
    var storedState: Int64 { state == .failed && !isRetried ? Self.parkedState : state.rawValue }

    /// Whether a push sends it.
    var isToSend: Bool { Self.sentStates.contains(.int64(storedState)) }

    /// Takes over a stored state; false for one that there is not.
    mutating func restoreState(_ stored: Int64?) -> Bool {
        switch stored {
        case State.pending.rawValue: change.state = .pending
        case State.conflicted.rawValue: change.state = .conflicted
        case State.failed.rawValue, Self.parkedState: change.state = .parked
        default: return false
        }
        isRetried = stored == State.failed.rawValue
        return true
    }

    /// A failure of the server that leaves open whether it carried a change out.
    struct UnknownOutcome: Sendable, Hashable {
        /// How many pushes in a row may fail in the same way.
        static let mostPushes = 5

        var status: Int?
        /// Whether it was the row that could not be looked up; otherwise it is the change that failed.
        var isOfLookUp = false
        /// How many pushes in a row failed in this way since the last edit.
        var pushes = 1

        var isFinal: Bool { pushes >= Self.mostPushes }
    }

    /// Takes note of a failure that leaves the outcome open. What the server says with it does not tell failures apart: there
    /// may be a time in it, or the number of the request.
    mutating func failed(status: Int?, ofLookUp isOfLookUp: Bool) {
        let before = unknownOutcome
        unknownOutcome = UnknownOutcome(status: status, isOfLookUp: isOfLookUp)
        if let before, before.status == status, before.isOfLookUp == isOfLookUp {
            unknownOutcome?.pushes = before.pushes + 1
        }
    }
}
