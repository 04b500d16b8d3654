/// A hash that is the same in every process and on every machine: FNV-1a of 64 bits. No protection against intent.
enum StableHash {
    /// The hash of a text in sixteen digits.
    static func text(of text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
