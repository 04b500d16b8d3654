/// An instant in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Servers may send finer instants. The text of such an instant is kept beside the milliseconds, so that sending the
/// value back does not cut it. Queries compare milliseconds only, in conditions and in orders, with an index and without.
///
/// Text is always Gregorian, UTC, with ASCII digits: no calendar or locale of the device takes part.
public struct Timestamp: Sendable, Hashable {
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

    /// What goes to a server: ``text`` with all the digits of ``finerText`` where there is one. Always in UTC, for there are
    /// databases behind servers that take no other zone.
    public var wireText: String {
        guard let finerText else { return text }
        guard finerText.utf8.last != UInt8(ascii: "Z") || finerText.contains("t") else { return finerText }
        // Zones are whole minutes apart: the fraction is the same in all.
        let fraction = finerText.drop { $0 != "." }.prefix { $0 == "." || $0.isASCII && $0.isWholeNumber }
        return text.prefix { $0 != "." } + fraction + "Z"
    }
}

extension Timestamp: CustomStringConvertible {
    /// The same as ``wireText``.
    public var description: String { wireText }
}
