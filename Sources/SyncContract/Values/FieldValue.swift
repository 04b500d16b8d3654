/// One value of a record.
///
/// The cases are the types that the wire formats and SQLite can both carry without loss. Two strings are equal when
/// their UTF-8 bytes are equal: unlike `String`, a composed and a decomposed accent differ here, as they do on disk and
/// on a server.
public enum FieldValue: Sendable {
    /// No value. Writing it clears a column; an absent key leaves the column as it is.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case int64(Int64)
    /// A binary floating-point number. It comes back bit for bit, but for the sign of zero. A NaN is refused by every
    /// store; infinities are kept, but cannot be sent to a server.
    case double(Double)
    /// A decimal number, kept as the text it came in.
    case decimal(DecimalText)
    /// Text. Any Unicode scalar is allowed, U+0000 included. Empty text is not null.
    case string(String)
    /// An instant in whole milliseconds.
    case date(Timestamp)
    /// Bytes. Empty bytes are not null.
    case bytes([UInt8])
    /// Nested JSON, kept verbatim.
    case json(JSONText)

    /// Whether the value is ``null``.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension FieldValue: Hashable {
    /// Compares case and content; strings by their UTF-8 bytes, doubles by their bits except that zeros are equal.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b || (a.isNaN && b.isNaN)
        case (.decimal(let a), .decimal(let b)): a == b
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.date(let a), .date(let b)): a == b
        case (.bytes(let a), .bytes(let b)): a == b
        case (.json(let a), .json(let b)): a == b
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int64(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? Double.infinity : value)
        case .decimal(let value): hasher.combine(value)
        case .string(let value): value.hashBytes(into: &hasher)
        case .date(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .json(let value): hasher.combine(value)
        }
    }
}

extension FieldValue {
    /// The truth value, when this is ``bool(_:)``.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, when this is ``int64(_:)``.
    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The number, when this is ``double(_:)``.
    public var doubleValue: Double? {
        if case .double(let value) = self { value } else { nil }
    }

    /// The text, when this is ``string(_:)``.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The instant, when this is ``date(_:)``.
    public var dateValue: Timestamp? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The bytes, when this is ``bytes(_:)``.
    public var bytesValue: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The nested JSON, when this is ``json(_:)``.
    public var jsonValue: JSONText? {
        if case .json(let value) = self { value } else { nil }
    }

    /// The decimal number, when this is ``decimal(_:)``.
    public var decimalValue: DecimalText? {
        if case .decimal(let value) = self { value } else { nil }
    }
}

// `nil` is not a literal of this type on purpose: in `condition ? nil : value` it would silently become `.null`.
extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an ``int64(_:)``.
    public init(integerLiteral value: Int64) { self = .int64(value) }
    /// Creates a ``double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
