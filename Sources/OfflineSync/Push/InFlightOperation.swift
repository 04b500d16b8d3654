internal import SyncContract

/// An operation and what it sends, as of one instant.
struct InFlightOperation: Sendable {
    var operation: TableOperation
    var table: TableDefinition
    /// The local row; nil for deletes, and when the row is missing.
    var row: Record?
    /// The operation as it was before this attempt: `sentItems` are what earlier attempts sent whose answers are not
    /// known.
    var before: TableOperation
    /// The columns that rows of the server have shown.
    var shownColumns: Set<String>
    /// How often this push has sent the operation again, over a row that it may go over.
    var repetitions = 0

    /// Whether the change may go over the server's row without asking: the row is of this device, or nobody has
    /// changed anything in it that the app knows of.
    ///
    /// After a lost answer the latter proves nothing: somebody may have undone what was sent. A server that shows
    /// other rows again and again must not keep the push for ever.
    func mayGoOver(_ serverItem: Record) -> Bool {
        guard repetitions < 4 else { return false }
        if wasSentBefore(serverItem) { return true }
        // What a deletion sends is not among the items.
        let wasSent = !before.sentItems.isEmpty || (operation.kind == .delete && before.isAttempted)
        return !wasSent && before.base?.isDeleted == false && hasBaseContent(serverItem)
    }

    /// Whether the server's row is what an earlier attempt sent.
    private func wasSentBefore(_ serverItem: Record) -> Bool {
        if before.sentItems.contains(where: { isSame($0, serverItem) }) { return true }
        // A row was to be brought back, and is there as it was deleted: the first half was carried out.
        guard before.restores, let deleted = before.base, deleted.isDeleted else { return false }
        return hasBaseContent(serverItem)
    }

    /// Whether the server's row says what the local one says.
    func hasLocalContent(_ serverItem: Record) -> Bool {
        guard let row else { return false }
        // Only a row that this device may have written itself can have a server's default in place of a null.
        return before.sentItems.isEmpty
            ? table.hasSameContent(row, serverItem, defaultsCountAsNull: false) : isSame(row, serverItem)
    }

    /// Whether the server's row differs from the one that the change is based on in nothing that the app declares.
    func hasBaseContent(_ serverItem: Record) -> Bool {
        guard let base = before.base else { return false }
        return table.hasSameContent(base, serverItem, defaultsCountAsNull: false, shownColumns: shownColumns)
    }

    private func isSame(_ sent: Record, _ serverItem: Record) -> Bool {
        table.hasSameContent(sent, serverItem, defaultsCountAsNull: true, shownColumns: shownColumns)
    }
}
