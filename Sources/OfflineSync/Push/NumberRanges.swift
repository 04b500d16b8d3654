/// A set of numbers most of which follow on each other: few ranges, so that it is soon copied.
///
/// `RangeSet` is the same for any kind of bounds, and compiled for none: for each change that was sent it took as long as
/// writing the change.
struct NumberRanges: Sendable, Equatable {
    /// In ascending order; between two there is at least one number that is not in the set.
    private(set) var ranges: [ClosedRange<Int64>] = []

    func contains(_ number: Int64) -> Bool {
        let place = place(of: number)
        return place < ranges.count && ranges[place].lowerBound <= number
    }

    mutating func insert(_ number: Int64) {
        let place = place(of: number)
        if place < ranges.count, ranges[place].lowerBound <= number { return }
        let followsOn = place > 0 && ranges[place - 1].upperBound == number - 1
        let precedes = place < ranges.count && ranges[place].lowerBound == number + 1
        switch (followsOn, precedes) {
        case (true, true):
            ranges[place - 1] = ranges[place - 1].lowerBound...ranges[place].upperBound
            ranges.remove(at: place)
        case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound...number
        case (false, true): ranges[place] = number...ranges[place].upperBound
        case (false, false): ranges.insert(number...number, at: place)
        }
    }

    mutating func remove(_ number: Int64) {
        let place = place(of: number)
        guard place < ranges.count, ranges[place].lowerBound <= number else { return }
        let range = ranges[place]
        var left: [ClosedRange<Int64>] = []
        if range.lowerBound < number { left.append(range.lowerBound...number - 1) }
        if number < range.upperBound { left.append(number + 1...range.upperBound) }
        ranges.replaceSubrange(place...place, with: left)
    }

    /// The place of the first range that does not end before a number.
    private func place(of number: Int64) -> Int {
        // Mostly numbers come in ascending order.
        guard let last = ranges.last, last.upperBound >= number else { return ranges.count }
        var (low, high) = (0, ranges.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
