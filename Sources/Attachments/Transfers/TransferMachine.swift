internal import RemoteContract
internal import SyncSessions

/// One file on its way.
struct Transfer: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case upload
        case download
        /// Downloads what nobody waits for. It makes way for everything else.
        case ahead
        /// From the server.
        case remove
    }

    let kind: Kind
    let id: AttachmentID

    init(_ kind: Kind, _ id: AttachmentID) { (self.kind, self.id) = (kind, id) }

    /// The direction that, suspended, stops it.
    var direction: SyncDirection { kind == .download || kind == .ahead ? .download : .upload }
}

/// Decides which files travel, and when: a value without clock, network or store.
///
/// What there is to do comes from the store, each time anew, in the order of its importance; what is remembered here is what
/// runs, and what has to wait after a failure.
struct TransferMachine: Sendable {
    enum Event: Sendable {
        /// What there is to do now.
        case work([Transfer])
        /// A transfer has ended.
        case ended(Transfer, Outcome)
        /// Somebody waits for these files: they do not wait for their time any longer.
        case asked([AttachmentID])
        case suspended(SyncDirection)
        /// The service is there again, as somebody else has found.
        case reachable
        /// A push runs: rows go first.
        case pushing(Bool)
        /// A time has come that was asked for.
        case woken
        /// The store is locked, or is unlocked again.
        case locked(Bool)
        case closed
    }

    enum Outcome: Sendable, Hashable {
        /// It is done, or there is nothing to do any more.
        case done
        /// It was ended early, and is tried again when it may.
        case cancelled
        /// It failed in a way of its own.
        case failed(String, after: Duration?)
        /// Nothing will get through now.
        case noService(String, after: Duration?)
        /// It is not tried again by itself.
        case refused

        /// Whether it says nothing of other files.
        var isOfTheFile: Bool {
            switch self {
            case .done, .failed, .refused: true
            case .cancelled, .noService: false
            }
        }
    }

    enum Effect: Sendable, Hashable {
        case begin(Transfer)
        case cancel(Transfer)
        /// Tell again at that time.
        case wake(at: Duration)
    }

    private struct Hold: Hashable {
        var until: Duration
        var progress = BackoffProgress()
        /// Whether nothing got through, and nobody has said when to come again.
        var isOfConnection = false
    }

    let limit: Int
    let backoff: Backoff
    private(set) var running: Set<Transfer> = []
    private(set) var suspended: SyncDirection = []
    private(set) var isClosed = false
    private var isLocked = false
    private var isPushing = false
    private var waiting: [Transfer] = []
    private var holds: [AttachmentID: Hold] = [:]
    /// The one for all files, as long as nothing gets through.
    private var pause: Hold?
    /// Those that were tried since something got through, the last one last: it may be the fault of one of them.
    private var tried: [Transfer] = []

    init(limit: Int, backoff: Backoff = Backoff()) {
        self.limit = limit
        self.backoff = backoff
    }

    /// Whether nothing runs, and nothing that is to be done may begin before a time has passed or something has changed but
    /// the end of a push.
    var isSettled: Bool { running.isEmpty && !(isPushing && waiting.contains { $0.kind != .download }) }

    /// Whether several have failed in a way that is about all, and nothing has got through since.
    var nothingGetsThrough: Bool { pause != nil && tried.count > 1 }

    /// Takes note of an event.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - now: The time.
    ///   - random: 0 to 1: how much of a wait is taken off.
    /// - Returns: What is to be done now, in order.
    mutating func handle(_ event: Event, at now: Duration, random: Double) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .work(let transfers):
            waiting = transfers.filter { !running.contains($0) }
            let wanted = Set(transfers)
            // Its row is gone, or nobody wants it any more.
            effects = running.subtracting(wanted).sorted { $0.id.text < $1.id.text }.map(Effect.cancel)
            let ids = Set(transfers.map(\.id))
            holds = holds.filter { ids.contains($0.key) }
        case .ended(let transfer, let outcome):
            running.remove(transfer)
            end(transfer, outcome, now, random)
        case .asked(let ids):
            for id in ids { holds[id]?.until = now }
            pause?.until = now
            tried.removeAll { ids.contains($0.id) }
        case .suspended(let directions):
            suspended = directions
            effects = cancelling { !directions.isDisjoint(with: $0.direction) }
        case .reachable:
            for id in holds.keys where holds[id]?.isOfConnection == true { holds[id]?.until = now }
            if pause?.isOfConnection == true { pause?.until = now }
        case .pushing(let isPushing): self.isPushing = isPushing
        case .woken: break
        case .locked(let isLocked):
            self.isLocked = isLocked
            if isLocked { effects = cancelling { _ in true } }
        case .closed:
            isClosed = true
            waiting = []
            effects = cancelling { _ in true }
        }
        return effects + begin(now)
    }

    private mutating func end(_ transfer: Transfer, _ outcome: Outcome, _ now: Duration, _ random: Double) {
        switch outcome {
        case .done, .refused:
            waiting.removeAll { $0 == transfer }
            holds[transfer.id] = nil
            endPause()
        case .cancelled: break
        case .failed(let failure, let wanted):
            endPause()
            hold(transfer, failure, wanted, now, random)
            if !waiting.contains(transfer) { waiting.append(transfer) }
        case .noService(let failure, let wanted):
            if !waiting.contains(transfer) { waiting.insert(transfer, at: 0) }
            tried.removeAll { $0 == transfer }
            tried.append(transfer)
            // When another one gets through, this one waits, and longer each time.
            hold(transfer, failure, wanted, now, random)
            holds[transfer.id]?.isOfConnection = wanted == nil
            // Several that ran at once have met the same failure.
            if let pause, pause.until > now { break }
            var next = pause ?? Hold(until: now)
            let wait = next.progress.wait(after: failure, backoff, random: random)
            next.until = now + max(wait, wanted ?? .zero).asWait
            next.isOfConnection = wanted == nil
            pause = next
        }
    }

    private mutating func endPause() { (pause, tried) = (nil, []) }

    private mutating func hold(
        _ transfer: Transfer,
        _ failure: String,
        _ wanted: Duration?,
        _ now: Duration,
        _ random: Double
    ) {
        var hold = holds[transfer.id] ?? Hold(until: now)
        let wait = hold.progress.wait(after: failure, backoff, random: random)
        hold.until = now + max(wait, wanted ?? .zero).asWait
        hold.isOfConnection = false
        holds[transfer.id] = hold
    }

    /// What waits, in the order in which it is tried: after a failure of all those first that have not met it.
    private var inTurn: [Transfer] {
        guard !tried.isEmpty else { return waiting }
        return waiting.filter { !tried.contains($0) } + tried.filter(waiting.contains)
    }

    private func cancelling(_ condition: (Transfer) -> Bool) -> [Effect] {
        running.filter(condition).sorted { $0.id.text < $1.id.text }.map(Effect.cancel)
    }

    /// Begins what may begin, and says when to look again.
    private mutating func begin(_ now: Duration) -> [Effect] {
        guard !isClosed, !isLocked else { return [] }
        if let pause, pause.until > now { return waiting.isEmpty ? [] : [.wake(at: pause.until)] }
        var effects: [Effect] = []
        var wake: Duration?
        var crowded = 0
        // After a failure of all, one tries it for the others.
        let limit = pause == nil ? limit : 1
        for transfer in inTurn where !running.contains(where: { $0.id == transfer.id }) {
            guard !suspended.contains(transfer.direction), !isPushing || transfer.kind == .download else { continue }
            if let hold = holds[transfer.id], hold.until > now {
                wake = min(wake ?? hold.until, hold.until)
                continue
            }
            guard running.count < limit else {
                if transfer.kind != .ahead { crowded += 1 }
                continue
            }
            running.insert(transfer)
            effects.append(.begin(transfer))
        }
        waiting.removeAll(where: running.contains)
        effects += cancelling { $0.kind == .ahead }.prefix(crowded)
        if let wake { effects.append(.wake(at: wake)) }
        return effects
    }
}
