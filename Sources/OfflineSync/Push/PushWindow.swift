internal import SyncContract

/// What a push has prepared and sends next, in order.
///
/// Preparing several operations takes one transaction instead of one each. How many depends on how fast they leave: a state
/// in which rows are shown as on their way although their requests have yet to leave lasts a moment, not minutes.
struct PushWindow {
    private static let most = 64

    /// The most operations that are prepared together: as many as fill batches.
    private let most: Int
    /// How long those of one window should take.
    private static let time: (least: Duration, most: Duration) = (.milliseconds(50), .milliseconds(100))

    private let smallest: Int
    private let elapsed: @Sendable () -> Duration
    private var operations: ArraySlice<InFlightOperation> = []
    private var begin = Duration.zero
    private var isFull = false

    /// How many operations are prepared next.
    private(set) var size: Int

    /// What was prepared and did not leave. It still counts as sent in the store.
    private(set) var unsent: [InFlightOperation] = []

    /// - Parameters:
    ///   - operationsUnderWay: How many operations may be under way at a time.
    ///   - clock: What says how fast they leave.
    init(operationsUnderWay: Int, _ clock: any Clock<Duration>) {
        smallest = min(operationsUnderWay, Self.most)
        most = Self.most - Self.most % smallest
        size = smallest
        elapsed = clock.stopwatch()
    }

    var first: InFlightOperation? { operations.first }

    mutating func removeFirst() { operations.removeFirst() }

    /// Takes over what was prepared, when all before it has left. What had not left does not count as sent any more.
    mutating func fill(with prepared: [InFlightOperation]) {
        operations = prepared[...]
        unsent = []
        let now = elapsed()
        let (time, wasFull) = (now - begin, isFull)
        (begin, isFull) = (now, prepared.count >= size)
        if wasFull, time < Self.time.least { size = min(2 * size, most) }
        if wasFull, time > Self.time.most { size = max(size / 2, smallest) }
    }

    /// Takes note that an operation which was taken out did not leave.
    mutating func giveBack(_ inFlight: InFlightOperation) { unsent.append(inFlight) }

    /// Gives up what is left when the server has not taken an operation that some of it may have to wait for.
    mutating func giveBack(tiedTo inFlight: InFlightOperation) {
        guard let references = inFlight.references else { return }
        if operations.contains(where: { $0.references?.isTied(to: references) ?? false }) { giveBack() }
    }

    /// Gives up what is left: it is chosen anew, or not sent.
    mutating func giveBack() {
        unsent += operations
        operations = []
    }
}

extension Clock<Duration> {
    /// What says how much time has passed since now.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
