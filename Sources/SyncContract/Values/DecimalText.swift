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

    /// The text of a number without an exponent.
    package init(_ digits: DecimalDigits) {
        self.text = digits.text
    }

    /// This number divided by a whole number above 0, rounded to so many digits, halves away from zero.
    package func divided(by divisor: Int64, digits: Int) -> DecimalText {
        DecimalText(DecimalDigits(text).divided(by: divisor, digits: digits))
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
