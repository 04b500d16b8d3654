/// Writes JSON text, member by member, in the order given.
package struct JSONWriter: Sendable {
    private var members: [String] = []

    package init() {}

    /// Adds a member whose value is already JSON text.
    package mutating func add(_ name: String, json: String) {
        members.append(Self.quoted(name) + ":" + json)
    }

    /// Adds a string member.
    package mutating func add(_ name: String, _ value: String) { add(name, json: Self.quoted(value)) }

    /// Adds a number member.
    package mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    /// Adds a truth value.
    package mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    /// The object.
    package var object: String { "{" + members.joined(separator: ",") + "}" }

    /// A JSON string: quotes, backslashes and control characters escaped, everything else as it is.
    package static func quoted(_ text: String) -> String {
        var result: [UInt8] = [UInt8(ascii: "\"")]
        result.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 10: result += Array(#"\n"#.utf8)
            case 13: result += Array(#"\r"#.utf8)
            case 9: result += Array(#"\t"#.utf8)
            case 0..<0x20: result += Array((#"\u00"# + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
            default: result.append(byte)
            }
        }
        result.append(UInt8(ascii: "\""))
        return String(decoding: result, as: UTF8.self)
    }
}
