extension EmulatedTableDefinition {
    /// What a column holds, whether it may be null, and what it holds where a body leaves it out.
    public struct ColumnType: Sendable, Hashable {
        /// What a column holds.
        public enum Kind: String, Sendable, CaseIterable {
            /// Text.
            case text
            /// A truth value.
            case boolean
            /// A whole number of 64 bits. It may be sent as a text.
            case integer
            /// A number with which filters compute in binary. It may be sent as a text.
            case number
            /// A number with which filters compute in decimals; 28 digits are kept. It may be sent as a text.
            case decimal
            /// An instant; it comes back as UTC with milliseconds, cut. Without a zone it is taken as UTC.
            case date
            /// A day, such as `2024-03-04`.
            case day
            /// A time of day; it comes back with milliseconds.
            case time
            /// Bytes in base64.
            case bytes
            /// An identifier with dashes; it comes back in lower case.
            case uuid
            /// Any JSON value.
            case json
        }

        /// What the column holds.
        public let kind: Kind
        /// Whether it may be null.
        public let isNullable: Bool
        /// What a row holds where a body leaves the column out: null where it may be null, else the kind's, such as 0,
        /// false, an empty text or the first instant of the year 1, unless something else was chosen.
        public let defaultValue: JSONValue

        /// A column that may not be null.
        public init(_ kind: Kind) {
            self.init(kind, isNullable: false, kind.defaultValue)
        }

        private init(_ kind: Kind, isNullable: Bool, _ defaultValue: JSONValue) {
            self.kind = kind
            self.isNullable = isNullable
            self.defaultValue = defaultValue
        }

        /// The same, but it may be null, and is where a body leaves it out.
        public var optional: ColumnType { ColumnType(kind, isNullable: true, .null) }

        /// The same with another default.
        ///
        /// - Throws: `EmulatorError` with code `invalidDefinition` when the column cannot hold the value.
        public func defaulting(to value: JSONValue) throws -> ColumnType {
            guard let stored = stored(value) else {
                throw EmulatorError(
                    .invalidDefinition,
                    "The default of a column does not fit its kind, \(kind.rawValue); choose a value that does."
                )
            }
            return ColumnType(kind, isNullable: isNullable, stored)
        }
    }
}

extension EmulatedTableDefinition.ColumnType {
    /// Text, never null.
    public static let text = Self(.text)
    /// A truth value, never null.
    public static let boolean = Self(.boolean)
    /// A whole number, never null.
    public static let integer = Self(.integer)
    /// A binary number, never null.
    public static let number = Self(.number)
    /// A decimal number, never null.
    public static let decimal = Self(.decimal)
    /// An instant, never null.
    public static let date = Self(.date)
    /// A day, never null.
    public static let day = Self(.day)
    /// A time of day, never null.
    public static let time = Self(.time)
    /// Bytes, never null.
    public static let bytes = Self(.bytes)
    /// An identifier, never null.
    public static let uuid = Self(.uuid)
    /// Any JSON value but null.
    public static let json = Self(.json)
}

extension EmulatedTableDefinition.ColumnType.Kind {
    /// What a column without a value holds: the default of the .NET type behind it, though never null.
    var defaultValue: JSONValue {
        switch self {
        case .text, .bytes: ""
        case .boolean: false
        case .integer: 0
        case .number: 0.0
        case .decimal: .decimal("0")
        case .date: "0001-01-01T00:00:00.000Z"
        case .day: "0001-01-01"
        case .time: "00:00:00.000"
        case .uuid: "00000000-0000-0000-0000-000000000000"
        case .json: [:]
        }
    }
}
