internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    private static let whatever =
        "what the closure writes and returns is kept, and an error that it throws is rethrown as it is, whatever became of"
        + " its task."

    /// What becomes of a closure: how often it runs, and what a cancellation in the middle of it does.
    static let closures: [StoreRule] = [
        rule(
            "transaction.runs-once",
            "A closure is run once at most: a store that fails does not try it again.",
            in: "SyncContextDataSource",
            "Counts how often the closures of reads and writes run that return, that throw, and that let a refusal through,"
                + " 8 of them at a time."
        ) { trial in
            let store = try await trial.makeStore()
            let runs = Shared(Mutex<[Int: Int]>([:]))
            @Sendable func count(_ number: Int) { runs.value.withLock { $0[number, default: 0] += 1 } }
            try await withThrowingTaskGroup { group in
                for task in 0..<8 {
                    group.addTask {
                        for round in 0..<3 {
                            let number = (task * 3 + round) * 4
                            try await store.write { transaction in
                                count(number)
                                try transaction.upsert([Record(id: "n", ["int": .int64(Int64(number))])], into: "items")
                            }
                            _ = try await store.read { reader in
                                count(number + 1)
                                return try reader.record("n", in: "items")
                            }
                            await ignoringErrors {
                                try await store.write { transaction in
                                    count(number + 2)
                                    try transaction.upsert([Record(id: "o")], into: "items")
                                    throw OwnError(number: number)
                                }
                            }
                            await ignoringErrors {
                                try await store.write { transaction in
                                    count(number + 3)
                                    try transaction.upsert([Record(id: "p", ["int": "no number"])], into: "items")
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let counts = runs.value.withLock { $0 }
            trial.expect(counts.count, equals: 96, "closures that ran, of 96")
            let again = counts.filter { $0.value != 1 }.keys.sorted()
            let kinds = ["a write", "a read", "a write that throws", "a write that lets a refusal through"]
            for number in again.prefix(1) {
                trial.report(
                    "the closure of \(kinds[number % 4])",
                    expected: "it runs once",
                    got: "it runs \(counts[number] ?? 0) times"
                )
            }
        },
        rule(
            "transaction.cancelled-inside",
            whatever,
            in: "SyncContextDataSource",
            "Cancels the task in the middle of the closure of a write, which then writes on and returns: everything is"
                + " there, and its value comes back."
        ) { trial in
            let store = try await trial.makeStore()
            let outcome = await trial.outcome { task in
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "before")], into: "items")
                    task.cancel()
                    try transaction.upsert([Record(id: "between")], into: "other")
                    _ = try transaction.count(Query("items"))
                    try transaction.upsert([Record(id: "after")], into: "items")
                    return "the value"
                }
            }
            trial.expect(outcome, equals: "the value", "a write whose task is cancelled in the middle of its closure")
            trial.expectIDs(try await store.read(Query("items")).records, ["after", "before"], "its rows")
            trial.expectIDs(try await store.read(Query("other")).records, ["between"], "its rows in another table")
        },
        rule(
            "transaction.own-error-after-cancellation",
            whatever,
            in: "SyncContextDataSource",
            "Cancels the task in the middle of the closure of a write, which then throws an error of its own: that error"
                + " comes, and nothing is kept."
        ) { trial in
            let store = try await trial.makeStore()
            for wrote in [true, false] {
                let outcome = await trial.outcome { task in
                    try await store.write { transaction in
                        if wrote { try transaction.upsert([Record(id: "lost")], into: "items") }
                        task.cancel()
                        _ = try transaction.count(Query("items"))
                        throw OwnError(number: 7)
                    }
                    return "no error"
                }
                let input =
                    "a closure that throws after its task was cancelled, \(wrote ? "and has written" : "only read")"
                trial.expect(outcome, equals: brief(OwnError(number: 7)), input)
            }
            trial.expectIDs(try await store.read(Query("items")).records, [], "rows after that")
        },
    ]

    /// What a closure throws is the business of other rules.
    private static func ignoringErrors(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            // The closure throws on purpose.
        }
    }
}
