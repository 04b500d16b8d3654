internal import ItemCoding
internal import SyncContract

// Why a change is not made.
extension LocalChanges {
    /// What of an item may be written here: declared columns. System properties belong to the server; undeclared
    /// columns came from it and go back as they are, or as one of the given rows of the server has them.
    func writable(_ item: Record, over stored: Record?, or others: [Record] = []) throws -> Record {
        var row = item.withoutSystemProperties()
        for (name, value) in zip(row.slotNames, row.slotValues) {
            guard let value else { continue }
            guard let column = table.columns.first(where: { $0.name == name }) else {
                guard stored?[name] == value || others.contains(where: { $0[name] == value }) else {
                    throw SyncError(.invalidItem, LocalValues.undeclared(name, table))
                }
                row[name] = nil
                continue
            }
            guard value.doubleValue?.isFinite ?? true else {
                throw SyncError(.invalidItem, LocalValues.notFinite(name, table))
            }
            // One that is there already, as of a time when the column stayed here, keeps no other column from being changed.
            let isNew = stored?[name] != value && !others.contains { $0[name] == value }
            guard !isNew || !LocalValues.isBeyondServices(value, column, table) else {
                throw SyncError(.invalidItem, LocalValues.beyondServices(name, table))
            }
        }
        return row
    }

    var itemExists: SyncError {
        SyncError(.invalidAction, "Table '\(table.name)' has an item with this id; update it instead.")
    }

    static var deletionWaits: SyncError {
        SyncError(
            .invalidAction,
            "The item has a deletion waiting; take it back (undoDelete), insert the item again, or push first."
        )
    }

    static func nothingWaits(in table: TableDefinition) -> SyncError {
        SyncError(
            .invalidAction,
            "Table '\(table.name)' is local only: its changes do not wait for a server, so that none can be taken back."
        )
    }

    static var noDeletionWaits: SyncError {
        SyncError(.invalidAction, "No deletion of this item waits; insert the item again, or pull it.")
    }
}
