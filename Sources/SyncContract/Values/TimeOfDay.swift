/// A time of day without a day and a zone: `08:30:00.000`.
///
/// Columns of text hold it, as servers write it, so that rows come in the order of times.
public struct TimeOfDay: Sendable, Hashable, Comparable {
    /// Milliseconds since midnight, below 86,400,000.
    public let milliseconds: Int

    /// Creates a time; nil when there is none such.
    public init?(hour: Int, minute: Int = 0, second: Int = 0, millisecond: Int = 0) {
        guard 0..<24 ~= hour, 0..<60 ~= minute, 0..<60 ~= second, 0..<1_000 ~= millisecond else { return nil }
        milliseconds = ((hour * 60 + minute) * 60 + second) * 1_000 + millisecond
    }

    /// Reads `HH:mm`, `HH:mm:ss` and `HH:mm:ss.` with a fraction of any length, which is cut to milliseconds; nil for
    /// anything else.
    public init?(_ text: String) {
        let whole = text.utf8.count == 5 ? text + ":00" : text
        guard let time = Timestamp("1970-01-01T\(whole)Z"), time.milliseconds < 86_400_000 else { return nil }
        milliseconds = Int(time.milliseconds)
    }

    /// The hour, 0 to 23.
    public var hour: Int { milliseconds / 3_600_000 }
    /// The minute, 0 to 59.
    public var minute: Int { milliseconds / 60_000 % 60 }
    /// The second, 0 to 59.
    public var second: Int { milliseconds / 1_000 % 60 }

    /// `HH:mm:ss.SSS`.
    public var text: String {
        Day.text([(hour, 2), (minute, 2), (second, 2)], ":") + "." + Day.text([(milliseconds % 1_000, 3)], "")
    }

    /// Whether the first time is the earlier one.
    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.milliseconds < right.milliseconds }
}

extension TimeOfDay: ColumnValue {
    /// The ``text``, as a ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(text) }
    /// What ``init(_:)`` reads.
    public init?(fieldValue: FieldValue) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }
}

extension TimeOfDay: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension TimeOfDay: Codable {
    /// Decodes what ``init(_:)`` reads.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = TimeOfDay(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time as HH:mm:ss")
        }
        self = time
    }

    /// Encodes the ``text``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
