/// The attempts at seeing a stamp move on: as many as are worth their requests, and on for 100 ms with a server so fast
/// that it makes them all within one unit of its stamps.
struct StampAttempts: Sequence, IteratorProtocol {
    /// How many there have been.
    private(set) var count = 0
    private let least: Int
    private let enough = ContinuousClock.now + .milliseconds(100)

    /// - Parameter least: How many there are in any case.
    init(_ least: Int) {
        self.least = least
    }

    mutating func next() -> Int? {
        guard count < least || ContinuousClock.now < enough else { return nil }
        count += 1
        return count
    }
}
