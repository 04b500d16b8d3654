/// An instant in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Servers may send finer instants. The text of such an instant is kept beside the milliseconds, so that sending the
/// value back does not cut it. Queries compare milliseconds only, in conditions and in orders, with an index and without.
///
/// Text is always Gregorian, UTC, with ASCII digits: no calendar or locale of the device takes part. Instants are equal that differ
/// in the zone alone in which they were written.
public struct Timestamp: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z; negative before. A finer instant is rounded down.
    public let milliseconds: Int64

    /// The text this value was read from, when that text says more than milliseconds do; otherwise nil.
    public let finerText: String?

    /// Creates an instant that is exact to the millisecond.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
        self.finerText = nil
    }

    /// Reads `yyyy-MM-ddTHH:mm:ss`, an optional fraction of any length, and `Z` or `±hh:mm`.
    ///
    /// Returns nil for anything else, including text without a zone and days that do not exist.
    public init?(_ text: String) {
        guard let parsed = TimestampText.parse(Array(text.utf8)[...]) else { return nil }
        self.milliseconds = parsed.milliseconds
        self.finerText = parsed.isFinerThanMilliseconds ? text : nil
    }

    /// Reads the same as a server wrote it. Some leave the zone out where a property has none, and mean UTC.
    package init?(ofServer text: ArraySlice<UInt8>) {
        guard let parsed = TimestampText.parse(text, defaultsToUTC: true) else { return nil }
        self.milliseconds = parsed.milliseconds
        self.finerText =
            parsed.isFinerThanMilliseconds
            ? String(decoding: text, as: UTF8.self) + (parsed.hasZone ? "" : "Z") : nil
    }

    /// `yyyy-MM-ddTHH:mm:ss.SSSZ`: exactly three fraction digits, UTC.
    ///
    /// Years outside 1 to 9999 are written with more digits or a sign, which servers do not read.
    public var text: String { TimestampText.format(milliseconds: milliseconds) }

    /// What goes to a server: ``text``, with all the digits of ``finerText`` where there is one. In UTC, for there are databases
    /// behind servers that take no other zone; only where that would be in no year of four digits in the zone that it was given in.
    public var wireText: String {
        guard let finerText else { return text }
        guard finerText.utf8.last != UInt8(ascii: "Z") || finerText.utf8.contains(UInt8(ascii: "t")) else {
            return finerText
        }
        // Zones are whole minutes apart: the fraction is the same in all.
        let fraction = finerText.utf8.drop { $0 != UInt8(ascii: ".") }.prefix { "."..<":" ~= Unicode.Scalar($0) }
        let whole = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard whole.count == 19 else { return finerText }
        return String(decoding: Array(whole) + fraction + [UInt8(ascii: "Z")], as: UTF8.self)
    }
}

extension Timestamp {
    /// The instants of years 1 to 9999, in milliseconds: services read no other years.
    package static let wireMilliseconds: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
}

extension Timestamp: Hashable {
    /// Whether both are the same instant, with the same digits.
    public static func == (left: Timestamp, right: Timestamp) -> Bool {
        guard left.milliseconds == right.milliseconds else { return false }
        guard let mine = left.finerText, let theirs = right.finerText else {
            return left.finerText == nil && right.finerText == nil
        }
        return mine == theirs || left.wireText == right.wireText
    }

    /// By the milliseconds: few instants differ in what is finer.
    public func hash(into hasher: inout Hasher) { hasher.combine(milliseconds) }
}

extension Timestamp: CustomStringConvertible {
    /// The same as ``wireText``.
    public var description: String { wireText }
}
