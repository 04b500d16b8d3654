package import SyncContract

/// Encodes items as records of one table.
package final class RecordEncoder {
    private let sink = RecordSink()
    private let encoder: ItemEncoder

    package init(_ table: TableDefinition) { encoder = ItemEncoder(table, into: sink) }

    /// The record of an item.
    ///
    /// - Throws: ``StoreError/Code/invalidItem``, or what the item throws.
    package func encode<Item: Encodable & Identifiable>(_ item: Item) throws -> Record where Item.ID: RowID {
        sink.values = Array(repeating: nil, count: encoder.names.count)
        try encoder.encode(item)
        return Record(id: item.id.recordID, names: encoder.names, values: exchange(&sink.values, with: []))
    }
}

/// The values of one item, by the names of a record.
private final class RecordSink: ItemSink {
    var values: [FieldValue?] = []

    func set(_ value: borrowing FieldValue, slot: Int, name: String) { keep(copy value, slot) }

    func set(text: borrowing String, slot: Int, name: String) { keep(.string(copy text), slot) }

    private func keep(_ value: FieldValue, _ slot: Int) {
        // A name that is new is the last one.
        if slot == values.count { values.append(value) } else { values[slot] = value }
    }
}
