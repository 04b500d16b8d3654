/// Decides when a session does what: a value without clock, store or network.
///
/// Times are since any one moment. There is work to do when changes wait and their time has come, or a pull is due, in a
/// direction that is not suspended. It is begun when none is under way and no failure is waited for; so there is at most
/// one at a time, and no request without a reason.
struct SessionMachine: Sendable, Hashable {
    private(set) var phase = Phase.inactive
    private(set) var pulls: [Pull] = []
    private(set) var options = Settings()
    private(set) var suspended: SyncDirection = []
    private(set) var work: Work?
    /// When waiting changes are sent; nil when none wait.
    private(set) var pushDue: Duration?
    private(set) var hold: Hold?
    /// What stands against pushes alone, since the last one.
    private(set) var pushObstacle: Obstacle?
    private(set) var isConnected = false
    /// Whether work is under way and the service has given no sign of itself for longer than ``patience``.
    private(set) var isSilent = false
    private(set) var waits: [Int: Wait] = [:]

    /// Whether everything has to be brought anew before anything else is done.
    private(set) var needsReset = false

    /// Whether bringing everything anew was given up because one of the pulls cannot end.
    private(set) var isResetFutile = false

    /// How long work may go on without a sign of the service before the connection counts as in doubt.
    static let patience = Duration.seconds(5)

    /// When the service was last heard of in the work under way, or that began.
    private(set) var lastSign = Duration.zero
    private var isPushAskedAgain = false
    /// How often the app has said that everything is to be brought anew.
    private(set) var resetsAsked = 0
    /// How often the service may be there again: somebody or the system has said so, or it has answered after a failure.
    private(set) var recoveries = 0
    private var isRecovering = false
    private var backoff = BackoffProgress()
    /// Which list of pulls is kept: each start brings another one.
    private(set) var list = 0
    /// What was suspended or resumed before it was known what is stored.
    private var resumedEarly: SyncDirection = []
    /// When it is read what is stored; nil while that is under way, and afterwards.
    private(set) var loadDue: Duration?
    /// Whether everything was brought anew since then: what was read of that may be from before.
    private var isResetMadeMeanwhile = false

    // MARK: What happens

    /// Takes in what has happened.
    mutating func handle(_ event: SessionEvent, at now: Duration) -> [SessionEffect] {
        guard phase != .closed else {
            if case .wait(let number, _, _) = event { return [.endWait(number, isDone: false)] }
            return []
        }
        if work != nil, now - lastSign >= Self.patience { isSilent = true }
        var effects: [SessionEffect] = []
        switch event {
        case .started(let pulls, let options): start(pulls, options, now)
        case .loaded(let stored, let hasChanges, let ages, let needsReset):
            load(stored, hasChanges: hasChanges, ages, needsReset: needsReset, now)
            let suspended = suspended
            effects += endWaits { !$0.direction.isDisjoint(with: suspended) }
        case .notLoaded(let failure, let random): effects += notLoaded(failure, random, now)
        case .changed: if pushDue == nil { pushDue = now + options.pushDelay }
        case .woken: break
        case .network(let isThere): networkChanged(isThere, now)
        case .obstacleGone: endHold(now)
        case .serverChanged(let tables):
            askPulls(now) { tables.isEmpty || tables.contains($0.table) }
        case .serverReset: effects += serverReset(now)
        case .reset(let asked):
            needsReset = resetsAsked > asked
            isResetMadeMeanwhile = true
        case .aged(let ages):
            guard let work, work.list == list else { break }
            for (index, age) in ages where pulls.indices.contains(index) { pulls[index].completed = now - age }
        case .resetGivenUp: isResetFutile = true
        case .asked(let directions): ask(directions, now)
        case .suspended(let directions): effects += suspend(directions)
        case .suspensionRead(let stored):
            if phase == .inactive { suspended.formUnion(stored.subtracting(resumedEarly)) }
        case .resumed(let directions): resume(directions)
        case .reconnect: reconnect(now)
        case .pushing:
            if isPushDue(at: now) {
                work?.pushes = true
                isPushAskedAgain = false
            }
        case .pushingEnded(let pushes): work?.pushes = pushes
        case .pushed(let hasNewer):
            pushDue = isPushAskedAgain ? now : hasNewer ? now + options.pushDelay : nil
            isPushAskedAgain = false
            pushObstacle = nil
        case .pushFailed(let failure, let random): pushFailed(failure, random, now)
        case .pulled(let index): effects += pulled(index, now, isWhole: true)
        case .pulledNews(let index): effects += pulled(index, now, isWhole: false)
        case .pullFailed(let index, let failure, let random): effects += pullFailed(index, failure, random, now)
        case .probed(let index): probed(index)
        case .answered: answered(now)
        case .ended(let failure, let random): effects += ended(failure, random, now)
        case .wait(let number, let direction, let needsUpload):
            effects += wait(number, direction, needsUpload, now)
        case .uploaded(let number):
            waits[number]?.needsUpload = false
            effects += endDoneWaits()
        case .waitCancelled(let number): waits[number] = nil
        case .failed: effects += fail()
        case .closed: effects += close()
        }
        if let due = loadDue, due <= now {
            loadDue = nil
            isResetMadeMeanwhile = false
            effects.append(.load)
        }
        if let next = nextWork(now) {
            begin(next, now)
            effects.append(.begin(next))
        }
        return effects
    }

    // MARK: Starting and stopping

    private mutating func start(_ pulls: [Pull], _ options: Settings, _ now: Duration) {
        if phase == .failed {
            hold = nil
            pushObstacle = nil
            backoff = BackoffProgress()
            // Whoever starts it again in the same way has dealt with it.
            if self.options.resetsManually, options.resetsManually { needsReset = false }
        }
        if !isHoldKeptOverStart {
            // It was the pulls of the list from before that failed.
            hold = nil
            backoff = BackoffProgress()
        }
        phase = .loading
        loadDue = now
        list += 1
        isResetFutile = false
        self.pulls = pulls
        self.options = options
        for number in waits.keys where !(waits[number]?.pulls.isEmpty ?? true) {
            waits[number]?.pulls = Set(pulls.indices)
            waits[number]?.begun = []
            // Who waits for the list from before waits for this one, from now on.
            for index in pulls.indices { self.pulls[index].due = .zero }
        }
    }

    private mutating func load(
        _ stored: SyncDirection,
        hasChanges: Bool,
        _ ages: [Duration?],
        needsReset: Bool,
        _ now: Duration
    ) {
        guard phase == .loading else { return }
        phase = .running
        loadDue = nil
        if needsReset, !isResetMadeMeanwhile { self.needsReset = true }
        suspended.formUnion(stored.subtracting(resumedEarly))
        if hasChanges { pushDue = now }
        for index in pulls.indices {
            let age = ages.indices.contains(index) ? ages[index] : nil
            pulls[index].completed = age.map { now - $0 }
            guard !self.needsReset, let age, let interval = options.pullInterval, age >= .zero else {
                pulls[index].due = now
                continue
            }
            pulls[index].due = min(pulls[index].due ?? .seconds(Int64.max / 2), now + max(.zero, interval - age))
        }
    }

    /// What is stored cannot be read now, or not at all.
    private mutating func notLoaded(
        _ failure: SessionFailure,
        _ random: Double,
        _ now: Duration
    ) -> [SessionEffect] {
        guard phase == .loading else { return [] }
        switch failure {
        case .storeClosed: return close()
        case .temporary(let name, _, _):
            loadDue = now + backoff.wait(after: name, options.backoff, random: random)
            return []
        default: return fail()
        }
    }

    private mutating func suspend(_ directions: SyncDirection) -> [SessionEffect] {
        suspended.formUnion(directions)
        resumedEarly.subtract(directions)
        if open.isEmpty {
            hold = nil
            forgetFailures()
            isConnected = false
            isRecovering = true
        }
        var effects = endWaits { !$0.direction.isDisjoint(with: directions) }
        guard let work else { return effects }
        let isStopped =
            directions.contains(.upload) && work.pushes || directions.contains(.download) && !work.pulls.isEmpty
        if isStopped { effects.append(.cancelWork) }
        return effects
    }

    private mutating func resume(_ directions: SyncDirection) {
        suspended.subtract(directions)
        if phase == .inactive || phase == .loading { resumedEarly.formUnion(directions) }
    }

    /// Everything is to be brought anew; what is under way goes on from what is no more.
    private mutating func serverReset(_ now: Duration) -> [SessionEffect] {
        needsReset = true
        resetsAsked += 1
        forgetFailures()
        askPulls(now) { _ in true }
        return work == nil ? [] : [.cancelWork]
    }

    private mutating func close() -> [SessionEffect] {
        phase = .closed
        (hold, loadDue) = (nil, nil)
        isConnected = false
        return endWaits { _ in true } + (work == nil ? [] : [.cancelWork])
    }

    private mutating func fail() -> [SessionEffect] {
        phase = .failed
        (hold, loadDue) = (nil, nil)
        return endWaits { _ in true } + (work == nil ? [] : [.cancelWork])
    }

    // MARK: Asking

    private mutating func ask(_ directions: SyncDirection, _ now: Duration) {
        if directions.contains(.upload) {
            pushDue = now
            if work?.pushes == true { isPushAskedAgain = true }
        }
        if directions.contains(.download) { askPulls(now) { _ in true } }
    }

    private mutating func askPulls(_ now: Duration, _ isMeant: (Pull) -> Bool) {
        for index in pulls.indices where isMeant(pulls[index]) {
            pulls[index].due = now
            if work?.pulls.contains(index) == true { pulls[index].isAskedAgain = true }
        }
    }

    private mutating func reconnect(_ now: Duration) {
        guard isStarted, !open.isEmpty else { return }
        recoveries += 1
        hold = nil
        forgetFailures()
        if loadDue != nil { loadDue = now }
        // Nothing but a request shows whether there is a connection.
        if !isConnected, work == nil { askPulls(now) { _ in true } }
        if pushDue != nil { pushDue = now }
    }

    private mutating func networkChanged(_ isThere: Bool, _ now: Duration) {
        guard isThere else {
            isConnected = false
            return
        }
        endHold(now)
    }

    private mutating func endHold(_ now: Duration) {
        recoveries += 1
        // A time that the server has set is about the server.
        let ordered = pushObstacle?.failure.wait == nil ? nil : pushObstacle
        forgetFailures()
        pushObstacle = ordered
        if loadDue != nil { loadDue = now }
        if let hold, !hold.isOrdered { self.hold = nil }
    }

    /// Has everything tried at its time, whatever has failed before.
    private mutating func forgetFailures() {
        backoff = BackoffProgress()
        pushObstacle = nil
        for index in pulls.indices { pulls[index].obstacle = nil }
    }

    // MARK: Work

    /// The service has answered.
    private mutating func answered(_ now: Duration) {
        guard work != nil else { return }
        (lastSign, isSilent) = (now, false)
        if !open.isEmpty { isConnected = true }
        if isRecovering { recoveries += 1 }
        isRecovering = false
    }

    private mutating func begin(_ next: Work, _ now: Duration) {
        work = next
        // Pulls go on waiting while changes are sent.
        if hold?.isOfPulls != true || !next.pulls.isEmpty { hold = nil }
        (lastSign, isSilent) = (now, false)
        isPushAskedAgain = false
        for index in next.pulls {
            pulls[index].isAskedAgain = false
            // Should it fail, it is still to be made.
            pulls[index].due = pulls[index].due ?? .zero
        }
        for number in waits.keys { waits[number]?.begun.formUnion(next.pulls) }
    }

    private mutating func pulled(_ index: Int, _ now: Duration, isWhole: Bool) -> [SessionEffect] {
        // A start meanwhile has brought another list.
        guard let work, work.list == list, work.pulls.contains(index), pulls.indices.contains(index) else { return [] }
        if isWhole { pulls[index].completed = now }
        pulls[index].obstacle = nil
        if !pulls.contains(where: { isTooOld($0, now) }) { isResetFutile = false }
        pulls[index].due = pulls[index].isAskedAgain ? now : options.pullInterval.map { now + $0 }
        pulls[index].isAskedAgain = false
        for number in waits.keys where waits[number]?.begun.contains(index) == true {
            waits[number]?.pulls.remove(index)
        }
        return endDoneWaits()
    }

    /// Pulls are made meanwhile: who may not write may read.
    private mutating func pushFailed(_ failure: SessionFailure, _ random: Double, _ now: Duration) {
        guard work != nil else { return }
        answered(now)
        pushObstacle = Obstacle(failure, options.backoff, after: pushObstacle, random: random, now)
    }

    private mutating func pullFailed(
        _ index: Int,
        _ failure: SessionFailure,
        _ random: Double,
        _ now: Duration
    ) -> [SessionEffect] {
        guard let work, work.list == list, work.pulls.contains(index), pulls.indices.contains(index) else { return [] }
        let last = pulls[index].obstacle
        pulls[index].obstacle = Obstacle(failure, options.backoff, after: last, random: random, now)
        // What the server refuses is not waited for.
        return failure == .permanent ? endWaits { $0.pulls.contains(index) } : []
    }

    /// A pull does not fail any more; what it is due for is still to be made.
    private mutating func probed(_ index: Int) {
        guard let work, work.list == list, pulls.indices.contains(index) else { return }
        pulls[index].obstacle = nil
    }

    /// What has ended a work in which nothing failed but pulls: no failure as long as one of all the pulls does not.
    private mutating func failureOfAllPulls(_ ended: Work, _ now: Duration) -> SessionFailure? {
        let failures = pulls.compactMap(\.obstacle?.failure)
        guard ended.list == list, !ended.pulls.isEmpty, failures.count == pulls.count else { return nil }
        // They wait together.
        for index in pulls.indices { pulls[index].obstacle?.until = now }
        return failures.first { $0 != .permanent } ?? failures.first
    }

    private mutating func ended(_ failure: SessionFailure?, _ random: Double, _ now: Duration) -> [SessionEffect] {
        guard let ended = work else { return [] }
        work = nil
        isSilent = false
        let ofPulls = failure == nil ? failureOfAllPulls(ended, now) : nil
        switch failure ?? ofPulls {
        case nil:
            if hold.map({ $0.until <= now }) ?? true { backoff = BackoffProgress() }
            return []
        case .cancelled: return []
        case .historyLost where options.resetsManually:
            needsReset = true
            return fail()
        case .historyLost where ended.resets:
            // A server that says so of what starts from the beginning.
            isConnected = true
            holdBack(after: "historyLost", nil, random, now)
        case .historyLost: needsReset = true
        // What cannot be done of a list from before is not kept any more.
        case .permanent where ended.list != list: return []
        case .permanent: return fail()
        case .storeClosed: return close()
        case .temporary(let name, let wait, let isAnswer):
            isConnected = isAnswer || ofPulls != nil
            holdBack(after: name, wait, random, now, isOfPulls: ofPulls != nil)
        case .credentials(let name, let isAnswer):
            isConnected = isAnswer
            holdBack(after: name, nil, random, now, isOfPulls: ofPulls != nil)
            hold?.needsCredentials = true
        }
        return []
    }

    private mutating func holdBack(
        after name: String,
        _ wait: Duration?,
        _ random: Double,
        _ now: Duration,
        isOfPulls: Bool = false
    ) {
        guard isStarted, !open.isEmpty else { return }
        if !isOfPulls { isRecovering = true }
        var next = backoff.wait(after: name, options.backoff, random: random)
        // A server that asks for no time to speak of is not asked again and again without a pause.
        if let wait = wait?.asWait { next = wait < options.backoff.first ? max(wait, next) : wait }
        hold = Hold(until: now + next, isOfPulls: isOfPulls, isOrdered: wait != nil)
    }

    // MARK: Waiting

    private mutating func wait(
        _ number: Int,
        _ direction: SyncDirection,
        _ needsUpload: Bool,
        _ now: Duration
    ) -> [SessionEffect] {
        guard isStarted, direction.isDisjoint(with: suspended), !direction.contains(.download) || !isRefused else {
            return [.endWait(number, isDone: false)]
        }
        waits[number] = Wait(
            direction: direction,
            needsUpload: needsUpload,
            pulls: direction.contains(.download) ? Set(pulls.indices) : []
        )
        // With nothing to send there is no reason to ask for a push.
        ask(needsUpload ? direction : direction.subtracting(.upload), now)
        return endDoneWaits()
    }

    private mutating func endDoneWaits() -> [SessionEffect] {
        let done = waits.filter(\.value.isDone).keys.sorted()
        for number in done { waits[number] = nil }
        return done.map { .endWait($0, isDone: true) }
    }

    private mutating func endWaits(where isEnded: (Wait) -> Bool) -> [SessionEffect] {
        let ended = waits.filter { isEnded($0.value) }.keys.sorted()
        for number in ended { waits[number] = nil }
        return ended.map { .endWait($0, isDone: false) }
    }
}
