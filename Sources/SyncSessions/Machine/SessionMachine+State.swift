// What a session is at, and what it would do next.
extension SessionMachine {
    /// Whether it was started and has not ended.
    var isStarted: Bool { phase == .loading || phase == .running }

    /// The directions that are done.
    var open: SyncDirection { SyncDirection.both.subtracting(suspended) }

    /// Whether an answer of the service tells it anything.
    func needsSign(at now: Duration) -> Bool {
        work != nil && (!isConnected || isSilent || now - lastSign >= .seconds(1))
    }

    /// When to wake it; nil when only an event can bring news.
    func wakeTime() -> Duration? {
        if work != nil {
            let silence = isStarted && isConnected && !isSilent ? lastSign + Self.patience : nil
            return [silence, loadDue].compactMap(\.self).min()
        }
        if let loadDue { return loadDue }
        guard phase == .running, !open.isEmpty, !needsReset || open.contains(.download) else { return nil }
        var times: [Duration] = []
        if open.contains(.upload), let pushDue {
            // What brings everything anew goes before it, and takes pulls.
            let mayPass = hold?.isOfPulls == true && !needsReset
            let held = [pushHold, mayPass ? nil : hold?.until].compactMap(\.self)
            times.append(max(pushDue, held.max() ?? pushDue))
        }
        if open.contains(.download) { times += pulls.compactMap(\.time).map { max($0, hold?.until ?? $0) } }
        return times.min()
    }

    /// When what has failed is tried again; nil when nothing is waited for.
    var nextAttempt: Duration? {
        guard work == nil else { return nil }
        if let hold, !hold.isOfPulls || open.contains(.download), wakeTime().map({ $0 <= hold.until }) ?? false {
            return hold.until
        }
        guard phase == .running, open.contains(.upload), pushObstacle != nil, let pushDue, let pushHold else {
            return nil
        }
        return max(pushDue, pushHold)
    }

    /// Whether somebody has to sign in, or somebody else, for anything at all or for what waits to be sent.
    var needsCredentials: Bool {
        if let hold, !hold.isOfPulls || hold.needsCredentials { return hold.needsCredentials }
        guard case .credentials = pushObstacle?.failure, open.contains(.upload), pushDue != nil else { return false }
        return work?.pushes != true
    }

    /// When it is read again what is stored, or what has failed is tried again; nil when neither is waited for.
    var nextTime: Duration? { loadDue ?? nextAttempt }

    /// Whether it is the pulls, all of which fail, that are told of and not the push, which fails as well: unless somebody is to
    /// sign in for that.
    var failsBecauseOfPulls: Bool {
        let failures = pulls.compactMap(\.obstacle?.failure)
        guard open.contains(.download), !pulls.isEmpty, failures.count == pulls.count else { return false }
        if case .credentials = pushObstacle?.failure { return failures.allSatisfy { $0 == .permanent } }
        return true
    }

    /// Whether it is the push that fails: of one that is not to be made, because uploads are suspended or nothing waits any more,
    /// nothing is told.
    var failsBecauseOfPush: Bool {
        pushObstacle != nil && open.contains(.upload) && pushDue != nil && !failsBecauseOfPulls
    }

    /// Whether another start goes on waiting as this one does: until a time that the server has set, or because of more than the
    /// pulls, which may be others then.
    var isHoldKeptOverStart: Bool { hold.map { !$0.isOfPulls || $0.isOrdered } ?? true }

    /// Whether what keeps changes from being sent does so over another start.
    var isPushHeldOverStart: Bool {
        phase != .failed && pushObstacle != nil && open.contains(.upload) && pushDue != nil
    }

    /// Whether nothing is to be pulled now, and nothing is being pulled.
    func isDownloadDone(at now: Duration) -> Bool {
        phase == .running && work?.pulls.isEmpty != false && !pulls.contains { $0.due.map { $0 <= now } ?? false }
    }

    /// Whether a pull was refused when it was last tried, and is not being tried again.
    var isRefused: Bool {
        pulls.indices.contains { pulls[$0].obstacle?.failure == .permanent && work?.pulls.contains($0) != true }
    }

    /// Whether everything has to be brought anew now: it was said, or something was not complete for too long.
    private func mustReset(_ now: Duration) -> Bool {
        guard !needsReset, !isResetFutile, options.maximumOfflineTime != nil else { return needsReset }
        // While all pulls wait there is no pull that could be one. One that fails on its own says nothing of the device, and
        // would keep everything from being brought.
        return open.contains(.download) && hold.map { $0.until <= now } ?? true
            && (options.resetsManually || pulls.allSatisfy { $0.obstacle == nil })
            && pulls.contains { !$0.isHeld(at: now) && isTooOld($0, now) }
    }

    /// Whether a pull was not complete for longer than a device may be away.
    func isTooOld(_ pull: Pull, _ now: Duration) -> Bool {
        guard let most = options.maximumOfflineTime, let completed = pull.completed else { return false }
        return now - completed > most
    }

    /// Whether a pull is that others have not brought since.
    func isAnyTooOld(at now: Duration, whereNotYounger ages: [Int: Duration]) -> Bool {
        pulls.indices.contains { ages[$0] == nil && isTooOld(pulls[$0], now) }
    }

    /// Until when nothing is sent, because the last push failed, or a pull fails that precedes every push.
    private var pushHold: Duration? {
        guard open.contains(.download) else { return pushObstacle?.until }
        let preceding = pulls.filter(\.precedesPush)
        let held = hold?.isOfPulls == true && !preceding.isEmpty ? hold?.until : nil
        return (preceding.map(\.obstacle?.until) + [held, pushObstacle?.until]).compactMap(\.self).max()
    }

    /// Whether what waits is to be sent while pulls are under way.
    func isPushDue(at now: Duration) -> Bool {
        guard phase == .running, open.contains(.upload), !needsReset, let pushDue, let work, !work.resets,
            !pulls.contains(where: \.precedesPush)
        else { return false }
        return max(pushDue, pushObstacle?.until ?? pushDue) <= now
    }

    /// What is to be done now; nil when there is nothing, or nothing may be done.
    func nextWork(_ now: Duration) -> Work? {
        let isHeld = hold.map { $0.until > now } ?? false
        guard phase == .running, work == nil, !isHeld || hold?.isOfPulls == true else { return nil }
        var next = Work(list: list)
        let mayPush = open.contains(.upload) && pushDue != nil && pushHold.map { $0 <= now } ?? true
        next.pushes = mayPush && pushDue ?? now <= now
        if open.contains(.download), !isHeld { next.pulls = pulls.indices.filter { pulls[$0].isDue(at: now) } }
        guard next.pushes || !next.pulls.isEmpty else { return nil }
        if mustReset(now) {
            // It takes pulls; until they are resumed nothing is sent either.
            guard open.contains(.download), !isHeld else { return nil }
            return Work(resets: true, pulls: Array(pulls.indices), list: list)
        }
        // What waits a moment longer may as well go with a pull: fewer conflicts.
        next.pushes = mayPush
        if next.pushes, open.contains(.download) {
            next.pulls = pulls.indices.filter { next.pulls.contains($0) || pulls[$0].precedesPush }
        }
        return next
    }
}
