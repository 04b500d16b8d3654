import SyncContract

/// The grammar of RFC 8259 written down once more, the plainest way: a value, then all of it as a tree. What the reader is
/// held against.
struct ReferenceJSONParser {
    /// Why a text is not JSON, and where.
    struct Failure: Error, Equatable {
        let message: String
        let offset: Int
    }

    let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private static let maximumDepth = 256

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(Failure) -> JSONNode {
        let node = try value()
        skipWhitespace()
        guard position == bytes.count else { throw failure("nothing may follow the value") }
        return node
    }

    private mutating func value() throws(Failure) -> JSONNode {
        skipWhitespace()
        guard position < bytes.count else { throw failure("a value is missing") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try nested { (parser) throws(Failure) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(Failure) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try keyword("true", .bool(true))
        case UInt8(ascii: "f"): return try keyword("false", .bool(false))
        case UInt8(ascii: "n"): return try keyword("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout ReferenceJSONParser) throws(Failure) -> JSONNode
    ) throws(Failure) -> JSONNode {
        depth += 1
        guard depth <= Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels") }
        let node = try body(&self)
        depth -= 1
        return node
    }

    private mutating func object() throws(Failure) -> JSONNode {
        let start = position
        position += 1
        var members: [(name: String, value: JSONNode)] = []
        skipWhitespace()
        if take("}") { return .object([], source: bytes[start..<position]) }
        repeat {
            skipWhitespace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw failure("a member name is missing")
            }
            let name = try string()
            skipWhitespace()
            guard take(":") else { throw failure("a colon is missing") }
            members.append((name, try value()))
            skipWhitespace()
        } while take(",")
        guard take("}") else { throw failure("a closing brace is missing") }
        return .object(members, source: bytes[start..<position])
    }

    private mutating func array() throws(Failure) -> JSONNode {
        let start = position
        position += 1
        var elements: [JSONNode] = []
        skipWhitespace()
        if take("]") { return .array([], source: bytes[start..<position]) }
        repeat {
            elements.append(try value())
            skipWhitespace()
        } while take(",")
        guard take("]") else { throw failure("a closing bracket is missing") }
        return .array(elements, source: bytes[start..<position])
    }

    private mutating func keyword(_ word: String, _ node: JSONNode) throws(Failure) -> JSONNode {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("a value is missing") }
        position += word.utf8.count
        return node
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        while position < bytes.count, ReferenceJSONNumber.canContain(bytes[position]) { position += 1 }
        let literal = bytes[start..<position]
        guard ReferenceJSONNumber.isValid(literal) else {
            position = start
            throw failure("a value is missing")
        }
        return String(decoding: literal, as: UTF8.self)
    }

    private mutating func string() throws(Failure) -> String {
        position += 1
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: content, as: UTF8.self) else {
                    throw failure("a string is not valid UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                content.append(contentsOf: try escape())
            case 0..<0x20: throw failure("a control character stands unescaped in a string")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw failure("a string is not closed")
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard position < bytes.count else { throw failure("an escape is cut short") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "u"): return Array(String(Character(try unicodeEscape())).utf8)
        default: throw failure("an escape is unknown")
        }
    }

    /// The scalar of `\u` and four digits, or of a surrogate pair of them. Half a pair, which JavaScript servers can
    /// write, becomes U+FFFD: refusing it would keep a row, and every row of its page, from ever being read.
    private mutating func unicodeEscape() throws(Failure) -> Unicode.Scalar {
        let unit = try hexDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let end = position
        if (0xD800..<0xDC00).contains(unit), take("\\"), take("u") {
            let low = try hexDigits()
            if (0xDC00..<0xE000).contains(low) {
                return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
            }
        }
        position = end
        return "\u{FFFD}"
    }

    private mutating func hexDigits() throws(Failure) -> UInt32 {
        guard position + 4 <= bytes.count,
            bytes[position..<position + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let number = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are missing") }
        position += 4
        return number
    }

    private mutating func skipWhitespace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func failure(_ message: String) -> Failure { Failure(message: message, offset: position) }
}

/// The grammar of numbers (RFC 8259, section 6).
enum ReferenceJSONNumber {
    static func canContain(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || [43, 45, 46, 69, 101].contains(byte)
    }

    static func isValid(_ text: some Collection<UInt8>) -> Bool {
        var rest = text[...]
        if rest.first == 45 { rest.removeFirst() }
        guard let first = rest.first else { return false }
        let whole = rest.prefix { (48...57).contains($0) }
        guard !whole.isEmpty, first != 48 || whole.count == 1 else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == 46 {
            rest.removeFirst()
            let fraction = rest.prefix { (48...57).contains($0) }
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(fraction.count)
        }
        if rest.first == 69 || rest.first == 101 {
            rest.removeFirst()
            if rest.first == 43 || rest.first == 45 { rest.removeFirst() }
            let exponent = rest.prefix { (48...57).contains($0) }
            guard !exponent.isEmpty else { return false }
            rest = rest.dropFirst(exponent.count)
        }
        return rest.isEmpty
    }
}
