internal import Foundation
internal import SyncContract

/// Values inside an item that have no column type of their own, as JSON. Dates are written with milliseconds.
enum NestedJSON {
    /// The instants whose text has a year of four digits, in milliseconds: no other text is read again.
    private static let readableMilliseconds = -62_167_219_200_000...Timestamp.wireMilliseconds.upperBound

    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            let timestamp = Timestamp(date)
            guard readableMilliseconds.contains(timestamp.milliseconds) else {
                throw EncodingError.invalidValue(
                    date,
                    .init(codingPath: encoder.codingPath, debugDescription: "a date before the year 0 or after 9999")
                )
            }
            var container = encoder.singleValueContainer()
            try container.encode(timestamp.text)
        }
        return try encoder.encode(value)
    }

    /// What a type makes of a null, such as an optional in a wrapper; nil when it takes none.
    static func valueOfNull<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard case .success(let value) = Result(catching: { try decode(type, from: "null") }) else { return nil }
        return value
    }

    /// Whether a type has a value that is stored as null, and reads it from there.
    static func holdsNull<Value: Decodable>(_ type: Value.Type) -> Bool {
        guard let value = valueOfNull(type) as? any Encodable else { return false }
        guard case .success(let json) = Result(catching: { try encode(value) }) else { return false }
        return json.elementsEqual("null".utf8)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let timestamp = Timestamp(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
            }
            return timestamp.date
        }
        return try decoder.decode(type, from: Data(text.utf8))
    }
}
