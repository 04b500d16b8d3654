import SecretMemory

/// A secret of 32 bytes as text, from one protected buffer to another.
enum HexadecimalSecret {
    private static let secretCount = 32
    private static let digits = Array("0123456789abcdef".utf8)

    /// The digits and one line's end.
    static let textCount = 2 * secretCount + 1

    static func encode(_ secret: SecretBytes) throws -> SecretBytes {
        unsafe try secret.withUnsafeBytes { bytes in
            unsafe try SecretBytes(count: textCount) { text in
                for index in 0..<secretCount {
                    let byte = unsafe bytes[index]
                    unsafe text[2 * index] = digits[Int(byte >> 4)]
                    unsafe text[2 * index + 1] = digits[Int(byte & 15)]
                }
                unsafe text[textCount - 1] = UInt8(ascii: "\n")
            }
        }
    }

    /// Returns the secret, or `nil` if the text is anything but 64 digits, in either case, and perhaps a line's end.
    static func decode(_ text: SecretBytes) throws -> SecretBytes? {
        unsafe try text.withUnsafeBytes { text -> SecretBytes? in
            let isEnded = unsafe text.count == textCount && text[textCount - 1] == UInt8(ascii: "\n")
            guard isEnded || text.count == textCount - 1 else { return nil }
            var isValid = true
            let secret = unsafe try SecretBytes(count: secretCount) { bytes in
                for index in 0..<secretCount {
                    guard
                        let high = unsafe value(of: text[2 * index]),
                        let low = unsafe value(of: text[2 * index + 1])
                    else {
                        isValid = false
                        return
                    }
                    unsafe bytes[index] = high << 4 | low
                }
            }
            return isValid ? secret : nil
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
