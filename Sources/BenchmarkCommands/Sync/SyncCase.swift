/// Something that is measured on the engine and on its floor.
struct SyncCase: Sendable {
    /// How many times the floor's time it should take at most; nil for orientation only.
    struct Goal: Sendable {
        var elapsed: Double?
        var processor: Double?
    }

    /// The name, for `--case` and the report.
    let name: String
    /// What is counted, in the singular.
    let unit: String
    /// How much of it one run does.
    let count: Int
    var goal = Goal()
    /// Prepares what is needed, runs once with the engine, and returns what the run alone took.
    let engine: @Sendable () async throws -> Cost
    /// The same for the floor; the engine has run before.
    let floor: @Sendable () async throws -> Cost

    /// Runs both in turns, in changing order.
    func measure(rounds: Int) async throws -> SyncMeasurement {
        var runs: [(engine: Cost, floor: Cost)] = []
        for round in 0...rounds {
            if round.isMultiple(of: 2) {
                let mine = try await engine()
                runs.append((mine, try await floor()))
            } else {
                let others = try await floor()
                runs.append((try await engine(), others))
            }
        }
        // The first round warms up what a process does once, and shows the floor what to do.
        return SyncMeasurement(self, Array(runs.dropFirst()))
    }
}

/// What came out for one case.
struct SyncMeasurement: Sendable, Encodable {
    let name: String
    let unit: String
    let count: Int
    let rounds: Int
    let elapsed: Times
    let processor: Times

    /// One clock's medians, in microseconds for each that was counted.
    struct Times: Sendable, Encodable {
        let microseconds: Double
        let floorMicroseconds: Double
        /// The median of the rounds' ratios of the engine to its floor, and the smallest and largest of them.
        let ratio: Double
        let lowestRatio: Double
        let highestRatio: Double
        let goal: Double?

        fileprivate init(_ engine: [Duration], _ floor: [Duration], count: Int, goal: Double?) {
            microseconds = engine.map { $0 / .microseconds(count) }.median
            floorMicroseconds = floor.map { $0 / .microseconds(count) }.median
            let ratios = zip(engine, floor).map { $0 / $1 }
            ratio = ratios.median
            lowestRatio = ratios.min() ?? 0
            highestRatio = ratios.max() ?? 0
            self.goal = goal
        }
    }

    init(_ benchmark: SyncCase, _ runs: [(engine: Cost, floor: Cost)]) {
        name = benchmark.name
        unit = benchmark.unit
        count = benchmark.count
        rounds = runs.count
        elapsed = Times(
            runs.map(\.engine.elapsed),
            runs.map(\.floor.elapsed),
            count: count,
            goal: benchmark.goal.elapsed
        )
        processor = Times(
            runs.map(\.engine.processor),
            runs.map(\.floor.processor),
            count: count,
            goal: benchmark.goal.processor
        )
    }
}
