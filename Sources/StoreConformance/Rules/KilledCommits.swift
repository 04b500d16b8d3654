internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

// Processes that are killed in the middle of a commit.
extension StoreRules {
    static let killedCommits: [StoreRule] = [
        rule(
            "durability.killed-in-commit",
            survives,
            in: "SyncContextDataSource",
            "Four processes, one after the other, merge 200 rows of two tables in one transaction and are killed in the commit of"
                + " another such one: where a file of the store would get longer than a part of it, or at a random instant of the"
                + " time that the first took. The first is there, and all of the other or nothing; a row that is written"
                + " afterwards is there after closing and opening.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.reopen()
                    let number = try await store.read { try $0.record("0", in: "items")?["int"]?.int64Value ?? 0 }
                    let lengths = try trial.fileLengths()
                    let end = Shared(Mutex(ContinuousClock.now))
                    try await store.write { transaction in
                        try writeAll(number + 1, &transaction)
                        end.value.withLock { $0 = .now }
                    }
                    let length = ContinuousClock.now - end.value.withLock { $0 }
                    let limit = try trial.fileLimit(try trial.part, lengths, try trial.fileLengths())
                    let instant = length * (try trial.part)
                    do {
                        try await store.write { transaction in
                            try writeAll(number + 2, &transaction)
                            if let limit { try killThisProcess(beyond: limit) } else { killThisProcess(after: instant) }
                        }
                        if limit != nil { try trial.noteSurvival() }
                    } catch let error as StoreError
                        where limit != nil && [.full, .readOnly, .inputOutput].contains(error.code)
                    {
                        // It commits in another thread, and was told that its file has become too long. It is killed now.
                    }
                }
            ]
        ) { trial in
            var random = trial.random()
            let store = try await trial.makeStore(at: trial.place())
            try await store.write { try writeAll(1, &$0) }
            try await trial.close(store)
            var (number, survivors) = (Int64(1), 0)
            for process in 1...4 {
                let part = Double.random(in: 0..<1, using: &random)
                try trial.write(Plan(limitsFiles: process < 4, part: part))
                try await trial.runKilled("writer")
                if try trial.takeSurvival() { survivors += 1 }
                let name = "process \(process) of 4, killed in a commit"
                let left = try await trial.reopen()
                let numbers = try await numbers(in: left)
                guard numbers == [number + 1] || numbers == [number + 2] else {
                    return trial.report(
                        "200 rows of two tables after \(name)",
                        expected: "in all of them int64 \(number + 1), or in all int64 \(number + 2)",
                        got: brief(numbers.sorted())
                    )
                }
                number = numbers.first ?? number
                try await left.upsert([Record(id: .string("\(process)"))], table: "folding")
                try await trial.close(left)
                let again = try await trial.reopen()
                trial.expectIDs(
                    try await again.read(Query("folding")).records,
                    (1...process).map { .string("\($0)") },
                    "rows written after \(name), after closing and opening"
                )
                trial.expect(try await Self.numbers(in: again), equals: [number], "the 200 rows after \(name), then")
                try await trial.close(again)
            }
            if survivors == 3 {
                trial.note(
                    "3 processes that die where a file of the store gets longer in a commit",
                    expected: "one at least dies in its commit",
                    got: "all of them have committed",
                    remark: "the store writes elsewhere, or before the commit, so that little was tried"
                )
            }
        }
    ]

    private static func writeAll(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        let rows = (0..<100).map { Record(id: .string("\($0)"), ["int": .int64(number), "text": text(number)]) }
        for table in ["items", "other"] { try transaction.upsert(rows, into: table) }
    }

    private static func text(_ number: Int64) -> FieldValue { .string(String(repeating: "\(number) ", count: 500)) }

    /// The numbers in the rows of both tables, and such below 0 where rows are missing or differ from their text.
    private static func numbers(in store: any SyncContextDataSource) async throws -> Set<Int64> {
        let rows = try await store.read { try $0.records(Query("items")) + $0.records(Query("other")) }
        let numbers = rows.map { row in
            let number = row["int"]?.int64Value ?? -1
            return row["text"] == text(number) ? number : -2
        }
        return Set(numbers + (rows.count == 200 ? [] : [-3]))
    }

    /// Lets a thread end this process when a time is over.
    private static func killThisProcess(after time: Duration) {
        let clock = ContinuousClock()
        let instant = clock.now + time
        Thread.detachNewThread {
            while clock.now < instant { _ = sched_yield() }
            ConformanceRunner.killThisProcess()
        }
    }

    /// Lets this process end where it has written a part of what a file would be longer by.
    private static func killThisProcess(beyond length: Int) throws {
        #if os(Linux) || os(macOS)
        try FileSize.limit(to: length)
        signal(SIGXFSZ) { _ in kill(getpid(), SIGKILL) }
        // Threads of the pool are told of no signal.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGXFSZ)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        #endif
    }
}

/// When a process is to die in a commit.
private struct Plan: Codable, Sendable {
    /// Whether it dies of what it writes, or of its time.
    var limitsFiles: Bool
    /// The part of what a commit writes, or of the time that it takes.
    var part: Double
}

extension Trial where Subject == StoreSubject {
    private var planFile: URL { URL(fileURLWithPath: folder).appendingPathComponent("plan") }

    private var plan: Plan {
        get throws { try JSONDecoder().decode(Plan.self, from: Data(contentsOf: planFile)) }
    }

    fileprivate var part: Double { get throws { try plan.part } }

    fileprivate func write(_ plan: Plan) throws { try JSONEncoder().encode(plan).write(to: planFile) }

    private var survivalFile: URL { URL(fileURLWithPath: folder).appendingPathComponent("survived") }

    /// Says that a process has committed that was to die in its commit.
    fileprivate func noteSurvival() throws { try Data().write(to: survivalFile) }

    /// Whether one has said so since this was asked.
    fileprivate func takeSurvival() throws -> Bool {
        guard FileManager.default.fileExists(atPath: survivalFile.path) else { return false }
        try FileManager.default.removeItem(at: survivalFile)
        return true
    }

    /// The lengths of the store's files. Opening one and closing it again would lift the store's locks.
    func fileLengths() throws -> [String: Int] {
        let folder = try place().folder
        var lengths: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            do {
                let values = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                lengths[name] = (values[.size] as? NSNumber)?.intValue
            } catch let error as CocoaError where [.fileNoSuchFile, .fileReadNoSuchFile].contains(error.code) {
                // An open store may remove files of its own meanwhile.
            }
        }
        return lengths
    }

    /// A length that a file of the store has in the middle of a commit, from the lengths before and after another commit: in
    /// what the file that grew most will be longer by, or, where none did much, in one that is written anew.
    fileprivate func fileLimit(_ part: Double, _ before: [String: Int], _ after: [String: Int]) throws -> Int? {
        guard try plan.limitsFiles else { return nil }
        let longest = after.values.max() ?? 0
        let growths = after.map { (length: $0.value, growth: $0.value - (before[$0.key] ?? 0)) }
        guard let most = growths.max(by: { $0.growth < $1.growth }), most.growth > longest / 10 else {
            return Int(Double(longest) * part)
        }
        return most.length + Int(Double(most.growth) * part)
    }
}
