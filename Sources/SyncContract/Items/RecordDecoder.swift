internal import Foundation

/// Decodes an item from a record: one property per value at the top level, and the id under `id`.
package struct RecordDecoder {
    private let table: TableDefinition

    package init(_ table: TableDefinition) { self.table = table }

    package func decode<Item: Decodable>(_ type: Item.Type, from record: Record) throws -> Item {
        do {
            return try Item(from: ItemDecoder(record: record))
        } catch let error as DecodingError {
            throw StoreError(
                .invalidItem,
                "a row of '\(table.name)' does not fit \(type): \(Self.describe(error)); make the property optional or"
                    + " give it the column's type"
            )
        }
    }

    /// Names the property; the debug description of a decoding error may quote the value.
    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "property '\(key.stringValue)' has no value"
        case .valueNotFound(_, let context): "property '\(path(context))' has no value"
        case .typeMismatch(let type, let context): "property '\(path(context))' is no \(type)"
        case .dataCorrupted(let context): "property '\(path(context))' cannot be read"
        @unknown default: "a property cannot be read"
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map(\.stringValue).joined(separator: ".")
    }
}

private struct ItemDecoder: Decoder {
    let record: Record
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ItemDecodingContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.notNamed }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.notNamed }

    static var notNamed: StoreError {
        StoreError(.invalidItem, "items must decode from named properties, without nested containers of their own")
    }
}

private struct ItemDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ItemDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { (["id"] + decoder.record.names).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.record[key.stringValue] != nil }

    func decodeNil(forKey key: Key) -> Bool { decoder.record[key.stringValue]?.isNull ?? true }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let field = decoder.record[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [key], debugDescription: "no such column"))
        }
        if field.isNull {
            throw DecodingError.valueNotFound(type, .init(codingPath: [key], debugDescription: "null"))
        }
        guard let value = try Self.value(field, as: type, key) as? Value else {
            throw DecodingError.typeMismatch(type, .init(codingPath: [key], debugDescription: "other type"))
        }
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        decodeNil(forKey: key) ? nil : try decode(type, forKey: key)
    }

    /// The value of a field in the type asked for; nil when the field is of another kind.
    private static func value<Value: Decodable>(_ field: FieldValue, as type: Value.Type, _ key: Key) throws -> Any? {
        switch type {
        case is String.Type: return field.stringValue
        case is Bool.Type: return field.boolValue
        case is Double.Type: return number(field)
        case is Float.Type: return number(field).map { Float($0) }
        case let type as any FixedWidthInteger.Type: return field.int64Value.flatMap { integer($0, as: type) }
        case is Date.Type: return field.dateValue?.date
        case is Data.Type: return field.bytesValue.map { Data($0) }
        case is UUID.Type: return field.stringValue.flatMap(UUID.init(uuidString:))
        case is URL.Type: return field.stringValue.flatMap(URL.init(string:))
        case is Decimal.Type:
            let text = field.decimalValue?.text ?? field.int64Value.map { String($0) } ?? number(field)?.description
            return text.flatMap { Decimal(string: $0) }
        default:
            let json = try RecordCoding.json(field, column: key.stringValue)
            do {
                return try NestedJSON.decode(type, from: json)
            } catch is DecodingError {
                // Its description may quote the value; the property's name is what helps.
                throw DecodingError.dataCorrupted(.init(codingPath: [key], debugDescription: "nested value"))
            }
        }
    }

    private static func number(_ field: FieldValue) -> Double? {
        field.doubleValue ?? field.int64Value.flatMap { Double(exactly: $0) }
    }

    private static func integer<Number: FixedWidthInteger>(_ value: Int64, as type: Number.Type) -> Number? {
        Number(exactly: value)
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
