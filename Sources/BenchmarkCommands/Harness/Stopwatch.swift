internal import Foundation
internal import Synchronization

/// Measures elapsed time, or processor time.
enum Stopwatch {
    /// Whether processor time is measured. Set once, at the start.
    static let measuresProcessorTime = Atomic(false)

    static var now: Duration {
        var time = timespec()
        let clock = measuresProcessorTime.load(ordering: .relaxed) ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC
        _ = unsafe clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// How long a closure takes.
func timed(_ body: () async throws -> Void) async throws -> Duration {
    let start = Stopwatch.now
    try await body()
    return Stopwatch.now - start
}
