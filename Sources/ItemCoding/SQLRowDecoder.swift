internal import Foundation
internal import RecordJSON
public import SyncContract

extension SyncContextDataSource {
    /// A report in SQL, as items of a type: see ``SQLQuery``.
    ///
    /// An item's properties are the result's columns under its coding keys. Where a column has no declared type, the
    /// property's type decides: `Decimal` comes from a decimal text or a number, `Date` from whole milliseconds since
    /// 1970, `Bool` from 0 and 1, a whole number from a double without a fraction, an enum from its raw value. A
    /// property whose column is null or not there must be optional.
    ///
    /// For stores with the capability ``StoreCapabilities/sql``; reading throws ``StoreError/Code/unsupported``
    /// otherwise.
    public func sql<Row: Decodable & Sendable>(_ query: SQLQuery, as type: Row.Type) -> SQLReport<Row> {
        SQLReport(self, query) { rows in try rows.map { try SQLRowDecoder.decode(type, from: $0) } }
    }
}

/// Gives out the values of one row of a result in SQL.
private struct SQLRowDecoder: Decoder {
    let row: SQLRow

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Row: Decodable>(_ type: Row.Type, from row: SQLRow) throws -> Row {
        do {
            return try Row(from: SQLRowDecoder(row: row))
        } catch let error as DecodingError {
            throw StoreError(.invalidItem, "A row of the SQL does not fit \(type): \(Self.describe(error)).")
        }
    }

    /// Names the property; the debug description of a decoding error may quote the value.
    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "no column is named '\(key.stringValue)'; name one so with AS"
        case .valueNotFound(_, let context): "column '\(path(context))' is null; make the property optional"
        case .typeMismatch(let type, let context): "column '\(path(context))' is no \(type)"
        case .dataCorrupted(let context): "column '\(path(context))' cannot be read"
        @unknown default: "a column cannot be read"
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map(\.stringValue).joined(separator: ".")
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SQLRowContainer<Key>(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.notNamed }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.notNamed }

    static var notNamed: StoreError {
        StoreError(.invalidItem, "Rows of SQL decode to named properties, without nested containers of their own.")
    }
}

private struct SQLRowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: SQLRow

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { row[key.stringValue]?.isNull ?? true }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try value(key) { $0.boolValue ?? [0: false, 1: true][$0.int64Value ?? -1] }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key) { $0.stringValue ?? $0.jsonValue?.text }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key, Self.number) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try value(key) { Self.number($0).map { Float($0) } }
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key, Self.whole) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key, Self.whole) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key, Self.whole) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key, Self.whole) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key, Self.whole) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key, Self.whole) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key, Self.whole) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key, Self.whole) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key, Self.whole) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key, Self.whole) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(key) { try Self.convert($0, to: type, key) as? Value }
    }

    private func value<Value>(_ key: Key, _ convert: (FieldValue) throws -> Value?) throws -> Value {
        guard let field = row[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [key], debugDescription: "no such column"))
        }
        if field.isNull {
            throw DecodingError.valueNotFound(Value.self, .init(codingPath: [key], debugDescription: "null"))
        }
        guard let value = try convert(field) else {
            throw DecodingError.typeMismatch(Value.self, .init(codingPath: [key], debugDescription: "other type"))
        }
        return value
    }

    private static func convert<Value: Decodable>(_ field: FieldValue, to type: Value.Type, _ key: Key) throws -> Any? {
        switch type {
        case is Date.Type:
            return (field.dateValue ?? field.int64Value.map(Timestamp.init(milliseconds:)))?.date
        case is Data.Type: return field.bytesValue.map { Data($0) }
        case is UUID.Type: return field.stringValue.flatMap(UUID.init(uuidString:))
        case is URL.Type: return field.stringValue.flatMap(URL.init(string:))
        case is Decimal.Type: return decimalText(field).flatMap { Decimal(string: $0) }
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

    private static func decimalText(_ field: FieldValue) -> String? {
        switch field {
        case .decimal(let value): value.text
        case .string(let text): DecimalText(text)?.text
        case .int64(let value): String(value)
        case .double(let value): DecimalText(shortestOf: value)?.text
        default: nil
        }
    }

    @inline(__always)
    private static func whole<Value: FixedWidthInteger>(_ field: FieldValue) -> Value? {
        field.int64Value.flatMap { Value(exactly: $0) } ?? field.doubleValue.flatMap { Value(exactly: $0) }
    }

    private static func number(_ field: FieldValue) -> Double? {
        field.doubleValue ?? field.int64Value.flatMap { Double(exactly: $0) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw SQLRowDecoder.notNamed
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw SQLRowDecoder.notNamed }

    // A superclass decodes from the same row.
    func superDecoder() -> any Decoder { SQLRowDecoder(row: row) }
    func superDecoder(forKey key: Key) -> any Decoder { SQLRowDecoder(row: row) }
}
