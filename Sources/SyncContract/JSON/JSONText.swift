/// A JSON value as text, kept byte for byte.
public struct JSONText: Sendable {
    /// The text.
    public let text: String

    /// Keeps a text that is one valid JSON value (RFC 8259); returns nil for any other.
    public init?(_ text: String) {
        do throws(JSONError) {
            _ = try JSONNode(parsing: text.utf8)
        } catch {
            // Where the text breaks the grammar is of no use to a caller that asked whether it is JSON.
            return nil
        }
        self.text = text
    }

    /// Keeps a text that is known to be valid JSON, because this package wrote or parsed it.
    package init(validated text: String) { self.text = text }
}

extension JSONText: Hashable {
    /// Compares the bytes: two spellings of one value differ.
    public static func == (left: JSONText, right: JSONText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
