#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

package import SyncContract

/// Values out of JSON, by the type of their column.
extension FieldValue {
    /// Reads a JSON text as ``read(from:as:)`` does.
    package static func parse(_ bytes: [UInt8], as type: ColumnType?) throws(JSONError) -> FieldValue? {
        var reader = JSONReader(bytes)
        let value = try read(from: &reader, as: type)
        try reader.end()
        return value
    }

    /// Reads the next value as one of a column of the given type, of any type when none is given; nil when it does not
    /// fit, and is read all the same.
    static func read(from reader: inout JSONReader, as type: ColumnType?) throws(JSONError) -> FieldValue? {
        switch try reader.kind() {
        case .null:
            try reader.null()
            return .null
        case .bool:
            let value = try reader.bool()
            switch type {
            case .bool, nil: return .bool(value)
            case .json: return .json(JSONText(validated: value ? "true" : "false"))
            default: return .none
            }
        case .number: return number(try reader.number(), in: reader, as: type)
        case .string: return string(try reader.string(), in: reader, as: type)
        case .array, .object:
            let range = try reader.skip()
            return type == .json || type == nil ? .json(JSONText(validated: reader.text(range))) : .none
        }
    }

    private static func number(_ range: Range<Int>, in reader: JSONReader, as type: ColumnType?) -> FieldValue? {
        switch type {
        case .int64:
            if let number = smallNumber(reader.bytes[range]) { return .int64(number) }
            return number(reader.text(range), as: .int64)
        case .double, .decimal: return number(reader.text(range), as: type)
        case .json: return .json(JSONText(validated: reader.text(range)))
        case nil: return undeclaredNumber(reader.text(range))
        default: return .none
        }
    }

    private static func string(_ text: JSONReader.Text, in reader: JSONReader, as type: ColumnType?) -> FieldValue? {
        switch type {
        case .string, nil: return .string(reader.string(text))
        case .int64, .double, .decimal: return number(reader.string(text), as: type)
        case .date:
            if case .plain(let range) = text { return Timestamp(ofServer: reader.bytes[range]).map(FieldValue.date) }
            return Timestamp(ofServer: Array(reader.string(text).utf8)[...]).map(FieldValue.date)
        case .bytes: return Data(base64Encoded: reader.string(text)).map { .bytes(Array($0)) }
        case .json: return .json(JSONText(validated: JSONText.quoted(reader.string(text))))
        case .bool: return .none
        }
    }

    /// A number, also one that a server writes as a string.
    private static func number(_ text: String, as type: ColumnType?) -> FieldValue? {
        switch type {
        case .int64: wholeNumber(text).map(FieldValue.int64)
        case .double: double(text).map(FieldValue.double)
        default: DecimalText(text).map(FieldValue.decimal)
        }
    }

    /// A finite number in decimal digits; nil for any other text, also for what only Swift takes for one.
    private static func double(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite, !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") })
        else { return nil }
        return number
    }

    /// The number that up to 18 digits are; nil for any other text.
    private static func smallNumber(_ text: ArraySlice<UInt8>) -> Int64? {
        guard text.count <= 18 else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - 48)
        }
        return number
    }

    /// The whole number of a text, however it is written: `7`, `7.0` and `0.7e1` are the same one.
    private static func wholeNumber(_ text: String) -> Int64? {
        if let number = Int64(text) { return number }
        // A double rounds beyond 2⁵³, so what it gives is held against the text.
        guard let decimal = DecimalText(text), let number = Double(text).flatMap(Int64.init(exactly:)),
            DecimalText(number).isNumericallyEqual(to: decimal)
        else { return nil }
        return number
    }

    /// A number is kept as a type only if that type writes the very same text again.
    private static func undeclaredNumber(_ text: String) -> FieldValue? {
        if let value = Int64(text), String(value) == text { return .int64(value) }
        if let value = Double(text), value.description == text { return .double(value) }
        return DecimalText(text).map(FieldValue.decimal)
    }
}
