/// Makes gzip files (RFC 1952) of zeros, without a library: what unpacks to far more than it seems.
enum Gzip {
    /// A file of so many zero bytes, packed about 160 to 1 (RFC 1951, fixed codes: a zero, then "258 bytes, 1 back").
    static func zeros(_ count: Int) -> [UInt8] {
        precondition((count - 1) % 258 == 0)
        var bits = Bits()
        bits.append(1, count: 1)  // the last block
        bits.append(1, count: 2)  // with fixed codes
        bits.appendCode(0x30, count: 8)  // the literal 0
        for _ in 0..<(count - 1) / 258 {
            bits.appendCode(0b1100_0101, count: 8)  // length 258
            bits.appendCode(0, count: 5)  // distance 1
        }
        bits.appendCode(0, count: 7)  // the end
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + bits.bytes + littleEndian(checksum(ofZeros: count))
            + littleEndian(UInt32(truncatingIfNeeded: count))
    }

    private struct Bits {
        var bytes: [UInt8] = []
        private var used = 8

        /// The lowest bit first, as numbers are written.
        mutating func append(_ value: Int, count: Int) {
            for position in 0..<count { append((value >> position) & 1) }
        }

        /// The highest bit first, as codes are written.
        mutating func appendCode(_ value: Int, count: Int) {
            for position in (0..<count).reversed() { append((value >> position) & 1) }
        }

        private mutating func append(_ bit: Int) {
            if used == 8 {
                used = 0
                bytes.append(0)
            }
            bytes[bytes.count - 1] |= UInt8(bit << used)
            used += 1
        }
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// CRC-32 of so many zeros.
    private static func checksum(ofZeros count: Int) -> UInt32 {
        let table: [UInt32] = (0..<256)
            .map { index in
                var value = UInt32(index)
                for _ in 0..<8 { value = value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
                return value
            }
        var checksum = UInt32.max
        for _ in 0..<count { checksum = (checksum >> 8) ^ table[Int(checksum & 0xFF)] }
        return ~checksum
    }
}
