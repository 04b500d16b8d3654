/// The id of a record: a string in user tables, a whole number in the table of operations.
///
/// Two string ids are equal when their UTF-8 bytes are equal. A table may declare that its string ids ignore the case
/// of ASCII letters (``IDComparison/asciiCaseInsensitive``); stores honour that, this type does not know it.
public enum RecordID: Sendable {
    /// An id chosen by the app, or a UUID made for it. To a store the empty text is an id like any other.
    case string(String)
    /// A number; such ids are ordered numerically.
    case int64(Int64)

    /// The text of a ``string(_:)``, else nil.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number of an ``int64(_:)``, else nil.
    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The id as the value of the column `id`.
    public var fieldValue: FieldValue {
        switch self {
        case .string(let value): .string(value)
        case .int64(let value): .int64(value)
        }
    }

    /// The id in the form under which a table with the given comparison finds it.
    public func folded(for comparison: IDComparison) -> RecordID {
        switch (self, comparison) {
        case (.string(let value), .asciiCaseInsensitive): .string(value.asciiLowercased())
        default: self
        }
    }
}

extension RecordID: Hashable {
    /// Compares kind and content, strings by their UTF-8 bytes.
    public static func == (left: RecordID, right: RecordID) -> Bool { left.fieldValue == right.fieldValue }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(fieldValue) }
}

extension RecordID: CustomStringConvertible {
    /// The text, or the digits of the number.
    public var description: String {
        switch self {
        case .string(let value): value
        case .int64(let value): String(value)
        }
    }
}

extension RecordID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Creates a ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an ``int64(_:)``.
    public init(integerLiteral value: Int64) { self = .int64(value) }
}

/// How a table tells string ids apart.
public enum IDComparison: Sendable, Hashable {
    /// By their bytes. The rule of protocol 3.
    case exact
    /// Ignoring the case of the letters A to Z; the newest casing is the one stored. The rule of protocol 2.
    case asciiCaseInsensitive
}

extension String {
    /// This text with A to Z made lower-case and every other scalar as it is.
    package func asciiLowercased() -> String {
        mappingASCII { (65...90).contains($0) ? $0 + 32 : $0 }
    }

    /// This text with a to z made upper-case and every other scalar as it is.
    package func asciiUppercased() -> String {
        mappingASCII { (97...122).contains($0) ? $0 - 32 : $0 }
    }

    private func mappingASCII(_ transform: (UInt8) -> UInt8) -> String {
        String(decoding: utf8.map(transform), as: UTF8.self)
    }
}
