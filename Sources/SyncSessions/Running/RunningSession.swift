#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

internal import OfflineSync
internal import Synchronization

extension SyncSession {
    /// What is behind the lock of a session.
    struct Running: Sendable {
        var machine = SessionMachine()
        var pulls: [SessionPull] = []
        var options = SessionOptions()
        private(set) var error: RecordedError?
        /// The number of the error that the store could not be read at the start.
        var loadError: Int?
        /// Why pulls have failed that others go on without.
        var pullErrors: [Int: any Error] = [:]
        /// Which pull is asked next when others break off: the one behind the last that did so, too.
        var nextAsked = 0
        /// Which pull everything is brought anew by, and where that failed last.
        var bringing = 0
        var standstill: Standstill?
        /// When pulls were complete, as far as this session has read or brought it.
        var completions: [SessionPull.Key: Date] = [:]
        var waiters: [Int: Waiter] = [:]
        var cancelledWaits: Set<Int> = []
        /// Those who wait for the work under way to end, some of them whatever follows it.
        var afterWork: [Int: (continuation: CheckedContinuation<Void, Never>, endsWithAttempt: Bool)] = [:]
        var workTask: Task<Void, Never>?
        /// Syncs that no start has asked for.
        var singleSyncs: [Int: Task<Bool, any Error>] = [:]
        /// Why the last push failed that pulls go on without.
        var pushFailure: (any Error)?
        /// The date of the next attempt, for its time: it is the same however often it is told.
        private var attempt: (time: Duration, date: Date)?
        /// What listens as long as the session is started.
        var listeners: [Task<Void, Never>] = []
        /// When the session is woken, and by what.
        var wakeTime: Duration?
        var waking: Task<Void, Never>?
        /// What is suspended is stored one after the other.
        var storing: Task<Void, Never>?
        /// What of it the store could not take because it was locked.
        var unstored: [@Sendable (SyncContext) async throws -> Void] = []
        /// The changes that the last push was made for; nil before the first look at the queue.
        var seen: OutstandingChanges?
        /// Whether a push is under way that will look what is left by itself.
        var isPushing = false
        var watchers: [Int: ProgressWatcher] = [:]
        /// How far the pulls are, and which round of them it is.
        var pulling = DownloadProgress(pulls: 1)
        var cycle = 0
        var download: SyncProgress { pulling.progress }
        var loads = 0
        /// How often anything was begun that ends by itself.
        private(set) var begun = 0
        /// Whether the store has told of a change since then, or the system of a network: what fails may go on at once.
        var wasStoreHeard = false
        var wasNetworkHeard = false
        private var numbers = 0
        var version = 0

        /// What it is at, for the outside.
        mutating func status(_ environment: SessionEnvironment) -> Status {
            if attempt?.time != machine.nextTime {
                attempt = machine.nextTime.map { time in
                    (time, environment.date().addingTimeInterval((time - environment.now()) / .seconds(1)))
                }
            }
            return Status(machine, nextAttempt: attempt?.date)
        }

        mutating func newNumber() -> Int {
            numbers += 1
            return numbers
        }

        /// Something is begun that ends by itself.
        mutating func begin() {
            begun += 1
            (wasStoreHeard, wasNetworkHeard) = (false, false)
        }

        /// Whether what has ended something was gone before anybody could know that it had been in the way.
        func isGone(_ failure: SessionFailure?, _ error: (any Error)?) -> Bool {
            if error?.isOfLockedStore == true { return wasStoreHeard }
            return switch failure {
            case .temporary(_, nil, isAnswer: false), .credentials(_, isAnswer: false): wasNetworkHeard
            default: false
            }
        }

        /// Why the first of those pulls fails that have not succeeded since.
        var pullError: (any Error)? {
            machine.pulls.indices.lazy.filter { machine.pulls[$0].obstacle != nil }.compactMap { pullErrors[$0] }.first
        }

        /// What goes on failing beside the work under way: the push, or a pull.
        var lastingError: (any Error)? {
            machine.failsBecauseOfPush ? pushFailure : pullError
        }

        /// Whether the store is told to be locked, and is not: what waited for it is stored, and nothing else waits.
        var isUnlocked: Bool {
            error?.error.isOfLockedStore == true && unstored.isEmpty && machine.hold == nil && machine.loadDue == nil
        }

        /// Remembers what went wrong last; nil after success.
        mutating func set(_ error: (any Error)?) {
            self.error = error.map { RecordedError(error: $0, number: newNumber()) }
        }
    }
}
