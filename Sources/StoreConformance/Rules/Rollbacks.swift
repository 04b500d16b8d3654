internal import ConformanceRunner
internal import Foundation
internal import QueryEvaluation
internal import SyncContract
internal import Synchronization

extension StoreRules {
    static let rollbacks: [StoreRule] = [
        rule(
            "transaction.rollback-inserts",
            allOrNothing,
            in: "SyncContextDataSource",
            "Inserts rows in several calls and tables, then throws: no row is left."
        ) { trial in
            try await expectRollback(trial) { transaction in
                try transaction.upsert([Record(id: "new1"), Record(id: "new2")], into: "items")
                try transaction.upsert([Record(id: "new3")], into: "items")
                try transaction.upsert([Record(id: "new4")], into: "other")
            }
        },
        rule(
            "transaction.rollback-merges",
            allOrNothing,
            in: "SyncContextDataSource",
            "Merges into rows, then throws: the old values are back, those of undeclared keys as well."
        ) { trial in
            try await expectRollback(trial) { transaction in
                try transaction.upsert([Record(id: "a", ["int": 99, "text": .null, "x": 99, "y": 1])], into: "items")
                try transaction.upsert([Record(id: "b", ["date": .date(5)])], into: "items")
                try transaction.upsert([Record(id: "AA", ["int": 5])], into: "folding")
            }
        },
        rule(
            "transaction.rollback-deletes",
            allOrNothing,
            in: "SyncContextDataSource",
            "Deletes by ids and by query, then throws: the rows are back."
        ) { trial in
            try await expectRollback(trial) { transaction in
                try transaction.delete(["a"], from: "items")
                try transaction.delete(Query("other"))
                try transaction.delete(Query("folding").limited(to: 1))
            }
        },
        rule(
            "transaction.rollback-system-tables",
            allOrNothing,
            in: "SyncContextDataSource",
            "Writes and deletes operations, errors and settings, then throws."
        ) { trial in
            try await expectRollback(trial) { transaction in
                try transaction.upsert(
                    [Record(id: 1, ["state": 2]), Record(id: 9)],
                    into: SystemTables.operations.name
                )
                try transaction.upsert([Record(id: "e")], into: SystemTables.operationErrors.name)
                try transaction.delete(Query(SystemTables.configuration.name))
            }
        },
        rule(
            "transaction.rollback-large",
            allOrNothing,
            in: "SyncContextDataSource",
            "Inserts 2,000 rows, deletes what was there, then throws."
        ) { trial in
            try await expectRollback(trial) { transaction in
                for call in 0..<20 { try transaction.upsert(largeRows(call), into: "items") }
                try transaction.delete(Query("items"))
                try transaction.upsert(largeRows(1), into: "items")
            }
        },
        rule(
            "transaction.rollback-random",
            allOrNothing,
            in: "SyncContextDataSource",
            "Runs 60 random transactions, some of which throw, and holds all rows against a model after each."
        ) { trial in
            var random = RandomRows(trial.random())
            let work = (0..<60).map { RandomWork($0, &random) }
            guard try await work.firstFailure(trial) != nil else { return }
            let least = try await shrunk(work, tries: 60) { try await $0.firstFailure(trial) != nil }
            guard let failure = try await least.firstFailure(trial) else {
                return trial.report(
                    "60 random transactions, again and again",
                    expected: "the same rows each time",
                    got: "others once"
                )
            }
            trial.expectRows(failure.got, failure.expected, least.description(upTo: failure.number))
        },
        rule(
            "transaction.after-rollback",
            "Writers run one after the other.",
            in: "SyncContextDataSource",
            "Writes and reads right after transactions that were rolled back: nothing of these is mixed in."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 0..<20 {
                try await rollBack(store) { try $0.upsert([Record(id: "lost", ["int": 1])], into: "items") }
                try await store.upsert([Record(id: .string("\(number)"))], table: "items")
            }
            trial.expect(
                try await store.read { try $0.count(Query("items")) },
                equals: 20,
                "rows after 20 writes and 20 rollbacks"
            )
            trial.expectRow(
                try await store.read(table: "items", itemID: "lost"),
                nil,
                "the row of the rolled back writes"
            )
        },
        rule(
            "transaction.refused-call-leaves-no-half",
            "A method that throws leaves nothing of its call behind, or the store rolls back the whole transaction, also"
                + " when the closure catches the error and returns.",
            in: "StoreWriteBackend",
            "Catches the error of a refused batch inside the closure and returns: no part of that batch may be kept."
        ) { trial in
            let store = try await trial.makeStore()
            var isKept = true
            do {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "before")], into: "items")
                    do {
                        try transaction.upsert([Record(id: "half"), Record(id: "bad", ["int": "text"])], into: "items")
                    } catch {
                        // The closure swallows it: the store has to see to it that nothing half is kept.
                    }
                }
            } catch is StoreError {
                // The store rolled back the whole transaction, and says so.
                isKept = false
            }
            let input = "a transaction whose closure catches the error of a refused batch"
            let half = try await store.read(table: "items", itemID: "half")
            trial.expectRow(half, nil, input + ", read a row of that batch")
            let before = try await store.read(table: "items", itemID: "before")
            trial.expect(
                (before != nil) == isKept,
                input + ", read a row written before it",
                expected: isKept ? "the row, because the transaction returned" : "no row, because it threw",
                got: shown(before)
            )
        },
    ]

    /// Runs a closure that is rolled back and reports when anything differs afterwards.
    private static func expectRollback(
        _ trial: StoreTrial,
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        let store = try await trial.makeStore()
        let names = store.schema.allTables.map(\.name)
        try await store.write { transaction in
            try transaction.upsert([fullRow("a"), Record(id: "a", ["x": 1]), fullRow("b")], into: "items")
            try transaction.upsert([fullRow("aa")], into: "folding")
            try transaction.upsert([Record(id: "o", ["int": 3])], into: "other")
            try transaction.upsert([Record(id: 1, ["state": 0])], into: SystemTables.operations.name)
            try transaction.upsert([Record(id: "t", ["value": "1"])], into: SystemTables.configuration.name)
        }
        let before = try await store.read { reader in try names.map { try reader.records(Query($0)) } }
        try await rollBack(store, body)
        let after = try await store.read { reader in try names.map { try reader.records(Query($0)) } }
        for (index, name) in names.enumerated() {
            trial.expectRows(after[index], before[index], "rows of \(name) after a transaction that threw")
        }
    }

    private static func rollBack(
        _ store: any SyncContextDataSource,
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        do {
            try await store.write { transaction in
                try body(&transaction)
                throw OwnError(number: 1)
            }
        } catch is OwnError {
            // This is what the closure throws.
        }
    }
}
