/// Takes fields from the front of bytes that nobody vouches for.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) {
        rest = Array(bytes)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) throws(KeyError) -> [UInt8] {
        guard count <= rest.count else { throw .damaged("Its lengths do not agree with its size.") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// An unsigned or two's complement number, most significant byte first.
    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(KeyError) -> Number {
        // A one-byte number cannot be shifted by its own width, so the shift is of a wider one.
        let bits = try bytes(Number.bitWidth / 8)
            .reduce(into: UInt64(0)) { bits, byte in bits = bits << 8 | UInt64(byte) }
        return Number(truncatingIfNeeded: bits)
    }

    mutating func identifier() throws(KeyError) -> RandomIdentifier {
        try RandomIdentifier(bytes: bytes(RandomIdentifier.count))
    }

    /// Text behind a length of one byte.
    mutating func text() throws(KeyError) -> String {
        let count = try Int(integer(UInt8.self))
        guard let text = try String(validating: bytes(count), as: UTF8.self) else {
            throw .damaged("A text in it is not UTF-8.")
        }
        return text
    }
}

extension KeyError {
    /// The error for a keyslot file that is not what was written.
    static func damaged(_ reason: String) -> KeyError {
        KeyError(
            .damagedFile,
            "The keyslot file is damaged; restore it from a backup. \(reason)"
        )
    }
}
