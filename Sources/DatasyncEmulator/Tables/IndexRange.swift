/// The rows that can satisfy a condition at all, by stamp and by id.
struct IndexRange: Equatable {
    struct Bound: Equatable {
        let id: RowID
        let isInclusive: Bool
    }

    /// In units of 100 nanoseconds; the ends of the type mean no bound.
    var stamps: Range<Int64> = .min ..< .max
    var lowerID: Bound?
    var upperID: Bound?

    /// The range of one condition, and whether it says all that the condition says.
    ///
    /// - Parameters:
    ///   - condition: The condition, of any form.
    ///   - ignoresCase: Whether ids are looked up without their case.
    init(_ condition: ODataExpression, ignoresCase: Bool = false) {
        switch condition {
        case .comparison(let comparison, .property("updatedAt"), .literal(.instant(let ticks))):
            stamps = Self.stamps(comparison, ticks)
        case .comparison(let comparison, .property("id"), .literal(.string(let text))):
            let id = RowID(ignoresCase ? text.withASCIILowercased : text)
            switch comparison {
            case .eq: (lowerID, upperID) = (Bound(id: id, isInclusive: true), Bound(id: id, isInclusive: true))
            case .ge, .gt: lowerID = Bound(id: id, isInclusive: comparison == .ge)
            case .le, .lt: upperID = Bound(id: id, isInclusive: comparison == .le)
            case .ne: break
            }
        case .all(let parts):
            for part in parts { formIntersection(IndexRange(part, ignoresCase: ignoresCase)) }
        case .any(let parts):
            // Alternatives are joined for stamps alone: there it makes pages after a place in a long table cheap.
            let ranges = parts.map { IndexRange($0, ignoresCase: ignoresCase).stamps }
            let lower = ranges.map(\.lowerBound).min() ?? .min
            stamps = lower..<max(lower, ranges.map(\.upperBound).max() ?? .max)
        default: break
        }
    }

    private static func stamps(_ comparison: ODataExpression.Comparison, _ ticks: Int64) -> Range<Int64> {
        // Dates end with the year 9999, so that the next instant is one.
        switch comparison {
        case .eq: ticks..<ticks + 1
        case .ge: ticks ..< .max
        case .gt: ticks + 1 ..< .max
        case .le: .min..<ticks + 1
        case .lt: .min..<ticks
        case .ne: .min ..< .max
        }
    }

    private mutating func formIntersection(_ other: IndexRange) {
        let lower = max(stamps.lowerBound, other.stamps.lowerBound)
        stamps = lower..<max(lower, min(stamps.upperBound, other.stamps.upperBound))
        // Of two bounds either one is right; the other is still a condition.
        lowerID = lowerID ?? other.lowerID
        upperID = upperID ?? other.upperID
    }
}

extension ODataExpression {
    /// The condition without those of its parts that a range of stamps says in full; nil when nothing is left.
    var withoutStampRange: ODataExpression? {
        switch self {
        case .comparison(.ne, .property("updatedAt"), .literal(.instant)): return self
        case .comparison(_, .property("updatedAt"), .literal(.instant)): return nil
        case .all(let parts):
            let rest = parts.compactMap(\.withoutStampRange)
            return rest.count > 1 ? .all(rest) : rest.first
        default: return self
        }
    }
}

extension String {
    /// The text with the letters A to Z as small ones.
    var withASCIILowercased: String {
        guard utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return self }
        return String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
