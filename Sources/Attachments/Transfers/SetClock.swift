internal import SyncContract
internal import Synchronization

/// Finds out that the clock was set ahead since it was looked at last: at the start of a device that has forgotten the time, for
/// instance. Time that only seems to have passed is no reason to remove anything.
final class SetClock: Sendable {
    private let last = Mutex<(date: Timestamp, time: Duration)?>(nil)

    /// Whether the clock has gone further than time has, since both were seen last.
    func wasSetAhead(_ date: Timestamp, _ time: Duration) -> Bool {
        guard let last = last.withLock({ $0 }) else { return false }
        let passed = (time - last.time) / .milliseconds(1)
        return Double(date.milliseconds - last.date.milliseconds) > passed + Self.tolerance
    }

    func seen(_ date: Timestamp, _ time: Duration) { last.withLock { $0 = (date, time) } }

    /// What is put right from time to time, in milliseconds.
    private static var tolerance: Double { 60_000 }
}
