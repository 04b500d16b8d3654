package import DurableFiles
package import Foundation
package import SyncSessions

/// What the files take from the world: time, chance, and the file system. Tests bring their own.
package struct AttachmentEnvironment: Sendable {
    /// The time since any one moment.
    let now: @Sendable () -> Duration
    /// Until such a time: not for as long as it seemed to be when that was worked out.
    let sleepUntil: @Sendable (Duration) async throws -> Void
    let date: @Sendable () -> Date
    /// 0 to 1.
    let random: @Sendable () -> Double
    let fileSystem: FileSystem
    let backoff: Backoff

    package init(
        clock: some Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        fileSystem: FileSystem = FileSystem(),
        backoff: Backoff = Backoff()
    ) {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleepUntil = { try await clock.sleepInParts(until: origin.advanced(by: $0)) }
        self.date = date
        self.random = random
        self.fileSystem = fileSystem
        self.backoff = backoff
    }
}
