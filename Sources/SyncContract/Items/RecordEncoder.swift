/// Encodes items as records of one table.
package final class RecordEncoder {
    private let sink = RecordSink()
    private let encoder: ItemEncoder

    package init(_ table: TableDefinition) { encoder = ItemEncoder(table, into: sink) }

    /// The record of an item.
    ///
    /// - Throws: ``StoreError/Code/invalidItem``, or what the item throws.
    package func encode<Item: Encodable & Identifiable>(_ item: Item) throws -> Record where Item.ID == String {
        sink.values = Array(repeating: nil, count: encoder.names.count)
        try encoder.encode(item)
        return Record(id: .string(item.id), names: encoder.names, values: exchange(&sink.values, with: []))
    }
}

/// The values of one item, by the names of a record.
private final class RecordSink: ItemSink {
    var values: [FieldValue?] = []

    func set(_ value: consuming FieldValue, slot: Int, name: String) {
        // A name that is new is the last one.
        if slot == values.count { values.append(value) } else { values[slot] = value }
    }
}
