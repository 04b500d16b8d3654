internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let snapshots: [StoreRule] = [
        rule(
            "concurrency.snapshot-of-everything",
            "Every method sees the state of one instant, plus what the same transaction wrote before.",
            in: "StoreReadBackend",
            "While another task raises the number in nine rows or ten, which it inserts and deletes, in their searchable texts and"
                + " in an operation, which comes and goes, reads it within one read as a row, a count, a sum, a group, a word, a state"
                + " and, with SQL, by a statement, twice: it is one number."
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
            "Reads a number in all of these ways beside transactions that write another one, insert a row and delete an operation,"
                + " or the other way round, and are rolled back: none of them ever gives the other one."
        ) { trial in
            let store = try await trial.makeStore([.counted])
            let hasSQL = store.capabilities.contains(.sql)
            // With 6 a row more and no operation, with 5 and 7 the other way round.
            for (number, other) in [(5, 6), (6, 7)] as [(Int64, Int64)] {
                try await store.write { try $0.setNumber(number) }
                try await readBesideRollbacks(of: store, transactions: 10, readers: 2, reads: 20) { transaction in
                    try transaction.setNumber(other)
                } read: {
                    let seen = try await store.read { try $0.look(for: number, hasSQL: hasSQL) }
                    trial.expect(
                        seen.isEmpty,
                        "read a number in several ways beside transactions that are rolled back",
                        expected: "the number from before in all of them",
                        got: seen.joined(separator: ", ")
                    )
                }
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
    /// Writes a number in all of its forms: the last row is there with every other one, an operation with two of three.
    fileprivate mutating func setNumber(_ number: Int64) throws {
        let count = Counted.rows(number)
        try upsert(
            (0..<count)
                .map { Record(id: .string("\($0)"), ["int": .int64(number), "text": .string("word\(number)")]) },
            into: "counted"
        )
        if count < 10 { _ = try delete(["9"], from: "counted") }
        let state = Counted.state(number)
        guard state != .synced else {
            _ = try delete([1], from: SystemTables.operations.name)
            return
        }
        let operation = StateWorld.Operation(stored: state == .pending ? 0 : 3, state: state)
        try upsert([StateWorld.operation(1, "0", in: .counted, operation)], into: SystemTables.operations.name)
    }
}

/// What comes with a number.
private enum Counted {
    static func rows(_ number: Int64) -> Int64 { number % 2 == 0 ? 10 : 9 }

    static func state(_ number: Int64) -> SyncState { [.synced, .failed, .pending][Int(number % 3)] }
}

extension StoreReader {
    fileprivate mutating func number() throws -> Int64 { try record("0", in: "counted")?["int"]?.int64Value ?? 0 }

    /// What does not fit a number, in words.
    fileprivate mutating func look(for number: Int64, hasSQL: Bool) throws -> [String] {
        let rows = Query("counted")
        let (rowCount, state) = (Counted.rows(number), Counted.state(number))
        var found: [(String, String, String)] = [("the row", "\(try self.number())", "\(number)")]
        let sums = try aggregate(rows.aggregating(.sum(of: "int"), .count))
        let sum = FieldValue.int64(number * rowCount)
        found.append(("sum and count", "\(sums.map(\.values))", "\([[sum, FieldValue.int64(rowCount)]])"))
        found.append(("the count of all rows", "\(try count(rows))", "\(rowCount)"))
        let groups = try aggregate(rows.aggregating(.count, by: "int"))
        found.append(("groups", "\(groups.map(\.group))", "\([FieldValue.int64(number)])"))
        let words = try count(rows.filtered(by: Column("text").matches(words: "word\(number)", .wholeWords)))
        found.append(("rows with its word", "\(words)", "\(rowCount)"))
        let states = try records(rows.filtered(by: Column("id") == "0").includingSyncStates()).map(\.syncState)
        found.append(("the state", "\(states)", "\([SyncState?.some(state)])"))
        if hasSQL {
            let ends = try self.rows("SELECT min(int) AS a, max(int) AS b FROM counted").map(\.values)
            found.append(("by a statement", "\(ends)", "\([[FieldValue.int64(number), .int64(number)]])"))
        }
        return found.filter { $0.1 != $0.2 }.map { "\($0.0): \(brief($0.1)) instead of \($0.2)" }
    }
}
