import CProcessorPause
import Foundation
import Synchronization

/// Watching a number for a moment, instead of sleeping at once.
///
/// It is bounded like a computation: what waits for the same thread waits no longer than that. With one core it would
/// only keep the other thread from running, and does not happen.
enum BriefWatch {
    /// Up to which recent duration, in nanoseconds, the end of a job is watched for: one that takes longer, such as a
    /// page of rows or a commit that waits for the disk, makes waking a thread a small part of the whole.
    static let longestJob = 300_000

    private static let longestWatch = Duration.microseconds(400)
    private static let longestLinger = Duration.microseconds(100)

    // Elsewhere threads wake faster, and a second busy core costs battery.
    #if os(Linux)
    private static let isUseful = ProcessInfo.processInfo.activeProcessorCount > 1
    #else
    private static let isUseful = false
    #endif

    /// One thread of the process at a time watches for an end: others have tasks to run.
    private static let isTaken = Atomic(false)

    /// Returns when the number is no longer 0, or soon.
    static func forEnd(_ number: borrowing Atomic<Int>) {
        guard isUseful, isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            return
        }
        watch(number, beyond: 0, for: longestWatch)
        isTaken.store(false, ordering: .releasing)
    }

    /// Returns when the number has changed, or soon.
    static func forArrival(_ number: borrowing Atomic<Int>, beyond seen: Int) {
        if isUseful { watch(number, beyond: seen, for: longestLinger) }
    }

    private static func watch(_ number: borrowing Atomic<Int>, beyond seen: Int, for limit: Duration) {
        let end = ContinuousClock.now + limit
        while number.load(ordering: .acquiring) == seen, ContinuousClock.now < end { processor_pause() }
    }
}
