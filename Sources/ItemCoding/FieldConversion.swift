internal import Foundation
internal import RecordJSON
internal import SyncContract

/// The values of an item's properties, made from those of a record or of a row of a result in SQL, and what is said of one
/// that cannot be made.
enum FieldConversion {
    /// What to read a property from, which must have a value.
    static func present<Value>(
        _ field: FieldValue?,
        _ key: some CodingKey,
        _ convert: (FieldValue) throws -> Value?
    ) throws -> Value {
        guard let field else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [key], debugDescription: "no such column"))
        }
        if field.isNull {
            throw DecodingError.valueNotFound(Value.self, .init(codingPath: [key], debugDescription: "null"))
        }
        return try converted(field, key, convert)
    }

    /// The same in a type that is none of the standard library's, and may take a null itself.
    static func present<Value: Decodable>(
        _ field: FieldValue?,
        as type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value {
        if let field, field.isNull, let value = NestedJSON.valueOfNull(type) { return value }
        return try present(field, key) { try value($0, as: type, key) }
    }

    /// What to read a property from which is not null.
    static func converted<Value>(
        _ field: FieldValue,
        _ key: some CodingKey,
        _ convert: (FieldValue) throws -> Value?
    ) throws -> Value {
        guard let value = try convert(field) else {
            throw DecodingError.typeMismatch(Value.self, .init(codingPath: [key], debugDescription: "other type"))
        }
        return value
    }

    /// The value of a field in a type that is none of the standard library's; nil when the field is of another kind.
    static func value<Value: Decodable>(
        _ field: FieldValue,
        as type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value? {
        switch type {
        case is Date.Type: return Date(fieldValue: field) as? Value
        case is Data.Type: return Data(fieldValue: field) as? Value
        case is UUID.Type: return UUID(fieldValue: field) as? Value
        case is URL.Type: return URL(fieldValue: field) as? Value
        case is Decimal.Type: return Decimal(fieldValue: field) as? Value
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

    /// The whole number of a field in the width asked for; nil when it does not fit.
    @inline(__always)
    static func whole<Value: FixedWidthInteger>(_ field: FieldValue) -> Value? {
        field.int64Value.flatMap { Value(exactly: $0) }
    }

    /// The double of a field, or its whole number when a double holds it.
    static func number(_ field: FieldValue) -> Double? { Double(fieldValue: field) }

    /// Says what cannot be read, by its name alone: the debug description of a decoding error may quote the value.
    static func describe(_ error: DecodingError, as noun: String, missing: String, null: String) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, _): "\(noun) '\(key.stringValue)' \(missing)"
        case .valueNotFound(_, let context): "\(noun) '\(path(context))' \(null)"
        case .typeMismatch(let type, let context): "\(noun) '\(path(context))' is no \(type)"
        case .dataCorrupted(let context): "\(noun) '\(path(context))' cannot be read"
        @unknown default: "a \(noun) cannot be read"
        }
    }
}
