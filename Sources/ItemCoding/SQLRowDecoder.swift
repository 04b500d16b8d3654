internal import Foundation
public import SyncContract

extension SyncContextDataSource {
    /// A report in SQL, as items of a type: see ``SQLQuery``.
    ///
    /// An item's properties are the result's columns under its coding keys. Where a column has no declared type, the
    /// property's type decides: `Decimal` comes from a decimal text or a number, `Date` from whole milliseconds since
    /// 1970, `Bool` from 0 and 1, a whole number from a double without a fraction, an enum from its raw value. A
    /// property whose column is null or not there must be optional, or where it is null of a type that takes a null itself.
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
            let problem = FieldConversion.describe(
                error,
                as: "column",
                missing: "is not there, name one so with AS",
                null: "is null, make the property optional"
            )
            throw StoreError(.invalidItem, "A row of the SQL does not fit \(type): \(problem).")
        }
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
        try value(key) { Self.boolean($0) }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key) { $0.stringValue ?? $0.jsonValue?.text }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key, FieldConversion.number) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try value(key) { FieldConversion.number($0).map { Float($0) } }
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
        try FieldConversion.present(row[key.stringValue].map { Self.loosened($0, for: type) }, as: type, key)
    }

    private func value<Value>(_ key: Key, _ convert: (FieldValue) throws -> Value?) throws -> Value {
        try FieldConversion.present(row[key.stringValue], key, convert)
    }

    // What is computed has no declared type: the property's decides what it is.

    private static func loosened(_ field: FieldValue, for type: Any.Type) -> FieldValue {
        switch (type, field) {
        case (is Date.Type, .int64(let milliseconds)): .date(Timestamp(milliseconds: milliseconds))
        case (is Decimal.Type, .string(let text)): DecimalText(text).map(FieldValue.decimal) ?? field
        default: field
        }
    }

    private static func boolean(_ field: FieldValue) -> Bool? {
        switch field {
        case .bool(let value): value
        case .int64(0): false
        case .int64(1): true
        default: nil
        }
    }

    private static func whole<Value: FixedWidthInteger>(_ field: FieldValue) -> Value? {
        FieldConversion.whole(field) ?? field.doubleValue.flatMap { Value(exactly: $0) }
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
