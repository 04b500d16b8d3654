/// A row as the machines see it: a version, and whether the server has deleted it.
package protocol MachineRow: Hashable, Sendable {
    /// What the server names a state of the row by.
    associatedtype Version: Hashable, Sendable

    /// The server's version; nil in a row that the server has not seen, and in those of servers that have none.
    var version: Version? { get }

    /// Whether it is a tombstone.
    var isDeleted: Bool { get }

    /// Whether the two cannot be the same state, although their versions are equal: a server that counts versions by row,
    /// or restored a backup, uses them twice.
    func contradicts(_ other: Self) -> Bool
}

extension MachineRow {
    package func contradicts(_ other: Self) -> Bool { false }
}

/// How the contents of rows are compared. Versions play no part in it.
package protocol RowComparison<Row>: Sendable {
    associatedtype Row: MachineRow

    /// Whether the server's row is what a request has written. Where the request left something open, the server may have
    /// put its own value.
    func wrote(_ sent: Row, _ shown: Row) -> Bool

    /// Whether the server's row says what the local one says.
    func agrees(_ local: Row, _ shown: Row) -> Bool

    /// Whether the server's row differs from an earlier one of the server in nothing that the app declares.
    func isUnchanged(_ base: Row, _ shown: Row) -> Bool

    /// Whether the server's row can be an earlier one of the server whose version it has, when versions may have been used
    /// again: it differs in nothing but what was changed in the earlier one since without being sent.
    func isStill(_ base: Row, _ shown: Row) -> Bool

    /// Whether the deletion of a row may have left this tombstone. What a tombstone does not show says nothing.
    func mayBeLeft(of deleted: Row, _ tombstone: Row) -> Bool
}

extension RowComparison {
    package func isStill(_ base: Row, _ shown: Row) -> Bool { isUnchanged(base, shown) }

    /// Whether the server's row is that of a base, by its version, by what else tells states apart, and by its content.
    func isBase(_ base: Row, _ shown: Row) -> Bool {
        base.version != nil && base.version == shown.version && !base.contradicts(shown) && isStill(base, shown)
    }
}
