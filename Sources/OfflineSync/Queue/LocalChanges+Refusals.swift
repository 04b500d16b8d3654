internal import SyncContract

// Why a change is not made.
extension LocalChanges {
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
