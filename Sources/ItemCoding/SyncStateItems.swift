internal import Synchronization
package import SyncContract

/// The types of items that have asked for the state of their row: rows are read with their states for them.
///
/// What a type asks for shows when the first row is made an item. That reading is done once more, with the states.
package enum SyncStateItems {
    private static let types = Mutex<Set<ObjectIdentifier>>([])

    /// Whether items of a type are read with their states.
    package static func contains(_ type: Any.Type) -> Bool { types.withLock { $0.contains(ObjectIdentifier(type)) } }

    static func insert(_ type: Any.Type) { types.withLock { _ = $0.insert(ObjectIdentifier(type)) } }
}

extension Query {
    /// This query for whole items of a type, with the states of their rows if they ask for them.
    package func forItems(of type: Any.Type) -> Query {
        var query = self
        query.selection = nil
        if SyncStateItems.contains(type) { query.includesSyncStates = true }
        return query
    }
}

extension StoreReading where Self: ~Copyable {
    /// The record of an item of a type; nil when there is none, which is no error.
    package mutating func record(_ id: RecordID, in table: String, forItem type: Any.Type) throws -> Record? {
        guard var record = try record(id, in: table) else { return nil }
        guard SyncStateItems.contains(type) else { return record }
        let query = Query(table).filtered(by: Column("id") == id.fieldValue).selecting([]).includingSyncStates()
        record.syncState = try first(query)?.syncState
        return record
    }
}
