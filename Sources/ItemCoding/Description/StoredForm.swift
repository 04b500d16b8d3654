internal import Foundation
internal import SyncContract

/// A property's value in the form in which two are compared: that of its column.
enum StoredForm {
    /// The form of a value; nil for one that cannot be stored.
    static func of(_ value: Any) -> FieldValue? {
        if let optional = value as? any OptionalValue { return optional.unwrapped.map(of) ?? .some(.null) }
        if let value = value as? any ColumnValue { return value.fieldValue }
        guard let value = value as? any Encodable,
            case .success(let json) = Result(catching: { try NestedJSON.encode(value) })
        else { return nil }
        return JSONText(String(decoding: json, as: UTF8.self)).map(FieldValue.json)
    }

    /// A type without its optional.
    static func unwrapped(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalValue.Type).map { unwrapped($0.wrappedType) } ?? type
    }
}

/// What is common to optionals of every type.
private protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: Any.Type { Wrapped.self }
    var unwrapped: Any? { map { $0 } }
}

/// The values of an item's properties, by coding key and in their own types.
enum PropertyValues {
    static func of(_ item: some Encodable) throws -> [String: Any] {
        let collector = Collector()
        try item.encode(to: CollectingEncoder(collector: collector))
        return collector.values
    }
}

private final class Collector {
    var values: [String: Any] = [:]
}

private struct CollectingEncoder: Encoder {
    let collector: Collector
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CollectingContainer<Key>(collector: collector))
    }

    // An item that encodes itself in another way has no properties to collect.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { DiscardingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { DiscardingContainer() }
}

private struct CollectingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: Collector
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { collector.values[key.stringValue] = value }
    func encode(_ value: Int128, forKey key: Key) { collector.values[key.stringValue] = value }
    func encode(_ value: UInt128, forKey key: Key) { collector.values[key.stringValue] = value }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        DiscardingContainer().nestedContainer(keyedBy: keyType)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { DiscardingContainer() }
    func superEncoder() -> any Encoder { CollectingEncoder(collector: collector) }
    func superEncoder(forKey key: Key) -> any Encoder { CollectingEncoder(collector: collector) }
}
