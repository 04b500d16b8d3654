#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

public import SyncContract

/// The name of a file that belongs to rows: a property `var photo: AttachmentID?`. The file is made once and never changed.
///
/// The text is 1 to 64 characters of `A`-`Z`, `a`-`z`, `0`-`9`, `-` and `_`: it stands as it is in addresses and in names of
/// files. A row that comes with another text in such a column is one that cannot be decoded. A UUID is in lower case here,
/// whatever case a server answers with: the two name one file.
public struct AttachmentID: Sendable, Hashable, Codable, AttachmentName, CustomStringConvertible {
    /// The text as it is sent; it may stand in a column in another case when it is a UUID.
    public let text: String

    /// - Returns: Nil for a text that does not follow the rule above.
    public init?(_ text: String) {
        guard Self.isValid(text) else { return nil }
        self.init(valid: text)
    }

    /// A new name that nobody else makes: 36 characters, a random UUID.
    public static func make() -> AttachmentID { AttachmentID(valid: UUID().uuidString.lowercased()) }

    private init(valid text: String) { self.text = Self.isUUID(text) ? text.lowercased() : text }

    /// The texts under which a column may have it: servers whose column is a GUID answer in the case that they like.
    package var spellings: [FieldValue] {
        Self.isUUID(text) ? [.string(text), .string(text.uppercased())] : [.string(text)]
    }

    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.enumerated()
                .allSatisfy { index, byte in
                    switch byte {
                    case UInt8(ascii: "-"): [8, 13, 18, 23].contains(index)
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                        UInt8(ascii: "A")...UInt8(ascii: "F"):
                        ![8, 13, 18, 23].contains(index)
                    default: false
                    }
                }
    }

    private static func isValid(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The text.
    public var description: String { text }

    /// The text, as a store keeps it.
    public var fieldValue: FieldValue { .string(text) }

    /// Nil for what is no such text.
    public init?(fieldValue: FieldValue) {
        guard case .string(let text) = fieldValue else { return nil }
        self.init(text)
    }

    /// - Throws: `DecodingError.dataCorrupted` for a text that does not follow the rule.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard Self.isValid(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no name of an attachment.")
        }
        self.init(valid: text)
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
