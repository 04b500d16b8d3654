internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let tableSnapshots: [StoreRule] = [
        rule(
            "concurrency.snapshot-of-all-tables",
            "sees the state of one instant: never half a transaction",
            in: "SyncContextDataSource",
            "Reads a row of one table, waits for half a second at most until a write to it, to others and to the operations has"
                + " returned, and then asks the others for the first time, for rows, counts, sums, words and states: all are of"
                + " the instant of the first row."
        ) { trial in
            let notes = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)])
            let store = try await trial.makeStore(TableDefinition.standard + [notes])
            try await store.write { try writeNumber(1, &$0) }
            let hasWritten = Shared(Mutex(false))
            let write = Shared(Mutex<Task<Void, any Error>?>(nil))
            let seen = try await store.read { reader in
                var seen = [try reader.record("a", in: "items")?["int"]]
                write.value.withLock {
                    $0 = Task {
                        try await store.write { try writeNumber(2, &$0) }
                        hasWritten.value.withLock { $0 = true }
                    }
                }
                // A closure is synchronous: it blocks its thread, and so not for long.
                let deadline = ContinuousClock.now + .milliseconds(500)
                while !hasWritten.value.withLock({ $0 }), ContinuousClock.now < deadline { _ = sched_yield() }
                seen.append(try reader.record("a", in: "other")?["int"])
                seen.append(.int64(Int64(try reader.count(Query("folding")))))
                seen.append(try reader.aggregate(Query("other").aggregating(.sum(of: "int"))).first?.values.first)
                let words = Query("notes").filtered(by: .matches(words: "milk", in: ["text"]))
                seen.append(.int64(Int64(try reader.count(words))))
                let state = try reader.records(Query("items").includingSyncStates()).first?.syncState
                seen.append(state == .pending ? 1 : 2)
                return seen
            }
            try await write.value.withLock { $0 }?.value
            let names = [
                "the row before the write", "a row", "the count of a table", "a sum", "rows with a word",
                "the state of a row",
            ]
            for (name, number) in zip(names, seen) {
                trial.expect(
                    number == 1,
                    "\(name), read first after a write that came between",
                    expected: "of the instant before it",
                    got: number == 2 ? "of the instant after it" : shown(number)
                )
            }
        }
    ]

    /// Writes what says a number in every table.
    private static func writeNumber(_ number: Int, _ transaction: inout StoreTransaction) throws {
        let row = Record(id: "a", ["int": .int64(Int64(number))])
        for table in ["items", "other"] { try transaction.upsert([row], into: table) }
        try transaction.upsert([Record(id: .string("\(number)"))], into: "folding")
        try transaction.upsert([Record(id: .string("\(number)"), ["text": "milk"])], into: "notes")
        let operation = StateWorld.operations[number == 1 ? 0 : 1]
        try transaction.upsert(
            [StateWorld.operation(1, "a", in: .items, operation)],
            into: SystemTables.operations.name
        )
    }
}
