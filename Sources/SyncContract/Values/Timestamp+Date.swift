#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Timestamp {
    /// The instant of a `Date`, rounded down to the millisecond.
    ///
    /// A date beyond the range of 64-bit milliseconds, 292 million years from 1970, becomes the end of that range.
    public init(_ date: Date) {
        // The smallest step of a Date near today is about 0.1 µs: without the nudge, an instant that was made from
        // whole milliseconds could fall just below them.
        let milliseconds = ((date.timeIntervalSince1970 + 0.000_000_5) * 1_000).rounded(.down)
        self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }

    /// The instant as a `Date`.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
