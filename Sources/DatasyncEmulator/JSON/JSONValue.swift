/// A JSON value as the emulator reads, stores and writes it.
///
/// Whole numbers that fit are kept exactly as `integer`; every other number is a `double`, but for those of decimal
/// columns. Objects keep all members, known or unknown; of a member that occurs twice the last one counts.
public enum JSONValue: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// The digits of a number in a decimal column, zeros at the end included.
    case decimal(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. Members are unordered; they are written sorted by name.
    case object([String: JSONValue])
}

extension JSONValue {
    /// The text, when this is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The members, when this is an object.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements, when this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The truth value, when this is `true` or `false`.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, when this is one.
    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The member of that name; nil when there is none or when this is not an object.
    public subscript(name: String) -> JSONValue? {
        object?[name]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Makes a truth value.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Makes a whole number.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// Makes a number with fraction.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    /// Makes a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Makes an object; of a name that occurs twice the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
