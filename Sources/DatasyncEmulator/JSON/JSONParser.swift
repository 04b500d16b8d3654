import Foundation

/// Why a text is not JSON, in the words a JavaScript server uses.
struct JSONSyntaxError: Error, Equatable {
    let message: String
}

/// A JSON reader (RFC 8259) with bounded nesting.
///
/// Foundation's decoder is not used because a server's answer to a broken body names the place where it broke, and
/// because a recursive enum makes that decoder try every type for every value.
struct JSONParser {
    /// What is taken for JSON.
    struct Grammar {
        var maximumDepth = 128
        /// Whether a byte-order mark, comments, and commas before a closing bracket are read over.
        var isLenient = false
        /// Whether half a pair of surrogates is an error; otherwise it becomes U+FFFD.
        var refusesHalfPairs = false
        /// Whether numbers that are not whole keep their digits, as `JSONValue.decimal`, however large they are.
        var keepsDigits = false

        static let strict = Grammar()
        /// How a Datasync server reads bodies.
        static let dotNet = Grammar(maximumDepth: 64, isLenient: true, refusesHalfPairs: true, keepsDigits: true)
    }

    private let bytes: [UInt8]
    private let grammar: Grammar
    private var position = 0
    /// The members of the outermost object as they come.
    private(set) var members: [Member] = []

    /// A member of an object in its place.
    struct Member {
        let name: String
        let value: JSONValue
        /// The value as it was written.
        let bytes: ArraySlice<UInt8>
    }

    private init(_ bytes: [UInt8], _ grammar: Grammar) {
        self.bytes = bytes
        self.grammar = grammar
    }

    static func parse(
        _ data: some Sequence<UInt8>,
        _ grammar: Grammar = .strict
    ) throws(JSONSyntaxError) -> JSONValue {
        try read(data, grammar).value
    }

    /// The members of an object in their order, doubled ones included; nil when the value is something else.
    static func members(
        of data: some Sequence<UInt8>,
        _ grammar: Grammar = .strict
    ) throws(JSONSyntaxError) -> (members: [Member]?, value: JSONValue) {
        let (value, members) = try read(data, grammar)
        return (value.object == nil ? nil : members, value)
    }

    private static func read(
        _ data: some Sequence<UInt8>,
        _ grammar: Grammar
    ) throws(JSONSyntaxError) -> (value: JSONValue, members: [Member]) {
        var parser = JSONParser(Array(data), grammar)
        if grammar.isLenient, parser.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value(depth: 0)
        try parser.skipSpace()
        guard parser.peek == nil else { throw parser.unexpected("non-whitespace character after JSON") }
        return (value, parser.members)
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < grammar.maximumDepth else { throw JSONSyntaxError(message: "Too deeply nested JSON") }
        try skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw Self.unexpectedEnd
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try number()
        default: throw unexpected("token")
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        try skipSpace()
        if take("}") { return .object(members) }
        var expectation = "property name or '}'"
        repeat {
            try skipSpace()
            if grammar.isLenient, !members.isEmpty, peek == UInt8(ascii: "}") { break }
            guard peek == UInt8(ascii: "\"") else { throw expected(expectation) }
            let name = try string()
            try skipSpace()
            guard take(":") else { throw expected("':' after property name") }
            let start = position
            let value = try value(depth: depth + 1)
            members[name] = value
            if depth == 0 { self.members.append(Member(name: name, value: value, bytes: bytes[start..<position])) }
            try skipSpace()
            expectation = "double-quoted property name"
        } while take(",")
        if peek == nil { throw Self.unexpectedEnd }
        guard take("}") else { throw expected("',' or '}' after property value") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        try skipSpace()
        if take("]") { return .array(elements) }
        repeat {
            try skipSpace()
            if grammar.isLenient, !elements.isEmpty, peek == UInt8(ascii: "]") { break }
            elements.append(try value(depth: depth + 1))
            try skipSpace()
        } while take(",")
        if peek == nil { throw Self.unexpectedEnd }
        guard take("]") else { throw expected("',' or ']' after array element") }
        return .array(elements)
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in word.description.utf8 {
            guard let next = peek else { throw Self.unexpectedEnd }
            guard next == byte else { throw unexpected("token") }
            position += 1
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        var isWhole = true
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("-") { _ = take("+") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, text != "-0", let integer = Int64(text) { return .integer(integer) }
        if grammar.keepsDigits { return .decimal(text) }
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else {
            throw JSONSyntaxError(message: "Number out of range in JSON at position \(start)")
        }
        return .double(double)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = peek, Self.isDigit(byte) { position += 1 }
        guard position > start else { throw peek == nil ? Self.unexpectedEnd : unexpected("number") }
    }

    // MARK: Strings

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw JSONSyntaxError(message: "Invalid UTF-8 in JSON at position \(start)")
                }
                return text
            case UInt8(ascii: "\\"):
                content.append(contentsOf: try escape().utf8)
            case 0..<0x20:
                throw JSONSyntaxError(
                    message: "Bad control character in string literal in JSON at position \(position)"
                )
            default:
                content.append(byte)
            }
        }
        throw JSONSyntaxError(message: "Unterminated string in JSON at position \(position)")
    }

    private mutating func escape() throws(JSONSyntaxError) -> String {
        guard let byte = peek else {
            throw JSONSyntaxError(message: "Unterminated string in JSON at position \(position)")
        }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexUnit()
            guard UTF16.isLeadSurrogate(first) else {
                if grammar.refusesHalfPairs, UTF16.isTrailSurrogate(first) { throw halfPair }
                return String(decoding: [first], as: UTF16.self)
            }
            let mark = position
            if take("\\"), take("u") {
                let second = try hexUnit()
                if UTF16.isTrailSurrogate(second) { return String(decoding: [first, second], as: UTF16.self) }
            }
            position = mark
            if grammar.refusesHalfPairs { throw halfPair }
            return "\u{fffd}"
        default: throw JSONSyntaxError(message: "Bad escaped character in JSON at position \(position - 1)")
        }
    }

    private mutating func hexUnit() throws(JSONSyntaxError) -> UInt16 {
        let digits = bytes[position..<min(position + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONSyntaxError(message: "Bad Unicode escape in JSON at position \(position)") }
        position += 4
        return unit
    }

    // MARK: Bytes

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func skipSpace() throws(JSONSyntaxError) {
        while let byte = peek {
            switch byte {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            case UInt8(ascii: "/") where grammar.isLenient: try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONSyntaxError) {
        let rest = bytes[position...].dropFirst(2)
        if bytes[position...].starts(with: "//".utf8) {
            position = rest.firstIndex { $0 == 0x0a || $0 == 0x0d } ?? bytes.count
        } else if bytes[position...].starts(with: "/*".utf8),
            let end = rest.indices.first(where: { rest[$0...].starts(with: "*/".utf8) })
        {
            position = end + 2
        } else {
            throw unexpected("token")
        }
    }

    private var halfPair: JSONSyntaxError {
        JSONSyntaxError(message: "Half a pair of surrogates in JSON at position \(position)")
    }

    private static let unexpectedEnd = JSONSyntaxError(message: "Unexpected end of JSON input")

    private func unexpected(_ what: String) -> JSONSyntaxError {
        JSONSyntaxError(message: "Unexpected \(what) in JSON at position \(position)")
    }

    private func expected(_ what: String) -> JSONSyntaxError {
        JSONSyntaxError(message: "Expected \(what) in JSON at position \(position)")
    }
}
