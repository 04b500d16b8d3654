/// An instant in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Servers may send finer instants. The text of such an instant is kept beside the milliseconds, so that sending the
/// value back does not cut it. Queries compare milliseconds only, in conditions and in orders, with an index and without.
///
/// Text is always Gregorian, UTC, with ASCII digits: no calendar or locale of the device takes part.
public struct Timestamp: Sendable, Hashable {
    /// Milliseconds since 1970-01-01T00:00:00Z; negative before. A finer instant is rounded down.
    public let milliseconds: Int64

    /// The text this value was read from, in UTC and with all its digits, when that text says more than milliseconds do;
    /// otherwise nil. Instants that were written in other zones are so the same, and there are databases behind servers that take
    /// no other.
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
        self.init(parsed, text)
    }

    /// Reads the same as a server wrote it. Some leave the zone out where a property has none, and mean UTC.
    package init?(ofServer text: ArraySlice<UInt8>) {
        guard let parsed = TimestampText.parse(text, defaultsToUTC: true) else { return nil }
        self.init(parsed, String(decoding: text, as: UTF8.self))
    }

    /// `yyyy-MM-ddTHH:mm:ss.SSSZ`: exactly three fraction digits, UTC.
    ///
    /// Years outside 1 to 9999 are written with more digits or a sign, which servers do not read.
    public var text: String { TimestampText.format(milliseconds: milliseconds) }

    /// What goes to a server: ``finerText`` when there is one, else ``text``.
    public var wireText: String { finerText ?? text }

    private init(_ parsed: TimestampText.Parsed, _ text: String) {
        milliseconds = parsed.milliseconds
        guard parsed.isFinerThanMilliseconds else {
            finerText = nil
            return
        }
        // Zones are whole minutes apart: the fraction is the same in all.
        let fraction = text.utf8.drop { $0 != UInt8(ascii: ".") }
            .prefix { $0 < UInt8(ascii: ":") && $0 > UInt8(ascii: "-") }
        let whole = TimestampText.format(milliseconds: milliseconds).utf8.prefix { $0 != UInt8(ascii: ".") }
        finerText = String(decoding: Array(whole) + fraction + [UInt8(ascii: "Z")], as: UTF8.self)
    }
}

extension Timestamp: CustomStringConvertible {
    /// The same as ``wireText``.
    public var description: String { wireText }
}
