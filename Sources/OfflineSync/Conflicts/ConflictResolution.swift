internal import Foundation
internal import ItemCoding
internal import SyncContract

/// How a ``TableOperationError`` is settled. Nothing is sent by it: the next push does that.
///
/// An item of a type says nothing about columns that stay on the device: they keep their values. Nor does it set a column
/// in which it says what it was read with: what its type does not show of the rows of the error stays, a null among it for
/// which the value of the table's example stands in.
public enum ConflictResolution<Item: Sendable>: Sendable {
    /// The local change stays and the next push sends it over the server's row, provided that the server's row is still
    /// the one in the error. Where the server did not show its row, that is whichever one the next push finds when it looks,
    /// unless the row is changed here before; what others write after that is a conflict again. A row that the server
    /// deleted is brought back. A change that was merely refused is sent again. Of a change that was discarded, and would be
    /// taken back where nobody knows what was there before, nothing is left to be kept: the server's row stays.
    case keepMine
    /// As ``keepMine``, with other content: the result of a merge. The values are merged over the local row. A deletion
    /// becomes a change with this content. An item that was read before has not seen what the merge took in: saved with its
    /// version, it is a conflict again.
    case keepMerged(Item)
    /// The local change is dropped and the server's row takes the place of the local one, or removes it when the
    /// server has none. When the server did not show its row, the local one is at first as it was before the change, and the
    /// next push asks once more: the conflict may have to be settled a second time. Then the next pull fetches the row.
    case takeServer
    /// The local change is dropped, and the row is again as the server last had it; one that the server never had is
    /// removed. Where that is not known, the row is removed, and comes with the next pull. What was sent and may still
    /// arrive is taken back by the next push.
    case discard
    /// The local change is dropped, and the local row stays, or gets the given values; nothing is sent. The row differs
    /// from the server's until it changes here or there; what is changed here later is based on the server's row, brings
    /// it back when the server has deleted it, and makes it anew where the server had nothing of it, or has certainly not made
    /// it. A deletion that is given up like this lasts until a pull brings the row, and so does the difference where the server
    /// names no versions.
    ///
    /// Where the server chooses ids, an item whose insert is dropped has none: rows that refer to it reach the server with
    /// the local id, and keep that there until they are written again, also when the item gets an id after all.
    ///
    /// The file of a column that owns its file may differ as well: the server's row keeps the one that it names, which nothing
    /// on this device names any more. Nothing removes it from the server when the row changes here later; whoever knows its
    /// id can, with `SyncAttachments.remove(_:)`.
    case keepLocal(Item? = nil)
    /// The row is deleted instead, here at once and on the server by the next push, over what the error shows. The rows that
    /// refer to it change with it as their columns declare (`DeletionRule`), and are sent before it; where that is decided
    /// while a push runs, the next one sends them all.
    case deleteInstead
}

extension ConflictResolution: Equatable where Item: Equatable {}
extension ConflictResolution: Hashable where Item: Hashable {}

extension ConflictResolution {
    /// The same about items of another type.
    func mapped<Other>(_ transform: (Item) throws -> Other) rethrows -> ConflictResolution<Other> {
        switch self {
        case .keepMine: .keepMine
        case .keepMerged(let item): .keepMerged(try transform(item))
        case .takeServer: .takeServer
        case .discard: .discard
        case .keepLocal(let item): .keepLocal(try item.map(transform))
        case .deleteInstead: .deleteInstead
        }
    }
}

extension ConflictResolution<Record> {
    /// What an item says that was made of the rows of an error.
    func decided<Type: Codable & Identifiable>(
        about error: TableOperationError<Record>,
        in table: TableDefinition,
        as type: Type.Type
    ) -> ConflictResolution<Record> where Type.ID: RowID {
        let (encoder, decoder) = (RecordEncoder(table), RecordDecoder(table))
        return mapped { row in
            var row = row
            // An id that is a UUID says nothing of how its text is spelled.
            if Type.ID.self == UUID.self, row.id.stringValue?.lowercased() == error.itemID.lowercased() {
                row.id = .string(error.itemID)
            }
            // They are in none of the rows that whoever decides was shown.
            for column in table.columns where column.isLocal { row[column.name] = nil }
            let mine = error.item.map { ItemOrigin<Type>($0, encoder, decoder) }
            let theirs = error.serverItem.map { ItemOrigin<Type>($0, encoder, decoder) }
            for name in row.names {
                // Of what the type does not show, the side counts that has changed it.
                let isTheirs = error.serverItem?[name] != error.baseItem?[name]
                let origins = isTheirs ? [theirs, mine] : [mine, theirs]
                if let value = origins.lazy.compactMap({ $0?.value(name, as: row) }).first { row[name] = value }
            }
            return row
        }
    }
}
