/// A JSON value as text, kept byte for byte.
public struct JSONText: Sendable {
    /// The text.
    public let text: String

    /// Keeps a text that is one valid JSON value (RFC 8259); returns nil for any other.
    public init?(_ text: String) {
        guard JSONReader.isValid(Array(text.utf8)) else { return nil }
        self.text = text
    }

    /// Keeps a text that is known to be valid JSON, because this package wrote or parsed it.
    package init(validated text: String) { self.text = text }
}

extension JSONText: Hashable {
    /// Compares the bytes: two spellings of one value differ.
    public static func == (left: JSONText, right: JSONText) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension JSONText {
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
