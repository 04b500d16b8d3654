/// A decimal number kept as the text it came in.
///
/// `1.10` and `1.1` are different texts of the same number: `==` compares texts, queries compare numbers.
public struct DecimalText: Sendable, Hashable {
    /// The number as JSON writes it: an optional minus, digits, and optionally a fraction and an exponent.
    public let text: String

    /// Keeps a text that follows the JSON grammar for numbers (RFC 8259, section 6); returns nil for any other.
    public init?(_ text: String) {
        guard JSONNumber.isValid(text.utf8) else { return nil }
        self.text = text
    }

    /// The decimal text of a whole number.
    public init(_ value: Int64) {
        self.text = String(value)
    }

    /// The shortest decimal text that reads back as the given number; nil for a NaN or an infinity.
    public init?(shortestOf value: Double) {
        guard value.isFinite else { return nil }
        self.text = value.description
    }

    /// Compares the numbers the texts stand for, exactly, whatever their length.
    public func isNumericallyLess(than other: DecimalText) -> Bool {
        DecimalDigits(text).compare(with: DecimalDigits(other.text)) < 0
    }

    /// Whether both texts stand for the same number.
    public func isNumericallyEqual(to other: DecimalText) -> Bool {
        DecimalDigits(text).compare(with: DecimalDigits(other.text)) == 0
    }
}

extension DecimalText: CustomStringConvertible {
    /// The text itself.
    public var description: String { text }
}

/// Sign, significant digits and the power of ten of the first one: enough to compare without arithmetic.
package struct DecimalDigits {
    private var isNegative = false
    private var digits: [UInt8] = []
    /// The number is 0.d₁d₂d₃… × 10^exponent.
    private var exponent = 0

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
                if !(digits.isEmpty && byte == 48) { digits.append(byte) }
            default: break
            }
        }
        exponent += exponentIsNegative ? -written : written
        while digits.last == 48 { digits.removeLast() }
        if digits.isEmpty {
            isNegative = false
            exponent = 0
        }
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
}
