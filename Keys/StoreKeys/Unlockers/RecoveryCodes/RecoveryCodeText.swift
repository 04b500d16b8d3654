import SecretMemory

/// The characters of recovery codes, from one protected buffer to another.
enum RecoveryCodeText {
    /// How many characters are random; two for the checksum follow.
    static let dataCount = 26
    static let count = dataCount + 2

    private static let groupSize = 4
    private static let maximumTypedCount = 256
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The characters for random bytes, with their checksum.
    static func encode(_ randomBytes: SecretBytes) throws -> SecretBytes {
        unsafe try randomBytes.withUnsafeBytes { bytes in
            unsafe try SecretBytes(count: count) { characters in
                var checksum = RecoveryCodeChecksum()
                for index in 0..<dataCount {
                    let symbol = unsafe bytes[index] & 31
                    checksum.append(symbol)
                    unsafe characters[index] = alphabet[Int(symbol)]
                }
                let check = checksum.closing()
                unsafe characters[dataCount] = alphabet[Int(check.0)]
                unsafe characters[dataCount + 1] = alphabet[Int(check.1)]
            }
        }
    }

    /// The characters of what somebody typed, or `nil` if it is no code.
    static func normalize(_ typed: SecretBytes) throws -> SecretBytes? {
        guard typed.count <= maximumTypedCount else { return nil }
        return unsafe try typed.withUnsafeBytes { typed -> SecretBytes? in
            var (used, isValid, checksum) = (0, true, RecoveryCodeChecksum())
            let characters = unsafe try SecretBytes(count: count) { characters in
                for index in typed.indices {
                    let byte = unsafe typed[index]
                    if isSeparator(byte) { continue }
                    guard used < count, let symbol = symbol(of: byte) else {
                        isValid = false
                        return
                    }
                    checksum.append(symbol)
                    unsafe characters[used] = alphabet[Int(symbol)]
                    used += 1
                }
            }
            return isValid && used == count && checksum.isClosed ? characters : nil
        }
    }

    /// The characters with a hyphen between groups.
    static func group(_ characters: SecretBytes) throws -> SecretBytes {
        unsafe try characters.withUnsafeBytes { characters in
            unsafe try SecretBytes(count: count + count / groupSize - 1) { text in
                unsafe text.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "-"))
                for index in 0..<count {
                    unsafe text[index + index / groupSize] = characters[index]
                }
            }
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }

    private static func symbol(of byte: UInt8) -> UInt8? {
        let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        let character: UInt8 =
            switch isSmall ? byte - 32 : byte {
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case let other: other
            }
        return alphabet.firstIndex(of: character).map { UInt8($0) }
    }
}

/// Two check symbols over the field of 32 elements: their sum, and their sum weighted by the powers of a generator, are
/// zero. No two of the 31 weights are equal, so one or two wrong symbols always show (a Reed-Solomon code of distance
/// 3); symbols that changed places are two wrong ones.
struct RecoveryCodeChecksum {
    private var sum: UInt8 = 0
    private var weightedSum: UInt8 = 0
    private var weight: UInt8 = 1

    var isClosed: Bool { sum == 0 && weightedSum == 0 }

    mutating func append(_ symbol: UInt8) {
        sum ^= symbol
        weightedSum ^= Self.product(weight, symbol)
        weight = Self.product(weight, 2)
    }

    /// The two symbols that close the code.
    func closing() -> (UInt8, UInt8) {
        // a + b = sum, w·a + 2w·b = weighted sum; so b = (weighted sum + w·sum) / (w + 2w).
        let numerator = weightedSum ^ Self.product(weight, sum)
        let denominator = weight ^ Self.product(weight, 2)
        let second = Self.product(numerator, Self.inverse(denominator))
        return (sum ^ second, second)
    }

    /// The product in the field of 32 elements, modulo x^5 + x^2 + 1, of which 2 is a generator.
    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (left, result) = (left, UInt8(0))
        for bit in 0..<5 {
            if right >> bit & 1 == 1 { result ^= left }
            left <<= 1
            if left & 32 != 0 { left ^= 0b100101 }
        }
        return result
    }

    /// The inverse of an element other than zero: its 30th power.
    private static func inverse(_ element: UInt8) -> UInt8 {
        (0..<30).reduce(1) { power, _ in product(power, element) }
    }
}
