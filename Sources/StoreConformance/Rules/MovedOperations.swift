internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let movedOperations: [StoreRule] = [
        rule(
            "state.operation-moves",
            "The state of a row is that of the operation whose `table` is the row's table and whose `itemKey` is the row's id"
                + " in the form of `folded(for:)`, as `init(ofOperation:)` says; a row without one is `synced`.",
            in: "StoreReadBackend/answersSyncStates",
            "Merges another row's key, another state and another table into an operation, and a null: the row that it was of is"
                + " synced, in the transaction that does so and afterwards."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(4), [])
            let operations = SystemTables.operations.name
            let waiting = StateWorld.operation(1, "1", in: .items, StateWorld.operations[0])
            try await world.store.upsert([waiting], table: operations)
            let steps: [(String, [String: FieldValue], [SyncState])] = [
                ("as it was", ["table": "items"], [.synced, .pending, .synced, .synced]),
                ("with the key of row '2'", ["itemId": "2", "itemKey": "2"], [.synced, .synced, .pending, .synced]),
                ("refused, of row '3'", ["itemKey": "3", "state": 3], [.synced, .synced, .synced, .failed]),
                ("of another table", ["table": "other"], [.synced, .synced, .synced, .synced]),
                ("of its table again", ["table": "items"], [.synced, .synced, .synced, .failed]),
                ("without a key", ["itemKey": .null], [.synced, .synced, .synced, .synced]),
            ]
            let query = Query("items").includingSyncStates()
            let synced = Query("items").filtered(by: Column.syncState == .synced)
            for (moment, fields, states) in steps {
                let within = try await world.store.write { transaction in
                    try transaction.upsert([Record(id: 1, fields)], into: operations)
                    return (try transaction.records(query), try transaction.count(synced))
                }
                let after = try await world.store.read { (try $0.records(query), try $0.count(synced)) }
                for (got, way) in [(within, " in its transaction"), (after, "")] {
                    let input = "the states of rows with an operation \(moment)\(way)"
                    let shown = got.0.map { $0.syncState.map { "\($0)" } ?? "none" }
                    trial.expect(shown, equals: states.map { "\($0)" }, input)
                    trial.expect(got.1, equals: states.count { $0 == .synced }, input + ", how many are synced")
                }
            }
        }
    ]
}
