package import SyncContract

/// Decodes items from records of one table: one property per value at the top level, and the id under `id`.
///
/// Where a property must have a value and its column has none, that of the table's example stands in.
package struct RecordDecoder {
    private let table: TableDefinition
    private let decoder: ItemDecoder

    package init(_ table: TableDefinition) {
        self.table = table
        decoder = ItemDecoder(table.standIns)
    }

    /// The item of a record.
    ///
    /// - Throws: ``StoreError/Code/invalidItem``; `MissingSyncState` when the item asks for its state and the record was
    ///   read without. From then on ``SyncStateItems`` has the type.
    package func decode<Item: Decodable>(_ type: Item.Type, from record: Record) throws -> Item {
        decoder.begin(record)
        let item = Result { try Item(from: decoder) }
        guard !decoder.lacksSyncState else {
            SyncStateItems.insert(type)
            throw MissingSyncState()
        }
        do {
            return try item.get()
        } catch let error as DecodingError {
            let problem = FieldConversion.describe(
                error,
                as: "property",
                missing: "has no value",
                null: "has no value"
            )
            throw StoreError(
                .invalidItem,
                "A row of '\(table.name)' does not fit \(type): \(problem); make the property optional, give the table"
                    + " an example, or give the property the column's type."
            )
        }
    }
}

/// Gives out the values of one record after the other.
private final class ItemDecoder: Decoder {
    private var record = Record(id: "")
    private var slots = PropertySlots([])
    private let standIns: [String: FieldValue]

    init(_ standIns: [String: FieldValue]) { self.standIns = standIns }

    /// Whether the item has asked for a state that the record does not have, whatever it made of the error.
    private(set) var lacksSyncState = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func begin(_ record: Record) {
        self.record = record
        lacksSyncState = false
        if slots.names == record.slotNames { slots.begin() } else { slots = PropertySlots(record.slotNames) }
    }

    /// The value under a key, nil when there is none.
    func value(_ key: some CodingKey) -> FieldValue? {
        let name = key.stringValue
        if let slot = slots.slot(of: name, appending: false) { return record.slotValues[slot] }
        return name == "id" ? record.id.fieldValue : nil
    }

    /// The value under a key, or what stands in for one that there is not.
    func presentValue(_ key: some CodingKey) -> FieldValue? {
        let value = value(key)
        guard value?.isNull ?? true, let standIn = standIns[key.stringValue] else { return value }
        return standIn
    }

    /// The state of the row.
    func syncState() throws -> SyncState {
        if let state = record.syncState { return state }
        lacksSyncState = true
        throw MissingSyncState()
    }

    var names: [String] { ["id"] + record.names }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ItemDecodingContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.notNamed }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.notNamed }

    static var notNamed: StoreError {
        StoreError(.invalidItem, "Items must decode from named properties, without nested containers of their own.")
    }
}

private struct ItemDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ItemDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.value(key) != nil }

    func decodeNil(forKey key: Key) -> Bool { decoder.value(key)?.isNull ?? true }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try present(key) { $0.boolValue } }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) { $0.boolValue } }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try present(key) { $0.stringValue } }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try optional(key) { $0.stringValue }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try present(key) { FieldConversion.number($0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try optional(key) { FieldConversion.number($0) }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try present(key) { FieldConversion.number($0).map { Float($0) } }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try optional(key) { FieldConversion.number($0).map { Float($0) } }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key, FieldConversion.whole) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try optional(key, FieldConversion.whole)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try present(key, FieldConversion.whole) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try optional(key, FieldConversion.whole)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if type == SyncState.self, let state = try decoder.syncState() as? Value { return state }
        return try FieldConversion.present(decoder.presentValue(key), as: type, key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if type == SyncState.self { return try decoder.syncState() as? Value }
        return try optional(key) { try FieldConversion.value($0, as: type, key) }
    }

    /// The value under a key that must have one of the right type.
    private func present<Value>(_ key: Key, _ convert: (FieldValue) throws -> Value?) throws -> Value {
        try FieldConversion.present(decoder.presentValue(key), key, convert)
    }

    private func optional<Value>(_ key: Key, _ convert: (FieldValue) throws -> Value?) throws -> Value? {
        guard let field = decoder.value(key), !field.isNull else { return nil }
        return try FieldConversion.converted(field, key, convert)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw ItemDecoder.notNamed
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw ItemDecoder.notNamed }

    // A superclass decodes from the same record.
    func superDecoder() -> any Decoder { decoder }
    func superDecoder(forKey key: Key) -> any Decoder { decoder }
}
