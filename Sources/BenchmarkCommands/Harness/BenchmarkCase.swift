/// Something that is measured on the store and on its twin.
struct BenchmarkCase: Sendable {
    /// The name, for `--case` and the report.
    let name: String
    /// What the ratio to the twin should reach; nil for a case that is there for orientation.
    let goal: Double?
    /// What is counted.
    let unit: String
    /// How much of it one run does.
    let count: Int
    /// Prepares what is needed, runs once on the store, and returns how long the run alone took.
    let store: @Sendable () async throws -> Duration
    /// The same on the twin.
    let twin: @Sendable (Encryption) async throws -> Duration

    /// Runs all in turns: each round the store and its twin, in changing order, and every other round the twin without
    /// encryption.
    func measure(rounds: Int) async throws -> Measurement {
        var rates = Rates()
        for round in 0...rounds {
            let (mine, others): (Duration, Duration)
            if round.isMultiple(of: 2) {
                mine = try await store()
                others = try await twin(.encrypted)
            } else {
                others = try await twin(.encrypted)
                mine = try await store()
            }
            // The first round warms up what a process does once.
            guard round > 0 else { continue }
            rates.store.append(rate(mine))
            rates.twin.append(rate(others))
            // For orientation only: every other round will do.
            if !round.isMultiple(of: 2) { rates.plain.append(rate(try await twin(.plain))) }
        }
        return Measurement(self, rates)
    }

    private func rate(_ duration: Duration) -> Double { Double(count) / (duration / .seconds(1)) }
}

/// The rates of every round, per second.
struct Rates: Sendable {
    var store: [Double] = []
    var twin: [Double] = []
    var plain: [Double] = []
}

/// What came out for one case.
struct Measurement: Sendable, Encodable {
    let name: String
    let unit: String
    /// Medians, per second.
    let rate: Double
    let twinRate: Double
    let plainRate: Double
    /// The median of the rounds' ratios of the store to its twin, and the smallest and largest of them.
    let ratio: Double
    let lowestRatio: Double
    let highestRatio: Double
    let goal: Double?
    let rounds: Int

    init(_ benchmark: BenchmarkCase, _ rates: Rates) {
        name = benchmark.name
        unit = benchmark.unit
        goal = benchmark.goal
        rate = rates.store.median
        twinRate = rates.twin.median
        plainRate = rates.plain.median
        let ratios = zip(rates.store, rates.twin).map { $0 / $1 }
        ratio = ratios.median
        lowestRatio = ratios.min() ?? 0
        highestRatio = ratios.max() ?? 0
        rounds = ratios.count
    }
}

extension [Double] {
    /// The middle of the sorted values; 0 when there are none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
