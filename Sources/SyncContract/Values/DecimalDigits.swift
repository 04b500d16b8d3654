/// A decimal number: sign, significant digits and the power of ten of the first one.
package struct DecimalDigits: Hashable {
    package private(set) var isNegative = false
    /// Each 0 to 9; neither the first nor the last is 0, and the number 0 has none.
    package private(set) var digits: [UInt8] = []
    /// The number is 0.d₁d₂d₃… × 10^exponent; 0 for the number 0.
    package private(set) var exponent = 0

    /// The number of digits given in order, the last of which counts ones; zeros at either end are allowed.
    package init(isNegative: Bool, whole digits: some Collection<UInt8>, timesTenTo power: Int) {
        let significant = digits.drop { $0 == 0 }
        self.digits = Array(significant)
        self.isNegative = isNegative
        exponent = power + significant.count
        trim()
    }

    package init(_ text: String) {
        self.init(utf8: text.utf8)
    }

    /// Reads a valid JSON number; what follows the first byte that cannot belong to it is ignored.
    package init(utf8 text: some Sequence<UInt8>) {
        var hasPoint = false
        var written = 0
        var isExponent = false
        var exponentIsNegative = false
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): if isExponent { exponentIsNegative = true } else { isNegative = true }
            case UInt8(ascii: "+"): break
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
            case 48...57 where isExponent:
                // An exponent beyond a billion compares the same as a billion: no text is that long.
                written = min(written * 10 + Int(byte - 48), 1_000_000_000)
            case 48...57:
                if !hasPoint, !(digits.isEmpty && byte == 48) { exponent += 1 }
                if hasPoint, digits.isEmpty, byte == 48 { exponent -= 1 }
                if !(digits.isEmpty && byte == 48) { digits.append(byte - 48) }
            default: break
            }
        }
        exponent += exponentIsNegative ? -written : written
        trim()
    }

    private mutating func trim() {
        while digits.last == 0 { digits.removeLast() }
        guard digits.isEmpty else { return }
        isNegative = false
        exponent = 0
    }

    /// Negative, zero or positive as this number is less than, equal to or greater than the other.
    package func compare(with other: DecimalDigits) -> Int {
        let sign = digits.isEmpty ? 0 : (isNegative ? -1 : 1)
        let otherSign = other.digits.isEmpty ? 0 : (other.isNegative ? -1 : 1)
        guard sign == otherSign, sign != 0 else { return sign - otherSign }
        if exponent != other.exponent { return exponent < other.exponent ? -sign : sign }
        if digits == other.digits { return 0 }
        return digits.lexicographicallyPrecedes(other.digits) ? -sign : sign
    }

    /// This number divided by a whole number above 0, rounded to so many digits, halves away from zero.
    package func divided(by divisor: Int64, digits count: Int) -> DecimalDigits {
        let divisor = Int128(divisor)
        var (quotient, rest): ([UInt8], Int128) = ([], 0)
        var next = digits.startIndex
        // One digit more than is asked for says how to round. Zeros in front are none of them.
        while quotient.count <= count, next < digits.endIndex || rest > 0 {
            rest = rest * 10 + (next < digits.endIndex ? Int128(digits[next]) : 0)
            next += 1
            let digit = UInt8(rest / divisor)
            rest %= divisor
            if digit > 0 || !quotient.isEmpty { quotient.append(digit) }
        }
        var power = exponent - next
        if quotient.count > count, let last = quotient.popLast() {
            power += 1
            if last >= 5 { power += Self.increment(&quotient) }
        }
        return DecimalDigits(isNegative: isNegative, whole: quotient, timesTenTo: power)
    }

    /// Adds 1 at the last of some digits without those that become 0, and returns how many these were.
    private static func increment(_ digits: inout [UInt8]) -> Int {
        var zeros = 0
        while digits.last == 9 {
            digits.removeLast()
            zeros += 1
        }
        digits.append((digits.popLast() ?? 0) + 1)
        return zeros
    }

    /// The number without an exponent.
    var text: String {
        var whole = digits.prefix(max(0, exponent))
        whole += repeatElement(0, count: max(0, exponent - whole.count))
        let fraction = Array(repeating: 0, count: max(0, -exponent)) + digits.dropFirst(max(0, exponent))
        return (isNegative ? "-" : "") + (whole.isEmpty ? "0" : Self.text(whole))
            + (fraction.isEmpty ? "" : "." + Self.text(fraction))
    }

    private static func text(_ digits: some Sequence<UInt8>) -> String {
        String(decoding: digits.map { $0 + 48 }, as: UTF8.self)
    }
}
