import SyncContract

/// What queries do with text: by Unicode scalars and bytes, so that canonically equivalent texts stay different.
extension String {
    /// The most bytes of a text that a query computes: beyond, a chain of concatenations could use up the memory.
    private static let maximumComputedLength = 16_777_216

    /// The number of Unicode scalars.
    var scalarCount: Int64 { Self.scalarCount(utf8) }

    /// The scalars from a position on; neither number is negative.
    func scalars(from start: Int64, count: Int64) -> String {
        String(unicodeScalars.dropFirst(Int(clamping: start)).prefix(Int(clamping: count)))
    }

    /// The text without the spaces at its start and end.
    func withoutOuterSpaces() -> String {
        let rest = utf8.drop { $0 == UInt8(ascii: " ") }
        guard let last = rest.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(Substring(rest[...last]))
    }

    /// The text followed by another; null when that is too long.
    func concatenated(with other: String) -> FieldValue {
        utf8.count + other.utf8.count > Self.maximumComputedLength ? .null : .string(self + other)
    }

    /// Where other text begins for the first time, in scalars.
    func firstScalarPosition(of sought: String) -> Int64? {
        firstPosition(of: sought).map { Self.scalarCount(utf8.prefix($0)) }
    }

    /// Where other text begins for the first time, in bytes.
    func firstPosition(of sought: String) -> Int? {
        var text = self
        var sought = sought
        return text.withUTF8 { text in
            sought.withUTF8 { sought in
                guard sought.count <= text.count else { return nil }
                return (0...text.count - sought.count)
                    .first { unsafe text[$0..<$0 + sought.count].elementsEqual(sought) }
            }
        }
    }

    private static func scalarCount(_ bytes: some Sequence<UInt8>) -> Int64 {
        // Every byte of UTF-8 begins a scalar, but for those that go on with one.
        bytes.reduce(into: 0) { count, byte in if byte & 0b1100_0000 != 0b1000_0000 { count += 1 } }
    }
}
