internal import Foundation

/// What work took: elapsed time, and the processor time of this process, all threads together.
struct Cost: Sendable {
    var elapsed: Duration
    var processor: Duration

    /// The two clocks of this instant.
    static var now: Cost { Cost(elapsed: read(CLOCK_MONOTONIC), processor: read(CLOCK_PROCESS_CPUTIME_ID)) }

    static func - (left: Cost, right: Cost) -> Cost {
        Cost(elapsed: left.elapsed - right.elapsed, processor: left.processor - right.processor)
    }

    static func + (left: Cost, right: Cost) -> Cost {
        Cost(elapsed: left.elapsed + right.elapsed, processor: left.processor + right.processor)
    }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        _ = unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// What a closure takes.
func measured(_ body: () async throws -> Void) async throws -> Cost {
    let start = Cost.now
    try await body()
    return .now - start
}
