/// One header field of a request or an answer.
///
/// The vocabulary is that of swift-http-types.
public struct HTTPField: Sendable, Hashable {
    /// A field's name: equal in any case, sent in the case it was made with.
    public struct Name: Sendable, Hashable, CustomStringConvertible {
        /// The name as it was given.
        public let rawName: String

        /// The name in lower case.
        public var canonicalName: String { rawName.lowercased() }

        /// A name; nil when it is empty or has a character that no name may have (RFC 9110, section 5.6.2).
        public init?(_ name: String) {
            guard HTTPToken.isValid(name) else { return nil }
            self.init(checked: name)
        }

        /// A name of which it is known that it is one.
        init(checked name: String) { rawName = name }

        /// The name as it was given.
        public var description: String { rawName }

        /// Whether two names are the same but for the case.
        public static func == (left: Name, right: Name) -> Bool {
            // Without lower-case copies: every field of every answer is compared several times.
            let (first, second) = (left.rawName.utf8, right.rawName.utf8)
            guard first.count == second.count else { return false }
            return left.rawName == right.rawName
                || zip(first, second).allSatisfy { HTTPToken.lowercased($0) == HTTPToken.lowercased($1) }
        }

        /// Hashes the name in lower case.
        public func hash(into hasher: inout Hasher) { hasher.combine(canonicalName) }
    }

    /// The name.
    public var name: Name

    /// The value, as it was given. One that ``isValidValue(_:)`` refuses is never sent: sending it is an error.
    public var value: String

    /// A field.
    public init(name: Name, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether a text can be a field's value: no control characters but the tabulator, so that it cannot end its line
    /// and begin a field, or a request, of its own (RFC 9110, section 5.5).
    public static func isValidValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}

/// The words that names and methods are made of (RFC 9110, section 5.6.2).
enum HTTPToken {
    static func isValid(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isValid) }

    private static func isValid(_ byte: UInt8) -> Bool {
        byte < 64 ? lower >> UInt64(byte) & 1 == 1 : byte < 128 && upper >> UInt64(byte - 64) & 1 == 1
    }

    /// The characters that are allowed below 64, a bit each.
    private static let lower = bits(of: "!#$%&'*+-.0123456789", from: 0)
    /// And from 64 on.
    private static let upper = bits(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~", from: 64)

    private static func bits(of characters: String, from first: UInt8) -> UInt64 {
        characters.utf8.reduce(0) { $0 | 1 << UInt64($1 - first) }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
