internal import Foundation
internal import SyncContract

/// Values inside an item that have no column type of their own, as JSON. Dates are written with milliseconds.
enum NestedJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp(date).text)
        }
        return try encoder.encode(value)
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

extension Timestamp {
    /// The instant of a `Date`, rounded down to the millisecond.
    init(_ date: Date) {
        // The smallest step of a Date near today is about 0.1 µs: without the nudge, an instant that was made from
        // whole milliseconds could fall just below them.
        self.init(milliseconds: Int64(((date.timeIntervalSince1970 + 0.000_000_5) * 1_000).rounded(.down)))
    }

    /// The same instant as a `Date`.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
