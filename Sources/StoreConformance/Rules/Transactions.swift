internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let transactions: [StoreRule] =
        commits + rollbacks + largeRollbacks + endings + closures
        + cancelledTasks

    static let allOrNothing = "when it returns, everything it wrote is kept, and when it throws, nothing is."

    private static let commits: [StoreRule] = [
        rule(
            "transaction.commits-all",
            allOrNothing,
            in: "SyncContextDataSource",
            "Writes, merges and deletes in several tables in one transaction and looks at all of them afterwards."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "old"), Record(id: "kept", ["int": 1])], table: "items")
            try await store.write { transaction in
                try transaction.upsert([Record(id: "a")], into: "items")
                try transaction.upsert([Record(id: "kept", ["text": "x"])], into: "items")
                try transaction.upsert([Record(id: "b")], into: "other")
                try transaction.delete(["old"], from: "items")
                try transaction.upsert([Record(id: "c")], into: "folding")
            }
            trial.expectIDs(try await store.read(Query("items")).records, ["a", "kept"], "items after the transaction")
            trial.expectIDs(try await store.read(Query("other")).records, ["b"], "other after the transaction")
            trial.expectIDs(try await store.read(Query("folding")).records, ["c"], "folding after the transaction")
            let kept = try await store.read(table: "items", itemID: "kept")
            let expected = TableDefinition.items.filled(Record(id: "kept", ["int": 1, "text": "x"]))
            trial.expectRow(kept, expected, "the row merged in the transaction")
        },
        rule(
            "transaction.returns-value",
            "Runs a closure as one transaction: kept as a whole when it returns, rolled back as a whole when it"
                + " throws.",
            in: "SyncContextDataSource/write(_:)",
            "Returns values from the closures of reads and writes."
        ) { trial in
            let store = try await trial.makeStore()
            trial.expect(try await store.write { _ in [1, 2, 3] }, equals: [1, 2, 3], "the value of a write")
            trial.expect(try await store.read { _ in "text" }, equals: "text", "the value of a read")
            trial.expect(try await store.read { _ -> Int? in nil }, equals: nil, "the value nil of a read")
        },
        rule(
            "transaction.reads-its-writes",
            "It reads what it has written.",
            in: "StoreTransaction",
            "Writes, merges and deletes in a transaction and reads by id, by query, by count, by words, by a sum and whether a"
                + " row is as expected after each step."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["int": 1, "text": "milk"])], table: "items")
            let (seen, others) = try await store.write { transaction in
                var (seen, others): ([String], [String]) = ([], [])
                func look(_ transaction: inout StoreTransaction) throws {
                    let words = Query("items").filtered(by: Column("text").matches(words: "milk"))
                    let groups = try transaction.aggregate(Query("items").aggregating(.sum(of: "int")))
                    let sum = groups.first?.values.first
                    let row = TableDefinition.items.filled(Record(id: "a", ["int": 7, "text": "milk"]))
                    let stored =
                        switch try transaction.stored(row, ignoring: [], in: "items") {
                        case .missing: "missing"
                        case .asExpected: "as expected"
                        case .other(let other): other.withoutNulls == row.withoutNulls ? "as expected" : "other"
                        }
                    let found = try transaction.records(words).map { $0.id.stringValue ?? "" }.joined()
                    others.append("\(found) \(sum?.int64Value ?? 0) \(stored)")
                    let query = Query("items").filtered(by: Column("int") > 0)
                    let ids = try transaction.records(query).map { $0.id.stringValue ?? "" }.joined()
                    let number = try transaction.record("a", in: "items")?["int"]?.int64Value ?? 0
                    seen.append("\(ids) \(number) \(try transaction.count(Query("items")))")
                }
                try transaction.upsert([Record(id: "b", ["int": 5, "text": "fresh milk"])], into: "items")
                try look(&transaction)
                try transaction.upsert([Record(id: "a", ["int": 7])], into: "items")
                try look(&transaction)
                try transaction.delete(["a"], from: "items")
                try look(&transaction)
                try transaction.delete(Query("items").filtered(by: Column("int") == 5))
                try look(&transaction)
                return (seen, others)
            }
            trial.expect(
                seen,
                equals: ["ab 1 2", "ab 7 2", "b 0 1", " 0 0"],
                "ids with int > 0, int of 'a', count: after inserting 'b', merging 'a', deleting 'a', deleting by query"
            )
            trial.expect(
                others,
                equals: ["ab 6 other", "ab 12 as expected", "b 5 missing", " 0 missing"],
                "ids that words find, the sum of int, 'a' as stored: after the same steps"
            )
        },
        rule(
            "transaction.next-read-sees-it",
            "and always every write that had returned before the read began.",
            in: "SyncContextDataSource",
            "Writes a number 200 times and reads it after each write."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 1...200 {
                try await store.upsert([Record(id: "n", ["int": .int64(Int64(number))])], table: "items")
                let got = try await store.read(table: "items", itemID: "n")?["int"]
                guard got == .int64(Int64(number)) else {
                    return trial.report("read after write number \(number)", expected: "\(number)", got: shown(got))
                }
            }
        },
        rule(
            "transaction.large",
            allOrNothing,
            in: "SyncContextDataSource",
            "Writes 2,000 rows of 300 bytes in one transaction, in 20 calls, and counts and sums them."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.write { transaction in
                for call in 0..<20 { try transaction.upsert(largeRows(call), into: "items") }
            }
            let (count, sum) = try await store.read { reader in
                var sum: Int64 = 0
                try reader.forEach(Query("items")) { sum += $0["int"]?.int64Value ?? 0 }
                return (try reader.count(Query("items")), sum)
            }
            trial.expect(count, equals: 2_000, "rows after writing 2,000 in one transaction")
            trial.expect(sum, equals: 1_999_000, "the sum of their numbers")
        },
    ]

    static func largeRows(_ call: Int) -> [Record] {
        (call * 100..<call * 100 + 100)
            .map {
                Record(
                    id: .string("\($0)"),
                    ["int": .int64(Int64($0)), "bytes": .bytes(Array(repeating: UInt8($0 & 255), count: 300))]
                )
            }
    }

    private static let endings: [StoreRule] = [
        rule(
            "transaction.rethrows",
            "an error thrown by the closure is rethrown as it is.",
            in: "SyncContextDataSource",
            "Throws an error of its own, and a StoreError with a cause, from the closures of reads and writes."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 1...2 {
                do {
                    if number == 1 {
                        try await store.write { _ in throw OwnError(number: number) }
                    } else {
                        try await store.read { _ in throw OwnError(number: number) }
                    }
                    trial.report("a closure that throws", expected: "its error", got: "no error")
                } catch {
                    trial.expect(error as? OwnError, equals: OwnError(number: number), "the error of a closure")
                }
            }
            do {
                try await store.write { _ in throw StoreError(.notFound, "my message", cause: OwnError(number: 3)) }
            } catch let error as StoreError {
                trial.expect(error.code, equals: .notFound, "the code of a StoreError thrown by a closure")
                trial.expect(error.message, equals: "my message", "the message of a StoreError thrown by a closure")
                trial.expect(error.cause as? OwnError, equals: OwnError(number: 3), "its cause")
            }
        },
        rule(
            "transaction.cancelled-before",
            "A task that is cancelled before its transaction began gets `CancellationError` and nothing happens.",
            in: "SyncContextDataSource",
            "Writes and reads in a task that is cancelled already, in closures, and by id and by query without one."
        ) { trial in
            let store = try await trial.makeStore()
            let ran = Mutex(0)
            let box = Shared(ran)
            let outcomes = await Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                var outcomes: [String] = []
                for call in 0..<4 {
                    do {
                        switch call {
                        case 0:
                            try await store.write { transaction in
                                box.value.withLock { $0 += 1 }
                                try transaction.upsert([Record(id: "a")], into: "items")
                            }
                        case 1: try await store.read { _ in box.value.withLock { $0 += 1 } }
                        case 2: _ = try await store.read(table: "items", itemID: "b")
                        default: _ = try await store.read(Query("items").limited(to: 1))
                        }
                        outcomes.append("no error")
                    } catch {
                        outcomes.append(error is CancellationError ? "CancellationError" : brief(error))
                    }
                }
                return outcomes
            }
            .value
            trial.expect(
                outcomes,
                equals: [String](repeating: "CancellationError", count: 4),
                "a write, a read, and reads by id and by query in a task that was cancelled before"
            )
            trial.expect(box.value.withLock { $0 }, equals: 0, "closures run by a cancelled task")
            trial.expectRow(try await store.read(table: "items", itemID: "a"), nil, "the row a cancelled task wrote")
        },
        rule(
            "transaction.cancelled-while-waiting",
            "A task that is cancelled before its transaction began gets `CancellationError` and nothing happens.",
            in: "SyncContextDataSource",
            "Cancels a task whose write waits for the end of another one: its closure must not run any more."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 0..<5 {
                let (hasBegun, mayEnd) = (Shared(Mutex(false)), Shared(Mutex(false)))
                let first = Task {
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: "first")], into: "items")
                        hasBegun.value.withLock { $0 = true }
                        // The wait ends in any case: what it blocks may be what the others need.
                        let deadline = ContinuousClock.now + .seconds(1)
                        while !mayEnd.value.withLock({ $0 }), ContinuousClock.now < deadline { _ = sched_yield() }
                        return mayEnd.value.withLock { $0 }
                    }
                }
                while !hasBegun.value.withLock({ $0 }) { await Task.yield() }
                let second = Task {
                    try await store.upsert([Record(id: .string("second-\(number)"))], table: "items")
                }
                await Task.yield()
                second.cancel()
                mayEnd.value.withLock { $0 = true }
                let waitedLongEnough = try await first.value
                let outcome = await second.result
                // On a machine that stood still the first may have ended before the second was cancelled.
                guard waitedLongEnough else { continue }
                let isThere = try await store.read(table: "items", itemID: .string("second-\(number)")) != nil
                if case .failure(let error) = outcome, error is CancellationError, !isThere { continue }
                let error = if case .failure(let error) = outcome { brief(error) } else { "no error" }
                trial.report(
                    "cancel a task whose write waits for another",
                    expected: "CancellationError and no row",
                    got: "\(error) and \(isThere ? "the row" : "no row")"
                )
            }
        },
        rule(
            "transaction.cancelled-after-commit",
            "A transaction that was committed is never reported as cancelled.",
            in: "SyncContextDataSource",
            "Cancels the task inside the closure: either the row is there and no error comes, or neither."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 0..<5 {
                let id = RecordID.string("\(number)")
                let outcome = await trial.outcome { task in
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: id)], into: "items")
                        task.cancel()
                    }
                    return "no error"
                }
                let isThere = try await store.read(table: "items", itemID: id) != nil
                trial.expect(
                    (outcome == "no error") == isThere,
                    "cancel a task while its transaction runs",
                    expected: "the row and no error, or an error and no row",
                    got: "\(isThere ? "the row" : "no row") and \(outcome)"
                )
            }
        },
        rule(
            "transaction.read-only-write",
            "Runs a closure as one transaction: kept as a whole when it returns, rolled back as a whole when it"
                + " throws.",
            in: "SyncContextDataSource/write(_:)",
            "Runs write transactions that only read, and empty ones, between others."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a")], table: "items")
            let count = try await store.write { try $0.count(Query("items")) }
            try await store.write { _ in }
            trial.expect(count, equals: 1, "count in a write transaction that only reads")
            trial.expectIDs(try await store.read(Query("items")).records, ["a"], "rows after empty transactions")
        },
    ]
}

/// A value without copies, shared by closures.
final class Shared<Value: ~Copyable & Sendable>: Sendable {
    let value: Value

    init(_ value: consuming Value) { self.value = value }
}
