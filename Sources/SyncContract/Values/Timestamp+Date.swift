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
        guard let whole = Int64(exactly: milliseconds) else {
            self.init(milliseconds: milliseconds < 0 ? .min : .max)
            return
        }
        // Far from 1970 the step is larger than the nudge: the instant is the last millisecond that is not behind the date.
        let next = whole < .max ? Timestamp(milliseconds: whole + 1) : nil
        self.init(milliseconds: next.map { $0.date <= date } == true ? whole + 1 : whole)
    }

    /// The instant as a `Date`.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
