internal import SyncContract

/// What a push has prepared and sends next, in order.
///
/// Preparing several operations takes one transaction instead of one each. How many depends on how fast they leave: a state
/// in which rows are shown as on their way although their requests have yet to leave lasts a moment, not minutes. What follows
/// is chosen while the second half leaves, so that no request waits for the store.
struct PushWindow {
    /// As many changes as one transaction takes in.
    static let most = 256

    /// The most operations that are prepared together: as many as fill batches.
    private let most: Int
    /// How long those of one window should take: a cut has what was sent in one and a half of that sent again.
    private static let time: (least: Duration, most: Duration) = (.milliseconds(100), .milliseconds(200))

    private let smallest: Int
    private let elapsed: @Sendable () -> Duration
    private var operations: ArraySlice<InFlightOperation> = []
    private var begin = Duration.zero
    private var isFull = false
    /// The number that was prepared last, and how many there were.
    private var last: Int64?
    private var count = 0
    /// What is being chosen meanwhile.
    private var following: Task<[InFlightOperation], any Error>?
    /// What the server has not taken since that began.
    private var notTaken: [OperationReferences] = []

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
        unsent = []
        take(prepared)
    }

    private mutating func take(_ prepared: [InFlightOperation]) {
        operations = prepared[...]
        (last, count) = (prepared.last?.operation.id, prepared.count)
        let now = elapsed()
        let (time, wasFull) = (now - begin, isFull)
        (begin, isFull) = (now, prepared.count >= size)
        if wasFull, time < Self.time.least { size = min(2 * size, most) }
        if wasFull, time > Self.time.most { size = max(size / 2, smallest) }
    }

    /// Whether to begin to choose what follows: once, when half of what was prepared has left and more may wait. Where a window
    /// is as small as can be, requests take so long that the store does not matter, and rows would be shown as on their way
    /// too soon.
    ///
    /// - Parameter end: The number behind which nothing follows.
    /// - Returns: Whether there is something to do ahead.
    func isToChooseAhead(through end: Int64) -> Bool {
        following == nil && isFull && count > smallest && operations.count <= count / 2 && last != end && unsent.isEmpty
    }

    /// Begins to choose what follows.
    ///
    /// - Parameter choose: Prepares as many operations as it is told behind others that have yet to leave.
    mutating func chooseAhead(
        _ choose: @escaping @Sendable (Int, [InFlightOperation]) async throws -> [InFlightOperation]
    ) {
        let (size, before) = (size, Array(operations))
        following = Task(executorPreference: UncancelledWork.executor) { try await choose(size, before) }
    }

    /// Takes over what was chosen meanwhile, when all before it has left. When something before it did not leave, or was not
    /// taken and may have to go first, it is given up.
    ///
    /// - Returns: Whether there is something.
    mutating func takeFollowing() async throws -> Bool {
        guard let following else { return false }
        self.following = nil
        defer { notTaken = [] }
        let chosen = try await following.value
        let isTied = chosen.contains { inFlight in
            notTaken.contains { inFlight.references?.isTied(to: $0) ?? false }
        }
        guard operations.isEmpty, unsent.isEmpty, !isTied, !chosen.isEmpty else {
            unsent += chosen
            return false
        }
        take(chosen)
        return true
    }

    /// Takes note that an operation which was taken out did not leave.
    mutating func giveBack(_ inFlight: InFlightOperation) { unsent.append(inFlight) }

    /// Gives up what is left when the server has not taken an operation that some of it may have to wait for.
    mutating func giveBack(tiedTo inFlight: InFlightOperation) {
        guard let references = inFlight.references else { return }
        if following != nil { notTaken.append(references) }
        if operations.contains(where: { $0.references?.isTied(to: references) ?? false }) { giveBack() }
    }

    /// Gives up what is left: it is chosen anew, or not sent.
    mutating func giveBack() {
        unsent += operations
        operations = []
    }

    /// Gives up what is left, and what is being chosen, which is waited for.
    mutating func end() async throws {
        giveBack()
        if try await takeFollowing() { giveBack() }
    }
}

extension Clock<Duration> {
    /// What says how much time has passed since now.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
