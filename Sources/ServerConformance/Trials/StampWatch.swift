internal import ConformanceRunner
internal import Synchronization

extension ServerTrial {
    /// Writes and reads at the same time, tells by how much stamps run ahead of what is visible, and notes it.
    func watchStamps() async throws {
        let text = JSON.string("stamps of \(newID())")
        let filter = profile.columns[.text].map { "\($0) eq '\(text.string ?? "")'" }
        let start = try await insert([.text: text]).stamp
        let query = [("$filter", filter ?? "updatedAt ge \(speaks.instant(start.text))"), ("$orderby", "updatedAt")]
        let writing = WritingState()
        let watch = try await withThrowingTaskGroup(of: StampWatch.self) { group in
            group.addTask {
                var watch = StampWatch()
                // Once more after the last write: what came late then is seen too.
                var isLast = false
                repeat {
                    isLast = writing.isOver
                    watch.read(try await self.list(query).rows)
                } while !isLast
                return watch
            }
            defer { writing.end() }
            try await write(text)
            writing.end()
            return try await group.next() ?? StampWatch()
        }
        report(watch)
    }

    private func report(_ watch: StampWatch) {
        let name = "stamps ahead of rows"
        let input = "\(watch.seen.count) inserts by \(Self.writers) writers, and \(watch.reads) reads beside them"
        guard let worst = watch.late.max() else { return subject.tell(name, "none seen, in \(input)") }
        let seconds = "\(worst / 1_000).\(String(worst % 1_000 + 1_000).dropFirst()) s"
        let got = "\(watch.late.count) rows behind stamps that had been read, by up to \(seconds)"
        subject.tell(name, "\(got), in \(input)")
        trial.note(
            input,
            expected: "no row behind a stamp that was read before",
            got: got,
            remark:
                "stamps are taken before the commit, so a client that goes on from the greatest stamp loses such rows:"
                + " it must go back by more than that each time (10 seconds are ample) and pass over what it has"
        )
    }

    private static var writers: Int { 6 }

    /// Inserts rows by several writers, for some seconds at most.
    private func write(_ text: JSON) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.writers {
                group.addTask {
                    for _ in 0..<25 where clock.now < end {
                        _ = try await self.send("POST", nil, self.item(self.newID(), [.text: text]))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Whether the writers are done.
private final class WritingState: Sendable {
    private let state = Mutex(false)

    var isOver: Bool { state.withLock { $0 } }

    func end() { state.withLock { $0 = true } }
}

/// What a reader saw beside writers.
private struct StampWatch: Sendable {
    private(set) var seen: Set<String> = []
    private(set) var reads = 0
    /// By how many milliseconds rows were behind what had been read before they turned up.
    private(set) var late: [Int64] = []
    private var greatest: Instant?

    mutating func read(_ rows: [ServerRow]) {
        reads += 1
        // Nobody changes these rows: what was seen before is in the greatest stamp already.
        let before = greatest
        for row in rows where seen.insert(row.id).inserted {
            let stamp = row.stamp
            if let before, stamp < before { late.append(before.milliseconds - stamp.milliseconds) }
            greatest = max(greatest ?? stamp, stamp)
        }
    }
}
