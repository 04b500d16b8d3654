public import SyncContract

/// A decision about a conflict that a policy made without asking.
public struct JournalEntry: Sendable, Hashable, Identifiable {
    /// What kind of decision it was.
    public enum Decision: String, Sendable, Hashable {
        /// The change went over what the server had.
        case keptMine
        /// A merge went over what the server had.
        case keptMerged
        /// The server's row took the place of the change.
        case tookServer
        /// The change was given up.
        case discarded
        /// The change was given up, and the local row stayed.
        case keptLocal
        /// The row was deleted instead.
        case deletedInstead
    }

    /// Its place: entries of later decisions have greater ids.
    public let id: Int64

    /// When it was decided, by this device's clock.
    public let date: Timestamp

    /// The table.
    public let table: String

    /// The id of the item.
    public let itemID: String

    /// What was decided.
    public let decision: Decision

    /// What was given up, so that it can be had back: the server's row where the change won, the local one where the server
    /// did. Nil when there was none, or when its table has changed so that it cannot be read any more.
    public let givenUp: Record?

    /// The changed row as it was before it was decided about, where a merged one took its place or it was deleted instead.
    /// Nil otherwise, and in entries of versions that did not keep it.
    public let givenUpChange: Record?
}

extension JournalEntry.Decision {
    init(_ resolution: ConflictResolution<Record>) {
        self =
            switch resolution {
            case .keepMine: .keptMine
            case .keepMerged: .keptMerged
            case .takeServer: .tookServer
            case .discard: .discarded
            case .keepLocal: .keptLocal
            case .deleteInstead: .deletedInstead
            }
    }

    /// Whether the change went on as another one, beside what the server had.
    var changesContent: Bool {
        switch self {
        case .keptMerged, .deletedInstead: true
        case .keptMine, .tookServer, .discarded, .keptLocal: false
        }
    }

    /// Whether it was the local change that was given up.
    var givesUpLocalChange: Bool {
        switch self {
        case .tookServer, .discarded, .keptLocal: true
        case .keptMine, .keptMerged, .deletedInstead: false
        }
    }
}
