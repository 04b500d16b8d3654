#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A day of the Gregorian calendar without a time and a zone: `2026-11-22`.
///
/// Columns of text hold it, as servers write it, so that rows come in the order of days.
public struct Day: Sendable, Hashable, Comparable {
    /// The year, 1 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// Creates a day; nil when there is none such.
    public init?(year: Int, month: Int, day: Int) {
        self.init(Self.text([(year, 4), (month, 2), (day, 2)], "-"))
    }

    /// Reads `yyyy-MM-dd`; nil for anything else, and for days that do not exist.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], Timestamp(text + "T00:00:00Z") != nil, let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2]), year > 0
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day on which an instant falls in a calendar's time zone.
    ///
    /// - Parameters:
    ///   - date: The instant, of the years 1 to 9999.
    ///   - timeZone: The zone; left out, that of the device.
    public init(_ date: Date, in timeZone: TimeZone = .current) {
        let seconds = date.timeIntervalSince1970 + Double(timeZone.secondsFromGMT(for: date))
        let civil = CivilTime(milliseconds: Timestamp(Date(timeIntervalSince1970: seconds)).milliseconds)
        (year, month, day) = (Int(civil.year), Int(civil.month), Int(civil.day))
    }

    /// The day on which an instant falls in a calendar's time zone. The day itself is of the Gregorian calendar, whatever the
    /// given one is.
    ///
    /// - Parameters:
    ///   - date: The instant, of the years 1 to 9999.
    ///   - calendar: The calendar whose time zone counts.
    @_disfavoredOverload
    public init(_ date: Date, in calendar: Calendar) { self.init(date, in: calendar.timeZone) }

    /// `yyyy-MM-dd`.
    public var text: String { Self.text([(year, 4), (month, 2), (day, 2)], "-") }

    /// Whether the first day is the earlier one.
    public static func < (left: Day, right: Day) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// Numbers with zeros in front.
    static func text(_ numbers: [(Int, width: Int)], _ separator: String) -> String {
        numbers.map { String(repeating: "0", count: max(0, $1 - "\($0)".utf8.count)) + "\($0)" }
            .joined(separator: separator)
    }
}

extension Day: ColumnValue {
    /// The ``text``, as a ``FieldValue/string(_:)``.
    public var fieldValue: FieldValue { .string(text) }
    /// What ``init(_:)-(String)`` reads.
    public init?(fieldValue: FieldValue) {
        guard let text = fieldValue.stringValue else { return nil }
        self.init(text)
    }
}

extension Day: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension Day: Codable {
    /// Decodes the ``text``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let day = Day(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a day as yyyy-MM-dd")
        }
        self = day
    }

    /// Encodes the ``text``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
