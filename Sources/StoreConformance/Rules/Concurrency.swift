internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let concurrency: [StoreRule] = concurrentTasks + snapshots

    private static let concurrentTasks: [StoreRule] = [
        readBesideWriter,
        rule(
            "concurrency.no-lost-update",
            "Writers run one after the other.",
            in: "SyncContextDataSource",
            "Raises one number in 200 transactions of 20 tasks, each reading it first: it ends at 200."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "n", ["int": 0])], table: "items")
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        for _ in 0..<10 {
                            try await store.write { transaction in
                                let number = try transaction.record("n", in: "items")?["int"]?.int64Value ?? -1
                                try transaction.upsert([Record(id: "n", ["int": .int64(number + 1)])], into: "items")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let got = try await store.read(table: "items", itemID: "n")?["int"]
            trial.expect(got == 200, "raise a number 200 times in 20 tasks", expected: "int64 200", got: shown(got))
        },
        rule(
            "concurrency.merges-of-one-row",
            "Inserts records, or merges them into the rows with their ids.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Six tasks each merge another column into one row that is not there yet, 20 times: one row, all columns."
        ) { trial in
            let store = try await trial.makeStore()
            let values: [(String, FieldValue)] = [
                ("int", 7), ("text", "x"), ("bool", true), ("double", 0.5), ("date", .date(5)), ("version", "v"),
            ]
            for round in 0..<20 {
                let id = RecordID.string("\(round)")
                try await withThrowingTaskGroup { group in
                    for (name, value) in values {
                        group.addTask { try await store.upsert([Record(id: id, [name: value])], table: "items") }
                    }
                    try await group.waitForAll()
                }
                let rows = try await store.read(Query("items").filtered(by: Column("id") == id.fieldValue)).records
                var expected = Record(id: id)
                for (name, value) in values { expected[name] = value }
                trial.expectRows(rows, [TableDefinition.items.filled(expected)], "six merges into one row at once")
            }
        },
        rule(
            "concurrency.writers-do-not-overlap",
            "Writers run one after the other.",
            in: "SyncContextDataSource",
            "Counts how many write closures run at the same time, over 100 writes of 10 tasks."
        ) { trial in
            let store = try await trial.makeStore()
            let running = Shared(Mutex((now: 0, most: 0)))
            try await withThrowingTaskGroup { group in
                for task in 0..<10 {
                    group.addTask {
                        for number in 0..<10 {
                            try await store.write { transaction in
                                running.value.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                                // Time for another one to begin. It blocks the thread: a transaction is synchronous.
                                let deadline = ContinuousClock.now + .milliseconds(number == 0 ? 10 : 0)
                                while running.value.withLock({ $0.most }) < 2, ContinuousClock.now < deadline {
                                    _ = sched_yield()
                                }
                                try transaction.upsert([Record(id: .string("\(task)"))], into: "items")
                                _ = try transaction.count(Query("items"))
                                running.value.withLock { $0.now -= 1 }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            trial.expect(running.value.withLock { $0.most }, equals: 1, "the most write closures that ran at one time")
        },
        rule(
            "concurrency.all-writes-kept",
            "when it returns, everything it wrote is kept, and when it throws, nothing is.",
            in: "SyncContextDataSource",
            "Writes different rows from 20 tasks, a third of which throw: exactly the others' rows are there."
        ) { trial in
            let store = try await trial.makeStore()
            await withTaskGroup { group in
                for task in 0..<20 {
                    group.addTask {
                        for number in 0..<10 {
                            do {
                                try await store.write { transaction in
                                    try transaction.upsert([Record(id: .string("\(task)-\(number)"))], into: "items")
                                    if (task + number) % 3 == 0 { throw OwnError(number: number) }
                                }
                            } catch {
                                // What is missing at the end shows every failure that is not the closure's own.
                            }
                        }
                    }
                }
            }
            let expected = (0..<20)
                .flatMap { task in
                    (0..<10).filter { (task + $0) % 3 != 0 }.map { "\(task)-\($0)" }
                }
            let ids = try await store.read(Query("items")).records.map { $0.id.stringValue ?? "" }
            trial.expect(Set(ids), equals: Set(expected), "the ids after 200 writes of which a third threw")
        },
        rule(
            "concurrency.no-half-transactions",
            "sees the state of one instant: never half a transaction",
            in: "SyncContextDataSource",
            "Moves an amount between rows of two tables while other tasks add the rows up: the sum never changes."
        ) { trial in
            let store = try await trial.makeStore()
            let (reads, writers) = (Passes(), Running(2))
            try await store.write { transaction in
                try transaction.upsert([Record(id: "a", ["int": 1_000])], into: "items")
                try transaction.upsert([Record(id: "a", ["int": 0])], into: "other")
            }
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        defer { writers.end() }
                        for amount: Int64 in 1...15 {
                            try await store.write { transaction in
                                let from = try transaction.record("a", in: "items")?["int"]?.int64Value ?? 0
                                try transaction.upsert([Record(id: "a", ["int": .int64(from - amount)])], into: "items")
                                reads.wait()
                                let to = try transaction.record("a", in: "other")?["int"]?.int64Value ?? 0
                                try transaction.upsert([Record(id: "a", ["int": .int64(to + amount)])], into: "other")
                            }
                        }
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for round in 0..<Running.mostRounds where round < 40 || writers.areLeft {
                            defer { reads.pass() }
                            let sum = try await store.read { reader in
                                let first = try reader.records(Query("items")).first?["int"]?.int64Value ?? 0
                                return first + (try reader.record("a", in: "other")?["int"]?.int64Value ?? 0)
                            }
                            trial.expect(
                                sum,
                                equals: 1_000,
                                "the sum of two rows that transactions move amounts between"
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        rule(
            "concurrency.snapshot-stands-still",
            "sees the state of one instant: never half a transaction",
            in: "SyncContextDataSource",
            "Reads one row 40 times within one read, while other tasks write it all the time: it does not change."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "n", ["int": 0])], table: "items")
            let isDone = Shared(Mutex(false))
            let writes = Passes()
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !isDone.value.withLock({ $0 }) {
                            try await store.write { transaction in
                                let number = try transaction.record("n", in: "items")?["int"]?.int64Value ?? 0
                                try transaction.upsert(
                                    [
                                        Record(id: "n", ["int": .int64(number + 1)]),
                                        Record(id: .string("\(number % 50)")),
                                    ],
                                    into: "items"
                                )
                            }
                            writes.pass()
                            // On one core a write that never waits would leave no turn to the reads.
                            await Task.yield()
                        }
                    }
                }
                defer { isDone.value.withLock { $0 = true } }
                for _ in 0..<10 {
                    let seen = try await store.read { reader in
                        var seen: Set<String> = []
                        for step in 0..<40 {
                            if step % 20 == 10 { writes.wait() }
                            let row = try reader.record("n", in: "items")?["int"]
                            let count = step % 10 == 0 ? try reader.count(Query("items")) : -1
                            seen.insert("int \(shown(row))")
                            if count >= 0 { seen.insert("count \(count)") }
                        }
                        return seen
                    }
                    trial.expect(
                        seen.count == 2,
                        "read one row and the count again and again in one read while others write",
                        expected: "one number and one count",
                        got: brief(seen.sorted())
                    )
                }
                isDone.value.withLock { $0 = true }
                try await group.waitForAll()
            }
        },
        rule(
            "concurrency.own-writes",
            "and always every write that had returned before the read began.",
            in: "SyncContextDataSource",
            "In 10 tasks at once, writes a row and reads it right afterwards, 20 times each."
        ) { trial in
            let store = try await trial.makeStore()
            try await withThrowingTaskGroup { group in
                for task in 0..<10 {
                    group.addTask {
                        for number: Int64 in 0..<20 {
                            let id = RecordID.string("\(task)")
                            try await store.upsert([Record(id: id, ["int": .int64(number)])], table: "items")
                            let got = try await store.read(table: "items", itemID: id)?["int"]
                            trial.expect(
                                got == .int64(number),
                                "read the row that this task has just written",
                                expected: "int64 \(number)",
                                got: shown(got)
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        rule(
            "concurrency.many-reads",
            "Runs a closure on the state of one instant.",
            in: "SyncContextDataSource/read(_:)",
            "Runs 200 reads at once beside 20 writes: all of them end, with the right rows."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert((0..<30).map { Record(id: .string("\($0)")) }, table: "items")
            try await withThrowingTaskGroup { group in
                for number in 0..<200 {
                    group.addTask {
                        if number % 10 == 0 { try await store.upsert([Record(id: "o")], table: "other") }
                        let count = try await store.read(Query("items")).records.count
                        trial.expect(count, equals: 30, "the number of rows that one of 200 reads sees")
                    }
                }
                try await group.waitForAll()
            }
        },
        rule(
            "concurrency.readers-of-a-rollback",
            "sees the state of one instant: never half a transaction",
            in: "SyncContextDataSource",
            "Reads beside transactions that write and are then rolled back: no read ever sees what they wrote."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
            try await readBesideRollbacks(of: store, transactions: 15, readers: 3, reads: 40) { transaction in
                try transaction.upsert([Record(id: "a", ["int": 2]), Record(id: "b")], into: "items")
            } read: {
                let rows = try await store.read(Query("items")).records
                trial.expectRows(
                    rows,
                    [TableDefinition.items.filled(Record(id: "a", ["int": 1]))],
                    "read beside transactions that are rolled back"
                )
            }
        },
    ]

    /// Reads in several tasks beside transactions that write and are then rolled back.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - transactions: How many transactions there are, one after the other.
    ///   - readers: How many tasks read.
    ///   - reads: How often each reads at least; all go on until the transactions have ended.
    ///   - write: What a transaction writes.
    ///   - read: One read, and what is expected of it.
    /// - Throws: What the store or a read throws.
    static func readBesideRollbacks(
        of store: any SyncContextDataSource,
        transactions: Int,
        readers: Int,
        reads: Int,
        write: @escaping @Sendable (inout StoreTransaction) throws -> Void,
        read: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (passes, writers) = (Passes(), Running(1))
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { writers.end() }
                for _ in 0..<transactions {
                    do {
                        try await store.write { transaction in
                            try write(&transaction)
                            passes.wait()
                            throw OwnError(number: 1)
                        }
                    } catch is OwnError {
                        // This is what the closure throws.
                    }
                }
            }
            for _ in 0..<readers {
                group.addTask {
                    for round in 0..<Running.mostRounds where round < reads || writers.areLeft {
                        defer { passes.pass() }
                        try await read()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Lets a closure wait until others have done something twice since then: one of these began and ended meanwhile.
///
/// A store that lets nobody in beside the closure makes that impossible, so the wait is short. It blocks the thread: a
/// transaction is synchronous.
final class Passes: Sendable {
    private let count = Mutex(0)

    func pass() { count.withLock { $0 += 1 } }

    func wait() {
        let start = count.withLock { $0 }
        let clock = ContinuousClock()
        let deadline = clock.now + .milliseconds(20)
        while count.withLock({ $0 }) < start + 2, clock.now < deadline { _ = sched_yield() }
    }
}

/// How many tasks go on that others are to run beside: a number of rounds alone may be over before the first of them begins.
final class Running: Sendable {
    /// A store may prefer readers as long as it has any, so that they have to end some time.
    static let mostRounds = 2_000

    private let count: Mutex<Int>

    init(_ count: Int) { self.count = Mutex(count) }

    var areLeft: Bool { count.withLock { $0 > 0 } }

    func end() { count.withLock { $0 -= 1 } }
}
