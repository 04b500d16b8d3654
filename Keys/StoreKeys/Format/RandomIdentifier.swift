/// Sixteen random bytes that name a store, a slot or a data key. Not secret.
public struct RandomIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes.
    public static let count = 16

    /// The bytes, as they stand in the file.
    public let bytes: [UInt8]

    /// The bytes must be sixteen, which the callers within this module see to.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes as 32 lowercase hexadecimal digits.
    public var description: String { hexadecimal(bytes) }
}

/// Public bytes as lowercase hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}
