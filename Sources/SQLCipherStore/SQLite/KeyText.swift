import SecretMemory

/// Builds the text in which SQLCipher takes a raw key and a salt: `x'`, 64 and 32 hexadecimal digits, `'`.
package enum KeyText {
    /// The number of bytes in a key.
    package static let keyCount = 32

    /// The text for a key of 32 bytes, in memory that is wiped.
    static func make(key: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        unsafe try SecretBytes(count: 2 + 2 * (keyCount + salt.count) + 1) { text in
            unsafe text[0] = UInt8(ascii: "x")
            unsafe text[1] = UInt8(ascii: "'")
            unsafe key.withUnsafeBytes { key in
                for index in 0..<keyCount { unsafe write(key[index], into: text, at: 2 + 2 * index) }
            }
            for (index, byte) in salt.enumerated() {
                unsafe write(byte, into: text, at: 2 + 2 * (keyCount + index))
            }
            unsafe text[text.count - 1] = UInt8(ascii: "'")
        }
    }

    /// The text with the key of another one, and a salt of its own.
    static func make(keyOf other: SecretBytes, salt: [UInt8]) throws -> SecretBytes {
        unsafe try SecretBytes(count: other.count) { text in
            unsafe other.withUnsafeBytes { unsafe text.copyMemory(from: $0) }
            for (index, byte) in salt.enumerated() {
                unsafe write(byte, into: text, at: 2 + 2 * (keyCount + index))
            }
        }
    }

    /// Arithmetic instead of a table: the time does not depend on the digit.
    private static func write(_ byte: UInt8, into text: UnsafeMutableRawBufferPointer, at index: Int) {
        unsafe text[index] = digit(byte >> 4)
        unsafe text[index + 1] = digit(byte & 15)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        // 7 is added from 10 on: the letters follow the digits with a gap of 7.
        48 &+ value &+ ((9 &- value) >> 7) &* 7
    }
}
