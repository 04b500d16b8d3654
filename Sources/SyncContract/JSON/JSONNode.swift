/// A parsed JSON value that keeps what Foundation's parser drops: the text of numbers and of nested values.
package indirect enum JSONNode: Sendable {
    case null
    case bool(Bool)
    /// The number as it was written.
    case number(String)
    case string(String)
    /// The elements, and the bytes they were read from: a slice, because a text of its own at every level would
    /// multiply a deeply nested document by its depth.
    case array([JSONNode], source: ArraySlice<UInt8>)
    /// The members in order, and the bytes they were read from.
    case object([(name: String, value: JSONNode)], source: ArraySlice<UInt8>)

    /// Reads one JSON value (RFC 8259) and nothing after it.
    package init(parsing bytes: some Sequence<UInt8>) throws(JSONError) {
        var reader = JSONReader(Array(bytes))
        self = try JSONNode(reading: &reader)
        try reader.end()
    }

    /// Reads the next value.
    package init(reading reader: inout JSONReader) throws(JSONError) {
        switch try reader.kind() {
        case .null:
            try reader.null()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .number: self = .number(reader.text(try reader.number()))
        case .string: self = .string(reader.string(try reader.string()))
        case .array:
            let start = reader.position
            var elements: [JSONNode] = []
            if try reader.beginArray() {
                repeat { elements.append(try JSONNode(reading: &reader)) } while try reader.continuesArray()
            }
            self = .array(elements, source: reader.bytes[start..<reader.position])
        case .object:
            let start = reader.position
            var members: [(name: String, value: JSONNode)] = []
            if try reader.beginObject() {
                repeat {
                    let name = reader.string(try reader.name().name)
                    members.append((name, try JSONNode(reading: &reader)))
                } while try reader.continuesObject()
            }
            self = .object(members, source: reader.bytes[start..<reader.position])
        }
    }

    /// The member of an object; of several with one name the last. Nil when this is not an object or has no such member.
    package subscript(name: String) -> JSONNode? {
        guard case .object(let members, _) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The text when this is a string.
    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// Whether this is the literal true.
    package var isTrue: Bool {
        if case .bool(true) = self { true } else { false }
    }

    /// The elements when this is an array.
    package var elements: [JSONNode]? {
        if case .array(let elements, _) = self { elements } else { nil }
    }

    /// The whole number when this is a number that is one.
    package var int64Value: Int64? {
        if case .number(let text) = self { Int64(text) } else { nil }
    }

    /// The value as JSON text; nested values exactly as they were read.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let value): JSONText.quoted(value)
        case .array(_, let source), .object(_, let source): String(decoding: source, as: UTF8.self)
        }
    }
}

/// Why a text is not JSON, and where.
package struct JSONError: Error, Sendable, CustomStringConvertible {
    /// What was expected.
    package let message: String
    /// The offset in bytes.
    package let offset: Int

    package var description: String { "not valid JSON at byte \(offset): \(message)" }
}
