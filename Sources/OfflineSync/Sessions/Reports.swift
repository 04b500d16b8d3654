extension SyncProgress {
    /// Progress that somebody else has counted.
    package init(estimate: Double, completed: Int, total: Int, isExact: Bool) {
        self.init(progressEstimate: min(max(estimate, 0), 1), completed: completed, total: total, isExact: isExact)
    }
}

extension PushReport {
    /// A push of which nothing but the number of changes that were taken is known.
    package init(pushed: Int) {
        self.init()
        self.pushed = pushed
    }
}

extension SyncReport {
    /// What several steps did together; nil for a push or pull that was not made.
    package init(push: PushReport?, pulls: [PullReport], isComplete: Bool) {
        var pull = PullReport()
        for report in pulls { pull.add(report) }
        pull.isComplete = isComplete && pull.isComplete
        self.init(push: push ?? PushReport(), pull: pull)
    }
}

extension PullReport {
    /// Adds what another pull did.
    fileprivate mutating func add(_ other: PullReport) {
        received += other.received
        deleted += other.deleted
        notFetched += other.notFetched
        pruned += other.pruned
        requests += other.requests
        isComplete = isComplete && other.isComplete
        addRows(of: other)
    }
}
