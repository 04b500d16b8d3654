internal import Foundation
internal import RecordJSON
package import SyncContract

/// Takes the values of items, one property after the other.
package protocol ItemSink: AnyObject {
    /// Takes a value.
    ///
    /// - Parameters:
    ///   - value: The value; of two under one name the later counts.
    ///   - slot: The position among the declared columns, or behind them for a name that is none.
    ///   - name: The name.
    func set(_ value: borrowing FieldValue, slot: Int, name: String)

    /// Takes a text in the same way, without making a value of it.
    func set(text: borrowing String, slot: Int, name: String)
}

/// Encodes items of one table into a sink: one value per property at the top level.
package final class ItemEncoder {
    private let encoder: PropertyEncoder

    package init(_ table: TableDefinition, into sink: any ItemSink) { encoder = PropertyEncoder(table, sink) }

    deinit { encoder.dropContainer() }

    /// The names of the declared columns, and of the properties beside them that came so far.
    package var names: [String] { encoder.names }

    /// How many names are remembered.
    package var memorySize: Int { encoder.memorySize }

    /// Hands the properties of an item to the sink, without its id.
    ///
    /// - Throws: ``StoreError/Code/invalidItem``, or what the item throws.
    package func encode(_ item: some Encodable) throws {
        encoder.begin()
        do {
            try item.encode(to: encoder)
        } catch let error as EncodingError {
            throw StoreError(
                .invalidItem,
                error.property.map { "Property '\($0)' of '\(encoder.table.name)' cannot be encoded." }
                    ?? "An item of '\(encoder.table.name)' cannot be encoded.",
                cause: error.withoutValue
            )
        }
        try encoder.checkRefusal()
    }
}

@safe
private final class PropertyEncoder: Encoder {
    let table: TableDefinition
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let sink: any ItemSink

    /// Why the item has no form as a record; the protocol leaves no way to throw where this is noticed.
    private var refusal: String?

    /// In memory of its own, because each use of a property of a class is checked at run time, and there is one per
    /// value.
    private let slots: UnsafeMutablePointer<PropertySlots>

    /// The container of the item before, and the type of its keys. It holds the encoder.
    private var container: (keys: ObjectIdentifier, box: AnyObject)?

    init(_ table: TableDefinition, _ sink: any ItemSink) {
        self.table = table
        self.sink = sink
        unsafe slots = .allocate(capacity: 1)
        unsafe slots.initialize(to: PropertySlots(table.allColumns.map(\.name)))
    }

    deinit {
        unsafe slots.deinitialize(count: 1)
        unsafe slots.deallocate()
    }

    var names: [String] { unsafe slots.pointee.names }
    var memorySize: Int { unsafe slots.pointee.memorySize }

    func begin() {
        refusal = nil
        unsafe slots.pointee.begin()
    }

    func checkRefusal() throws {
        if let refusal { throw StoreError(.invalidItem, refusal) }
    }

    func set(_ value: borrowing FieldValue, _ key: some CodingKey) {
        let name = key.stringValue
        guard let slot = unsafe slots.pointee.slot(of: name, appending: true) else { return }
        sink.set(value, slot: slot, name: name)
    }

    func set(text: borrowing String, _ key: some CodingKey) {
        let name = key.stringValue
        guard let slot = unsafe slots.pointee.slot(of: name, appending: true) else { return }
        sink.set(text: text, slot: slot, name: name)
    }

    /// Lends the container of the item before again: making one allocates, and looks its type up.
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if let container, container.keys == ObjectIdentifier(type) {
            // The box was made for keys of this type.
            return unsafe unsafeDowncast(container.box, to: ContainerBox<Key>.self).container
        }
        let made = KeyedEncodingContainer(ItemEncodingContainer<Key>(encoder: self))
        container = (ObjectIdentifier(type), ContainerBox(made))
        return made
    }

    /// Ends the cycle of the encoder and the container that it keeps.
    func dropContainer() { container = nil }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { refuse() }
    func singleValueContainer() -> any SingleValueEncodingContainer { refuse() }

    func refuse() -> DiscardingContainer {
        refusal = "items of '\(table.name)' must encode as named properties, without nested containers of their own"
        return DiscardingContainer()
    }
}

private final class ContainerBox<Key: CodingKey> {
    let container: KeyedEncodingContainer<Key>

    init(_ container: KeyedEncodingContainer<Key>) { self.container = container }
}

private struct ItemEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: PropertyEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.set(.null, key) }

    func encode(_ value: Bool, forKey key: Key) { encoder.set(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { encoder.set(text: value, key) }
    func encode(_ value: Double, forKey key: Key) { encoder.set(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { encoder.set(value.fieldValue, key) }
    func encode(_ value: Int, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: UInt, forKey key: Key) throws { try encode(UInt64(value), forKey: key) }
    func encode(_ value: UInt8, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { encoder.set(.int64(Int64(value)), key) }
    func encode(_ value: UInt64, forKey key: Key) throws {
        guard let number = Int64(exactly: value) else { throw unfit(key, "it is above 2^63 - 1") }
        encoder.set(.int64(number), key)
    }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        // It is the row's operation that says it.
        if Value.self == SyncState.self { return }
        encoder.set(try field(value, key), key)
    }

    // A property that is nil clears its column. The default implementations, one per type, would leave the key out.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { set(value.map(FieldValue.bool), key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) {
        if let value { encoder.set(text: value, key) } else { encodeNil(forKey: key) }
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { set(value.map(FieldValue.double), key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { set(value.map(\.fieldValue), key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { set(value.map(FieldValue.int64), key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { set(value.map { .int64(Int64($0)) }, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if Value.self == SyncState.self { return }
        set(try value.map { try field($0, key) }, key)
    }

    private func set(_ value: FieldValue?, _ key: Key) { encoder.set(value ?? .null, key) }

    private func field<Value: Encodable>(_ value: Value, _ key: Key) throws -> FieldValue {
        // The commonest type first, and without a search through its conformances.
        if Value.self == Date.self { return .date(Timestamp(unsafe unsafeBitCast(value, to: Date.self))) }
        switch value {
        case let value as Data: return .bytes(Array(value))
        case let value as UUID: return .string(value.uuidString)
        case let value as URL: return .string(value.absoluteString)
        case let value as Decimal:
            guard let decimal = DecimalText(value.description) else { throw unfit(key, "it is not a number") }
            return .decimal(decimal)
        default:
            return try nested(value, key)
        }
    }

    private func nested(_ value: some Encodable, _ key: Key) throws -> FieldValue {
        let json: Data
        do {
            json = try NestedJSON.encode(value)
        } catch let error as EncodingError {
            throw unfit(key, error.reason, cause: error.withoutValue)
        }
        let field: FieldValue?
        do {
            field = try FieldValue.parse(Array(json), as: encoder.table.type(of: key.stringValue))
        } catch {
            // `Decimal.nan` is written as NaN, which is no JSON.
            throw unfit(key, "a number in it is not finite, or it is nested too deeply", cause: error)
        }
        guard let field else { throw unfit(key, "its JSON does not fit the declared column") }
        return field
    }

    private func unfit(_ key: Key, _ reason: String, cause: (any Error)? = nil) -> StoreError {
        StoreError(
            .invalidItem,
            "Property '\(key.stringValue)' of '\(encoder.table.name)' cannot be stored: \(reason).",
            cause: cause
        )
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(DiscardingKeyedContainer<Nested>(container: encoder.refuse()))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.refuse() }

    // A superclass encodes into the same record.
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// Takes everything and keeps nothing: the item has been refused by then.
struct DiscardingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer, Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func encodeNil() {}
    func encode<Value: Encodable>(_ value: Value) {}
    func nestedContainer<Key: CodingKey>(keyedBy keyType: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(DiscardingKeyedContainer<Key>(container: self))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { self }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        nestedContainer(keyedBy: type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

struct DiscardingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let container: DiscardingContainer
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) {}
    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        container.nestedContainer(keyedBy: keyType)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { container }
    func superEncoder() -> any Encoder { container }
    func superEncoder(forKey key: Key) -> any Encoder { container }
}
