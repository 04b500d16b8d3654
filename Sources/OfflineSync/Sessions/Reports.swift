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

    /// The report with what a push before it has done; what was not taken is as it is after the later one.
    /// A report of no push says nothing of what was left behind: that is what the earlier one has left then.
    package func adding(_ earlier: PushReport?, withWhatItLeft: Bool = false) -> PushReport {
        var report = self
        report.pushed += earlier?.pushed ?? 0
        report.requests += earlier?.requests ?? 0
        if withWhatItLeft, let earlier { (report.waiting, report.overtaken) = (earlier.waiting, earlier.overtaken) }
        return report
    }
}

extension SyncReport {
    /// What several steps did together, and whether everything was done by them; nil for a push that was not made.
    package init(push: PushReport?, pulls: [PullReport], isComplete: Bool) {
        var pull = PullReport()
        for report in pulls { pull.add(report) }
        // Of a pull in parts the last one says it.
        pull.isComplete = isComplete
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
        addRows(of: other)
    }
}
