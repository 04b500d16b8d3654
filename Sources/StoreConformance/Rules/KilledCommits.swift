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
            "Three processes, one after the other, merge 200 rows of two tables, one of them of 3 MB, in one transaction and are killed in the commit of"
                + " another such one: when a file of the store has changed, or at a random instant of the time that the first"
                + " took. The first is there, and all of the other or nothing; a row that is written afterwards is there after"
                + " closing and opening.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.reopen()
                    let number = try await store.read { try $0.record("0", in: "items")?["int"]?.int64Value ?? 0 }
                    let end = Shared(Mutex(ContinuousClock.now))
                    try await store.write { transaction in
                        try writeAll(number + 1, &transaction)
                        end.value.withLock { $0 = .now }
                    }
                    let length = ContinuousClock.now - end.value.withLock { $0 }
                    let plan = try trial.plan
                    let folder = trial.folder
                    try await store.write { transaction in
                        try writeAll(number + 2, &transaction)
                        killThisProcess(plan, folder, length)
                    }
                }
            ]
        ) { trial in
            var random = trial.random()
            let store = try await trial.makeStore(at: trial.place())
            try await store.write { try writeAll(1, &$0) }
            try await trial.close(store)
            var number: Int64 = 1
            for process in 1...3 {
                try trial.write(
                    process % 2 == 1
                        ? Plan(waitsForFiles: true, part: Double.random(in: 0..<(0.02), using: &random))
                        : Plan(waitsForFiles: false, part: Double.random(in: 0..<1, using: &random))
                )
                try await trial.runKilled("writer")
                let name = "process \(process) of 3, killed in a commit"
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
        }
    ]

    private static func writeAll(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        // One long value, so that a commit takes a while, and many rows.
        let text = FieldValue.string(text(number, 500))
        let rows = (0..<100).map { Record(id: .string("\($0)"), ["int": .int64(number), "text": text]) }
        for table in ["items", "other"] { try transaction.upsert(rows, into: table) }
        try transaction.upsert([Record(id: "0", ["text": .string(Self.text(number, 3_000_000))])], into: "other")
    }

    private static func text(_ number: Int64, _ length: Int) -> String {
        String(decoding: [UInt8](repeating: UInt8(48 + abs(number) % 10), count: length), as: UTF8.self)
    }

    /// The numbers in the rows of both tables, and such below 0 where rows are missing or differ from their text.
    private static func numbers(in store: any SyncContextDataSource) async throws -> Set<Int64> {
        let (items, others) = try await store.read { (try $0.records(Query("items")), try $0.records(Query("other"))) }
        let numbers = (items + others.dropFirst())
            .map { row -> Int64 in
                let number = row["int"]?.int64Value ?? -1
                return row["text"]?.stringValue == text(number, 500) ? number : -2
            }
        let number = others.first?["int"]?.int64Value ?? -1
        let isWhole = others.first?["text"]?.stringValue == text(number, 3_000_000)
        return Set(numbers + [isWhole ? number : -2] + (items.count == 100 && others.count == 100 ? [] : [-3]))
    }

    /// Lets a thread end this process in the commit that begins now.
    private static func killThisProcess(_ plan: Plan, _ folder: String, _ length: Duration) {
        let before = state(of: folder)
        Thread.detachNewThread {
            let clock = ContinuousClock()
            let latest = clock.now + length * 2
            if plan.waitsForFiles {
                while state(of: folder) == before, clock.now < latest {}
            }
            let instant = clock.now + length * plan.part
            while clock.now < instant { _ = sched_yield() }
            ConformanceRunner.killThisProcess()
        }
    }

    /// The files of a folder, with their lengths and dates.
    private static func state(of folder: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.map { name in
            // A file that was there a moment ago may be gone.
            let values = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return "\(name) \(values?[.size] ?? 0) \(values?[.modificationDate] ?? 0)"
        }
    }
}

/// When a process is to die in a commit.
private struct Plan: Codable, Sendable {
    var waitsForFiles: Bool
    /// What part of a commit's length it lives then.
    var part: Double
}

extension Trial where Subject == StoreSubject {
    private var planFile: URL { URL(fileURLWithPath: folder).appendingPathComponent("plan") }

    fileprivate var plan: Plan {
        get throws { try JSONDecoder().decode(Plan.self, from: Data(contentsOf: planFile)) }
    }

    fileprivate func write(_ plan: Plan) throws { try JSONEncoder().encode(plan).write(to: planFile) }
}
