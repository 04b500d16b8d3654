/// Reads JSON (RFC 8259) in one pass: whoever reads says what becomes of each value as it comes. Strict, with a bound on
/// nesting so that no input exhausts the stack.
///
/// An object is read like this, an array likewise:
///
/// ```swift
/// if try reader.beginObject() {
///     repeat {
///         let name = try reader.name()
///         try reader.skip()
///     } while try reader.continuesObject()
/// }
/// ```
///
/// What was read is valid, also what was skipped. After an error the reader is of no more use.
package struct JSONReader: Sendable {
    /// What a value is, by its first byte.
    package enum Kind: Sendable, Hashable {
        case null
        case bool
        /// Also anything that is no value.
        case number
        case string
        case array
        case object
    }

    /// A string that was read.
    package enum Text: Sendable {
        /// One of ASCII characters without escapes, as most are: where its content stands.
        case plain(Range<Int>)
        /// Any other.
        case decoded(String)
    }

    /// The text.
    package let bytes: [UInt8]

    /// Up to where it was read.
    package private(set) var position = 0

    private var depth = 0
    private static let maximumDepth = 256

    /// Begins with a text.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether a text is one JSON value and nothing else.
    package static func isValid(_ bytes: [UInt8]) -> Bool {
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try reader.skip()
            try reader.end()
            return true
        } catch {
            // Where the text breaks the grammar is of no use to a caller that asked whether it is JSON.
            return false
        }
    }

    /// The text of something that was read.
    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// A string that was read.
    package func string(_ text: Text) -> String {
        switch text {
        case .plain(let range): self.text(range)
        case .decoded(let string): string
        }
    }

    // MARK: Values

    /// What the next value is. It stands at the position then.
    package mutating func kind() throws(JSONError) -> Kind {
        skipWhitespace()
        guard position < bytes.count else { throw failure("a value is missing") }
        return switch bytes[position] {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    /// Reads a null.
    package mutating func null() throws(JSONError) { try keyword("null") }

    /// Reads a truth value.
    package mutating func bool() throws(JSONError) -> Bool {
        let isTrue = bytes[position] == UInt8(ascii: "t")
        try keyword(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads a number; its text stands in the range.
    package mutating func number() throws(JSONError) -> Range<Int> {
        let start = position
        var end = start
        while end < bytes.count, JSONNumber.canContain(bytes[end]) { end += 1 }
        guard JSONNumber.isValid(bytes[start..<end]) else { throw failure("a value is missing") }
        position = end
        return start..<end
    }

    /// Reads a string.
    package mutating func string() throws(JSONError) -> Text {
        let start = position + 1
        let (end, isASCII) = endOfPlainText(from: start)
        position = end
        guard end < bytes.count else { throw failure("a string is not closed") }
        switch bytes[end] {
        case UInt8(ascii: "\""):
            position += 1
            return isASCII ? .plain(start..<end) : .decoded(try validated(bytes[start..<end]))
        case UInt8(ascii: "\\"): return .decoded(try escapedString(from: start))
        default: throw failure("a control character stands unescaped in a string")
        }
    }

    /// Reads a value of any kind; its text stands in the range.
    @discardableResult
    package mutating func skip() throws(JSONError) -> Range<Int> {
        let kind = try kind()
        let start = position
        switch kind {
        case .null: try null()
        case .bool: _ = try bool()
        case .number: _ = try number()
        case .string: _ = try string()
        case .array: if try beginArray() { repeat { try skip() } while try continuesArray() }
        case .object:
            if try beginObject() {
                repeat {
                    _ = try name()
                    try skip()
                } while try continuesObject()
            }
        }
        return start..<position
    }

    /// Makes sure that nothing follows.
    package mutating func end() throws(JSONError) {
        skipWhitespace()
        guard position == bytes.count else { throw failure("nothing may follow the value") }
    }

    // MARK: Arrays and objects

    /// Begins with an array; whether an element follows.
    package mutating func beginArray() throws(JSONError) -> Bool {
        try descend()
        return !ends(with: "]")
    }

    /// Goes on behind an element; whether another one follows.
    package mutating func continuesArray() throws(JSONError) -> Bool {
        skipWhitespace()
        if take(",") { return true }
        guard ends(with: "]") else { throw failure("a closing bracket is missing") }
        return false
    }

    /// Begins with an object; whether a member follows.
    package mutating func beginObject() throws(JSONError) -> Bool {
        try descend()
        return !ends(with: "}")
    }

    /// Goes on behind a member; whether another one follows.
    package mutating func continuesObject() throws(JSONError) -> Bool {
        skipWhitespace()
        if take(",") { return true }
        guard ends(with: "}") else { throw failure("a closing brace is missing") }
        return false
    }

    /// Reads a member's name, up to its value.
    ///
    /// - Returns: The name, and where it stands, quotes included.
    package mutating func name() throws(JSONError) -> (name: Text, spelling: Range<Int>) {
        skipWhitespace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw failure("a member name is missing")
        }
        let start = position
        let name = try string()
        let spelling = start..<position
        try colon()
        return (name, spelling)
    }

    /// Reads a member's name if it is spelled like this, quotes included; else nothing.
    package mutating func name(ifSpelled spelling: [UInt8]) throws(JSONError) -> Bool {
        skipWhitespace()
        let end = position + spelling.count
        guard end <= bytes.count else { return false }
        for index in spelling.indices where bytes[position + index] != spelling[index] { return false }
        position = end
        try colon()
        return true
    }

    private mutating func colon() throws(JSONError) {
        skipWhitespace()
        guard take(":") else { throw failure("a colon is missing") }
    }

    private mutating func descend() throws(JSONError) {
        guard depth < Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels") }
        depth += 1
        position += 1
    }

    private mutating func ends(with bracket: Unicode.Scalar) -> Bool {
        skipWhitespace()
        guard take(bracket) else { return false }
        depth -= 1
        return true
    }

    // MARK: Bytes

    private mutating func keyword(_ word: StaticString) throws(JSONError) {
        let end = position + word.utf8CodeUnitCount
        let isThere =
            unsafe end <= bytes.count
            && bytes[position..<end]
                .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        guard isThere else { throw failure("a value is missing") }
        position = end
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func failure(_ message: String) -> JSONError { JSONError(message: message, offset: position) }
}

// MARK: Strings

extension JSONReader {
    /// Where the characters end that stand for themselves, and whether all are ASCII.
    private func endOfPlainText(from start: Int) -> (end: Int, isASCII: Bool) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var index = start
            var union: UInt8 = 0
            while index < bytes.count {
                let byte = unsafe bytes[index]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
                union |= byte
                index += 1
            }
            return (index, union < 0x80)
        }
    }

    /// The string that began at an index, from the position on, where its first escape stands.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var content = Array(bytes[start..<position])
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return try validated(content[...])
            case UInt8(ascii: "\\"):
                position += 1
                try appendEscape(to: &content)
            case 0..<0x20: throw failure("a control character stands unescaped in a string")
            default:
                let end = endOfPlainText(from: position).end
                content += bytes[position..<end]
                position = end
            }
        }
        throw failure("a string is not closed")
    }

    private func validated(_ content: ArraySlice<UInt8>) throws(JSONError) -> String {
        guard let string = String(validating: content, as: UTF8.self) else {
            throw failure("a string is not valid UTF-8")
        }
        return string
    }

    private mutating func appendEscape(to content: inout [UInt8]) throws(JSONError) {
        guard position < bytes.count else { throw failure("an escape is cut short") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(8)
        case UInt8(ascii: "f"): content.append(12)
        case UInt8(ascii: "n"): content.append(10)
        case UInt8(ascii: "r"): content.append(13)
        case UInt8(ascii: "t"): content.append(9)
        case UInt8(ascii: "u"): content += Array(String(try unicodeEscape()).utf8)
        default: throw failure("an escape is unknown")
        }
    }

    /// The scalar of `\u` and four digits, or of a surrogate pair of them. Half a pair, which JavaScript servers can
    /// write, becomes U+FFFD: refusing it would keep a row, and every row of its page, from ever being read.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
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

    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        var number: UInt32 = 0
        guard position + 4 <= bytes.count else { throw failure("four hexadecimal digits are missing") }
        for byte in bytes[position..<position + 4] {
            switch byte {
            case 48...57: number = number << 4 | UInt32(byte - 48)
            case 65...70, 97...102: number = number << 4 | UInt32(byte & 0x1F + 9)
            default: throw failure("four hexadecimal digits are missing")
            }
        }
        position += 4
        return number
    }
}
