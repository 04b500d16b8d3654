internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let snapshots: [StoreRule] = [
        rule(
            "concurrency.snapshot-of-everything",
            "Every method sees the state of one instant, plus what the same transaction wrote before.",
            in: "StoreReadBackend",
            "While another task raises the number in ten rows, in their searchable texts and in an operation, reads it within one"
                + " read as a row, a sum, a group, a word, a state and, with SQL, by a statement, twice: it is one number."
        ) { trial in
            let store = try await trial.makeStore([.counted])
            let hasSQL = store.capabilities.contains(.sql)
            try await store.write { try $0.setNumber(1) }
            let isDone = Shared(Mutex(false))
            let writes = Passes()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    var number: Int64 = 1
                    while !isDone.value.withLock({ $0 }) {
                        number += 1
                        try await store.write { [number] in try $0.setNumber(number) }
                        writes.pass()
                        // On one core a write that never waits would leave no turn to the reads.
                        await Task.yield()
                    }
                }
                defer { isDone.value.withLock { $0 = true } }
                for _ in 0..<8 {
                    let seen = try await store.read { reader in
                        let number = try reader.number()
                        var seen = try reader.look(for: number, hasSQL: hasSQL)
                        writes.wait()
                        seen += try reader.look(for: number, hasSQL: hasSQL)
                        return seen
                    }
                    trial.expect(
                        seen.isEmpty,
                        "read one number in several ways in one read while another task raises it",
                        expected: "the same number in all of them",
                        got: seen.joined(separator: ", ")
                    )
                }
                isDone.value.withLock { $0 = true }
                try await group.waitForAll()
            }
        },
        rule(
            "concurrency.rollback-of-everything",
            "sees the state of one instant: never half a transaction",
            in: "SyncContextDataSource",
            "Reads a number in all of these ways beside transactions that write another one and are rolled back: none of them ever"
                + " gives the other one."
        ) { trial in
            let store = try await trial.makeStore([.counted])
            let hasSQL = store.capabilities.contains(.sql)
            try await store.write { try $0.setNumber(1) }
            try await readBesideRollbacks(of: store, transactions: 10, readers: 2, reads: 20) { transaction in
                try transaction.setNumber(2)
            } read: {
                let seen = try await store.read { try $0.look(for: 1, hasSQL: hasSQL) }
                trial.expect(
                    seen.isEmpty,
                    "read a number in several ways beside transactions that are rolled back",
                    expected: "the number from before in all of them",
                    got: seen.joined(separator: ", ")
                )
            }
        },
    ]
}

extension TableDefinition {
    fileprivate static let counted = TableDefinition(
        "counted",
        columns: [.init("int", .int64), .init("text", .string, isSearchable: true)],
        systemProperties: []
    )
}

extension StoreTransaction {
    /// Writes a number in all of its forms. Whether it is even is what the state of a row says.
    fileprivate mutating func setNumber(_ number: Int64) throws {
        try upsert(
            (0..<10).map { Record(id: .string("\($0)"), ["int": .int64(number), "text": .string("word\(number)")]) },
            into: "counted"
        )
        let operation = StateWorld.Operation(stored: number % 2 == 0 ? 0 : 3, state: .pending)
        try upsert([StateWorld.operation(1, "0", in: .counted, operation)], into: SystemTables.operations.name)
    }
}

extension StoreReader {
    fileprivate mutating func number() throws -> Int64 { try record("0", in: "counted")?["int"]?.int64Value ?? 0 }

    /// What does not fit a number, in words.
    fileprivate mutating func look(for number: Int64, hasSQL: Bool) throws -> [String] {
        let rows = Query("counted")
        var found: [(String, String, String)] = [("the row", "\(try self.number())", "\(number)")]
        let sums = try aggregate(rows.aggregating(.sum(of: "int"), .count))
        found.append(("sum and count", "\(sums.map(\.values))", "\([[FieldValue.int64(number * 10), 10]])"))
        let groups = try aggregate(rows.aggregating(.count, by: "int"))
        found.append(("groups", "\(groups.map(\.group))", "\([FieldValue.int64(number)])"))
        let words = try count(rows.filtered(by: Column("text").matches(words: "word\(number)", .wholeWords)))
        found.append(("rows with its word", "\(words)", "10"))
        let states = try records(rows.filtered(by: Column("id") == "0").includingSyncStates()).map(\.syncState)
        found.append(("the state", "\(states)", "\([SyncState?.some(number % 2 == 0 ? .pending : .failed)])"))
        if hasSQL {
            let ends = try self.rows("SELECT min(int) AS a, max(int) AS b FROM counted").map(\.values)
            found.append(("by a statement", "\(ends)", "\([[FieldValue.int64(number), .int64(number)]])"))
        }
        return found.filter { $0.1 != $0.2 }.map { "\($0.0): \(brief($0.1)) instead of \($0.2)" }
    }
}
