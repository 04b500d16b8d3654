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
    /// The requests of a run, when there are any.
    var record: RequestRecord?
    /// Prepares what is needed, runs once with the engine, and returns what the run alone took.
    let engine: @Sendable () async throws -> Cost
    /// The same for the floor; the engine has run before.
    let floor: @Sendable () async throws -> Cost

    /// Runs both in turns, in changing order.
    func measure(rounds: Int) async throws -> SyncMeasurement {
        try await Self.measureInTurns([self], rounds: rounds)[0]
    }

    /// Runs all cases in each round, so that they can be compared with each other.
    static func measureInTurns(_ cases: [SyncCase], rounds: Int) async throws -> [SyncMeasurement] {
        var runs = cases.map { _ in [Run]() }
        for round in 0...rounds {
            for (place, each) in cases.enumerated() { runs[place].append(try await each.run(round)) }
        }
        // The first round warms up what a process does once, and shows the floor what to ask for.
        return zip(cases, runs).map { SyncMeasurement($0, Array($1.dropFirst())) }
    }

    /// What a round has taken.
    struct Run: Sendable {
        let engine: Cost
        let floor: Cost
    }

    private func run(_ round: Int) async throws -> Run {
        guard round.isMultiple(of: 2) else {
            let others = try await floor()
            return Run(engine: try await engine(), floor: others)
        }
        let mine = try await engine()
        return Run(engine: mine, floor: try await floor())
    }
}

/// What came out for one case.
struct SyncMeasurement: Sendable, Encodable {
    let name: String
    let unit: String
    let count: Int
    let rounds: Int
    /// How many requests each that was counted takes; nil where none is sent.
    let requests: Double?
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

    init(_ benchmark: SyncCase, _ runs: [SyncCase.Run]) {
        name = benchmark.name
        unit = benchmark.unit
        count = benchmark.count
        rounds = runs.count
        requests = benchmark.record.map { Double($0.requests.count) / Double(benchmark.count) }
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
