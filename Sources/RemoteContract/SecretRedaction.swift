/// Leaves secrets out of texts.
///
/// A secret may be repeated in another writing: with its slashes escaped, percent-encoded, without the word in front of it.
/// So it is looked for in pieces of letters, digits, hyphens and underscores, which every writing leaves as they are.
package struct SecretRedaction: Sendable {
    /// What stands in the place of a secret.
    package static let mark = "(left out)"

    /// Shorter pieces are found everywhere.
    private static let shortestPiece = 4

    private let pieces: [String]

    package init(_ secrets: [String]) {
        let all = secrets.flatMap { $0.unicodeScalars.split { !Self.isPart($0) }.map(String.init) }
        pieces = Set(all.filter { $0.utf8.count >= Self.shortestPiece && !Self.schemes.contains($0.lowercased()) })
            // One may be a part of another.
            .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// A text without the secrets.
    package func callAsFunction(_ text: String) -> String {
        var text = text
        for piece in pieces { text = text.replacing(piece, with: Self.mark) }
        return text
    }

    /// The beginning of some UTF-8 without the secrets, and how long it was when it is not the whole.
    package func text(_ bytes: [UInt8], atMost size: Int) -> String {
        // A secret must not be cut in two before it is looked for.
        let looked = Array(bytes.prefix(4 * size))
        let cut = looked.count == bytes.count ? looked.count : (looked.lastIndex { !Self.isPart($0) } ?? 0)
        let text = self(String(decoding: looked.prefix(cut), as: UTF8.self))
        guard cut < bytes.count || text.utf8.count > size else { return text }
        let kept = String(decoding: text.utf8.prefix(size), as: UTF8.self)
        return kept + "… (\(bytes.count) bytes)"
    }

    private static let schemes: Set<String> = ["basic", "bearer"]

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && isPart(UInt8(truncatingIfNeeded: scalar.value))
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
