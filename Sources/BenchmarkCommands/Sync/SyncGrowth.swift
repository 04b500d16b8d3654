/// What a change or a row takes while many changes wait, and while the store has many rows.
struct SyncGrowth: Sendable {
    /// What is measured at every size.
    private enum Work: String, CaseIterable {
        case each
        case group
        case push
        case pushGroups = "push-groups"
        case pull
    }

    /// The cases at all sizes of one kind of work.
    private struct Series {
        /// With more and more changes that wait, in stores of as many rows.
        let queues: [SyncCase]
        /// With more and more rows, of which none waits.
        let stores: [SyncCase]
    }

    let bench: SyncBench
    /// How many rows the largest store has; the others have as many as wait in the longest queue, and a tenth of that.
    let largest: Int

    /// The names of all cases.
    var names: [String] { Work.allCases.map(series).flatMap { $0.queues + $0.stores }.map(\.name) }

    /// Measures each series of which a case is chosen by its name.
    func measure(
        rounds: Int,
        _ isChosen: (String) -> Bool
    ) async throws -> (results: [SyncMeasurement], checks: [GrowthCheck]) {
        var (results, checks): ([SyncMeasurement], [GrowthCheck]) = ([], [])
        for series in Work.allCases.map(series) {
            for (cases, isQueue) in [(series.queues, true), (series.stores, false)]
            where cases.contains(where: { isChosen($0.name) }) {
                // All sizes of a series, so that each round compares them.
                let measured = try await SyncCase.measureInTurns(cases, rounds: rounds)
                results += measured
                checks += Self.checks(measured, isQueue: isQueue)
            }
        }
        return (results, checks)
    }

    private func series(_ work: Work) -> Series {
        let total = bench.workload.waiting
        let queues = [0, total / 10, total].map { StoreSize(settled: total - $0, waiting: $0) }
        let stores = Set([total / 10, total, largest]).sorted().map { StoreSize(settled: $0) }
        return Series(
            queues: queues.map { single(work, "w\($0.waiting)", $0) },
            stores: stores.map { single(work, "r\($0.settled)", $0) }
        )
    }

    private func single(_ work: Work, _ suffix: String, _ size: StoreSize) -> SyncCase {
        let (name, workload) = ("growth-\(work.rawValue)-\(suffix)", bench.workload)
        let count = max(1, min(workload.changes, workload.waiting / 10, 500))
        switch work {
        case .each: return bench.localChange(name, count: count, group: nil, at: size)
        case .group: return bench.localChange(name, count: count, group: 1_000, at: size)
        case .pull: return bench.pull(name, count: min(workload.rows, 5_000), at: size)
        case .push, .pushGroups:
            // Behind each the same is left: two windows that are chosen and taken back when the measurement is over.
            var size = size
            size.waiting = max(size.waiting, count + 600)
            if work == .pushGroups { size.group = 10 }
            return bench.push(name, count: count, parallel: 1, at: size)
        }
    }

    /// How much the cost grows with the queue, and its ratio to the floor with the queue and with the rows: the floor grows
    /// with its database too.
    private static func checks(_ results: [SyncMeasurement], isQueue: Bool) -> [GrowthCheck] {
        guard let first = results.first, let last = results.last, results.count > 1 else { return [] }
        let base = first.name.split(separator: "-").last.map(String.init) ?? first.name
        let clocks: [(String, KeyPath<SyncMeasurement, SyncMeasurement.Times>)] = [
            ("elapsed", \.elapsed), ("processor", \.processor),
        ]
        return clocks.flatMap { clock, times in
            let (small, large) = (first[keyPath: times], last[keyPath: times])
            let cost = GrowthCheck(
                "\(last.name), cost to \(base), \(clock)",
                large.microseconds / small.microseconds,
                limit: 1.2,
                "times"
            )
            let ratio = GrowthCheck(
                "\(last.name), ratio to \(base), \(clock)",
                large.ratio / small.ratio,
                limit: 1.2,
                "times"
            )
            return isQueue ? [cost, ratio] : [ratio]
        }
    }
}
