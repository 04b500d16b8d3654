internal import Foundation

/// A JSON value as a server sent it, or as it is sent.
enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Reads a text; nil when it is not JSON.
    init?(_ bytes: [UInt8]) {
        do {
            self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
        } catch {
            // What is not JSON is a finding of the rule that asked, not an error.
            return nil
        }
    }

    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        }
    }

    subscript(name: String) -> JSON? { object?[name] }

    var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
    var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The object with some members set; anything else as it is.
    func setting(_ members: [String: JSON]) -> JSON {
        object.map { .object($0.merging(members) { $1 }) } ?? self
    }

    /// The object without some members; anything else as it is.
    func removing(_ names: String...) -> JSON {
        object.map { members in .object(members.filter { !names.contains($0.key) }) } ?? self
    }
}

extension JSON: Equatable {
    /// Texts are equal by their bytes: a server that normalises Unicode does not keep a text.
    static func == (first: JSON, second: JSON) -> Bool {
        switch (first, second) {
        case (.null, .null): true
        case (.bool(let first), .bool(let second)): first == second
        case (.number(let first), .number(let second)): first == second
        case (.string(let first), .string(let second)): first.utf8.elementsEqual(second.utf8)
        case (.array(let first), .array(let second)): first == second
        case (.object(let first), .object(let second)): first == second
        default: false
        }
    }
}

extension JSON: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Most values are texts: each kind that is tried in vain costs time.
        if container.decodeNil() {
            self = .null
        } else if let value = Self.read(String.self, container) {
            self = .string(value)
        } else if let value = Self.read(Double.self, container) {
            self = .number(value)
        } else if let value = Self.read(Bool.self, container) {
            self = .bool(value)
        } else if let value = Self.read([String: JSON].self, container) {
            self = .object(value)
        } else {
            self = .array(try container.decode([JSON].self))
        }
    }

    private static func read<Value: Decodable>(
        _ type: Value.Type,
        _ container: any SingleValueDecodingContainer
    ) -> Value? {
        do {
            return try container.decode(type)
        } catch {
            // Another kind of value: the next one is tried.
            return nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral,
    ExpressibleByNilLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral text: String) { self = .string(text) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(floatLiteral value: Double) { self = .number(value) }
    init(nilLiteral: ()) { self = .null }
    init(dictionaryLiteral elements: (String, JSON)...) { self = .object(Dictionary(elements) { $1 }) }
}

extension JSON: CustomStringConvertible {
    var description: String {
        do {
            return String(decoding: try bytes, as: UTF8.self)
        } catch {
            // An infinite number has no JSON; it never comes from one either.
            return "(no JSON)"
        }
    }
}
