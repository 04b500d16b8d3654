/// A request that left and may still arrive, or arrive again.
package struct SentRequest<Row: MachineRow>: Hashable, Sendable {
    /// What it asks for.
    package enum Kind: Int64, Hashable, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
        /// Brings a deleted row back. With a tombstone as its content it is a step that shows the row as it was, before
        /// another one gives it its content.
        case restore = 3
        /// Makes sure that there is a tombstone.
        case tombstone = 4
        /// Gives a tombstone the content that it is to be brought back with.
        case fill = 5
        /// Nothing: this is the server's row or tombstone over which a local one was kept, and what the next change is
        /// based on; without content where the server had neither, and the next change makes the row.
        case none = 6
    }

    package var kind: Kind

    /// What it writes; nil when it writes nothing, or when an older version of this library has not kept it.
    package var content: Row?

    /// The version that the server must have, nil in requests that are carried out whatever the server has.
    package var version: Row.Version?

    package init(_ kind: Kind, content: Row? = nil, version: Row.Version? = nil) {
        self.kind = kind
        self.content = content
        self.version = version
    }

    /// Whether it can never succeed any more, now that the server has shown a row or tombstone.
    func isDead(given shown: Row) -> Bool { isDead(at: shown.version) }

    /// The same of a row or tombstone in a version.
    func isDead(at shown: Row.Version?) -> Bool {
        switch kind {
        case .insert, .none: true
        case .tombstone where version == nil: true
        // Only servers without versions are sent this; nothing can be known of it.
        case .update, .delete, .restore, .tombstone, .fill: version == nil || version != shown
        }
    }

    /// Whether a local row was kept where the server had no live one.
    var isOfNoRow: Bool { kind == .none && content?.isDeleted != false }

    /// Whether it deletes whatever the server has.
    var isUnconditional: Bool { kind == .delete && version == nil }

    /// Whether it makes a row that is live.
    var writesRow: Bool { kind == .insert || kind == .update || kind == .restore }

    /// Whether it is a step that shows a tombstone as it is, before another one writes it.
    var showsTombstone: Bool { kind == .restore && content?.isDeleted ?? false }

    /// Whether it writes a tombstone, or brings it back, for which the tombstone may have to be shown before.
    var writesAfterShowing: Bool {
        switch kind {
        // A tombstone may be written anew with what it has.
        case .tombstone: version != nil && content != nil
        case .restore, .fill: version != nil && content.map { !$0.isDeleted } ?? false
        case .insert, .update, .delete, .none: false
        }
    }

    /// Whether it deletes.
    var deletes: Bool { kind == .delete || kind == .tombstone }

    /// Whether it may have left a tombstone, of the row that it was based on.
    func mayHaveLeft(_ tombstone: Row, over base: Row?, _ comparison: some RowComparison<Row>) -> Bool {
        guard deletes else { return false }
        guard !isUnconditional, let deleted = content ?? base else { return true }
        return comparison.mayBeLeft(of: deleted, tombstone)
    }
}
