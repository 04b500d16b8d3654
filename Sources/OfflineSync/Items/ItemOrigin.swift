internal import ItemCoding
internal import SyncContract

/// A row that an item was read from, which may say more than its type holds: further members of an object, further digits of
/// a time, an id in other letters, a null for which the value of the table's example stands in.
struct ItemOrigin<Item: Codable & Identifiable> where Item.ID: RowID {
    private let row: Record
    /// What an item that was read from the row says of itself; nil when the type cannot be made from it.
    private let read: Record?

    init(_ row: Record, _ encoder: RecordEncoder, _ decoder: RecordDecoder) {
        self.row = row
        var stated = row
        stated.syncState = row.syncState ?? .synced
        do {
            read = try encoder.encode(decoder.decode(Item.self, from: stated))
        } catch {
            // Then no item was read from it.
            read = nil
        }
    }

    /// The value of the row in a column of which an item says what it was read with; nil where it says something else.
    func value(_ name: String, as record: Record) -> FieldValue? {
        guard let read, read[name] == record[name] else { return nil }
        return row[name] ?? .null
    }
}
