/// Which ids of new rows a server takes.
///
/// Whatever a rule allows, the server keeps as it was sent: an id that it would write in another way, shorten or fail on
/// has to be refused by the rule. No rule allows ids that are empty or white space, `.`, `..`, and ids with a slash or a
/// control character, because no address can name them. Rows that come from the server may have other ids.
public struct RowIDRule: Sendable, Hashable {
    /// The most UTF-16 code units that an id has, as most servers and other clients count them.
    public var maximumLength: Int

    /// Characters that no id contains, besides the slash and control characters.
    public var forbiddenCharacters: Set<Unicode.Scalar> {
        didSet { forbidsPlainCharacters = Self.forbidsPlainCharacters(forbiddenCharacters) }
    }

    /// Whether one of the characters that ids mostly have is among them.
    private var forbidsPlainCharacters: Bool

    /// Whether ids may contain characters beyond ASCII.
    public var allowsNonASCII: Bool

    /// Describes what a server takes.
    public init(maximumLength: Int, forbiddenCharacters: Set<Unicode.Scalar> = [], allowsNonASCII: Bool = false) {
        self.maximumLength = maximumLength
        self.forbiddenCharacters = forbiddenCharacters
        self.allowsNonASCII = allowsNonASCII
        forbidsPlainCharacters = Self.forbidsPlainCharacters(forbiddenCharacters)
    }

    /// The rule of the original SDKs, and what every server of theirs can be told: 255 UTF-16 code units of ASCII without
    /// any of `+ ? " / \` and the backtick.
    public static let standard = RowIDRule(
        maximumLength: 255,
        forbiddenCharacters: ["+", "?", "\"", "\\", "`"]
    )

    /// Why the server does not take an id, as the end of a sentence; nil when it does.
    public func problem(of id: String) -> String? {
        if isPlain(id) {
            nil
        } else if id.allSatisfy(\.isWhitespace) {
            "it is empty"
        } else if let problem = RowAddress.problem(of: id) {
            problem
        } else if id.utf16.count > maximumLength {
            "it is longer than \(maximumLength) characters"
        } else if id.unicodeScalars.contains(where: forbiddenCharacters.contains) {
            "it contains one of " + forbiddenCharacters.sorted().map(String.init).joined(separator: " ")
        } else if !allowsNonASCII, !id.utf8.allSatisfy({ $0 < 0x80 }) {
            "it contains characters beyond ASCII, on which servers fail"
        } else {
            nil
        }
    }

    /// Whether an id has nothing but characters that no rule but a strange one forbids: then none has to be looked up.
    private func isPlain(_ id: String) -> Bool {
        !forbidsPlainCharacters && !id.isEmpty && id.utf8.count <= maximumLength && id.utf8.allSatisfy(Self.isPlain)
    }

    private static func forbidsPlainCharacters(_ forbidden: Set<Unicode.Scalar>) -> Bool {
        forbidden.contains { $0.isASCII && isPlain(UInt8($0.value)) }
    }

    /// Letters and digits of ASCII, and what UUIDs have besides.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
