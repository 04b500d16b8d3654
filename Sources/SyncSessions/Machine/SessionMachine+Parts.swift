// What the machine of a session is made of.
extension SessionMachine {
    /// What is pulled.
    struct Pull: Sendable, Hashable {
        var table: String
        /// Whether every push waits for it.
        var precedesPush = false
        /// When it is made; nil for only when it is asked for.
        var due: Duration?
        /// Whether it was asked for after the work under way has begun.
        var isAskedAgain = false
        /// When it was last complete; nil when it never was.
        var completed: Duration?
        /// What stands against it alone, since it was last tried.
        var obstacle: Obstacle?

        /// Whether it is not tried yet, as it has failed.
        func isHeld(at now: Duration) -> Bool { obstacle.map { $0.until > now } ?? false }

        /// Whether it is to be made now.
        func isDue(at now: Duration) -> Bool { due.map { $0 <= now } ?? false && !isHeld(at: now) }

        /// When it is to be made; nil for only when it is asked for.
        var time: Duration? { due.map { max($0, obstacle?.until ?? $0) } }
    }

    /// Why a pull, or the push, fails while the service answers.
    struct Obstacle: Sendable, Hashable {
        var failure: SessionFailure
        var until: Duration
        private var backoff: BackoffProgress

        /// One that is met now, and perhaps was before.
        init(_ failure: SessionFailure, _ rule: Backoff, after last: Obstacle?, random: Double, _ now: Duration) {
            self.failure = failure
            backoff = last?.backoff ?? BackoffProgress()
            let wait = backoff.wait(after: failure.name, rule, random: random)
            until = now + max(wait, failure.wait?.asWait ?? .zero)
        }
    }

    /// When a session syncs, as far as it decides by that.
    struct Settings: Sendable, Hashable {
        var pullInterval: Duration? = .seconds(300)
        var pushDelay = Duration.milliseconds(500)
        var backoff = Backoff()
        /// Whether the session fails when everything would have to be brought anew.
        var resetsManually = false
        var maximumOfflineTime: Duration?
    }

    /// What is done in one go: the pulls that precede a push, the push, the other pulls; or everything is brought anew.
    struct Work: Sendable, Hashable {
        var pushes = false
        /// Whether everything is brought anew, by all pulls.
        var resets = false
        /// The pulls, as they stand in the list of this number.
        var pulls: [Int] = []
        var list = 0
    }

    enum Phase: Sendable, Hashable { case inactive, loading, running, failed, closed }

    /// Until when nothing is tried.
    struct Hold: Sendable, Hashable {
        var until: Duration
        /// Whether it is the pulls that fail, while the service answers: changes are sent all the same.
        var isOfPulls = false
        /// Whether the server has set that time.
        var isOrdered = false
        var needsCredentials = false
    }

    /// Somebody who waits.
    struct Wait: Sendable, Hashable {
        var direction: SyncDirection
        var needsUpload: Bool
        /// The pulls that have to become complete.
        var pulls: Set<Int>
        /// Those of them that are part of work that was begun since.
        var begun: Set<Int> = []

        var isDone: Bool { !needsUpload && pulls.isEmpty }
    }
}
