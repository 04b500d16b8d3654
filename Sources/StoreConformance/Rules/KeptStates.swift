internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

// States after what may leave an index of the operations behind: a rollback, an opening, a kill.
extension StoreRules {
    private static let ofOperation =
        "The state is written into no row: it is that of the row's operation in `operations`, as of the instant at"
        + " which the row is read."

    static let keptStates: [StoreRule] = [
        rule(
            "state.rolled-back-operations",
            ofOperation,
            in: "SyncState",
            "Deletes operations by ids and by a query, inserts others and changes some in transactions that throw: the rows"
                + " have their states from before, in rows, conditions and counts."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(12))
            let table = SystemTables.operations.name
            let conflict = StateWorld.operations[1]
            let changes: [@Sendable (inout StoreTransaction) throws -> Void] = [
                { try $0.delete((0..<12).map { RecordID.int64($0) }, from: table) },
                { try $0.delete(Query(table)) },
                { try $0.upsert([StateWorld.operation(50, "0", in: .items, conflict)], into: table) },
                { transaction in
                    try transaction.delete([1], from: table)
                    try transaction.upsert([StateWorld.operation(51, "1", in: .items, conflict)], into: table)
                },
                { try $0.upsert((1..<12).map { Record(id: .int64($0), ["state": 1]) }, into: table) },
            ]
            for change in changes {
                do {
                    try await world.store.write { transaction in
                        try change(&transaction)
                        throw OwnError(number: 1)
                    }
                } catch is OwnError {
                    // This is what the closure throws.
                }
                try await world.expectStates()
            }
        },
        rule(
            "state.after-opening",
            ofOperation,
            in: "SyncState",
            "Closes and opens a store with operations in every stored state: each row has the state that it had, in rows,"
                + " conditions and counts, and follows its operation from then on.",
            needs: "durable"
        ) { trial in
            var world = try await StateWorld(trial, StateWorld.rows(20))
            try await world.expectStates()
            for _ in 0..<2 {
                try await trial.close(world.store)
                world.store = try await trial.reopen()
                try await world.expectStates()
            }
            try await world.store.delete(Query(SystemTables.operations.name))
            let rows = try await world.store.read(Query("items").includingSyncStates()).records
            trial.expect(Set(rows.map(\.syncState)), equals: [.synced], "states without operations")
        },
    ]

    static let killedStates: [StoreRule] = [
        rule(
            "durability.killed-states",
            survives,
            in: "SyncContextDataSource",
            "A process writes operations in every stored state, deletes one, and is killed in a transaction that deletes all:"
                + " each row has the state that its operation says.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await StateWorld(trial, StateWorld.rows(20)).store
                    try await store.deleteItems(withIDs: [1], table: SystemTables.operations.name)
                    try await store.write { transaction in
                        try transaction.delete(Query(SystemTables.operations.name))
                        killThisProcess()
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            let store = try await trial.reopen()
            let got = try await store.read(Query("items").ordered(by: "int").includingSyncStates()).records
            let operations = StateWorld.operations
            for row in got {
                let number = row.id.stringValue.flatMap { Int($0) } ?? 0
                let turn = number == 1 ? 0 : number % (operations.count + 1)
                let expected = turn == 0 ? SyncState.synced : operations[turn - 1].state
                trial.expect(row.syncState, equals: expected, "the state of row \(number) after the kill")
            }
            trial.expect(got.count, equals: 20, "rows after the kill")
        }
    ]
}

extension StateWorld {
    /// Reports when rows do not have their states, in every way in which they are asked for.
    fileprivate func expectStates() async throws {
        try await expect(Query(table.name).includingSyncStates())
        for state in SyncState.allCases { try await expect(Column.syncState == state) }
        let query = Query(table.name).includingSyncStates()
        let expected = try QueryEvaluator(table).evaluate(query, over: rows, answersSyncStates: true)
        trial.expectRows(try await store.read(query).records, expected, "query \(shown(query)) without a closure")
    }
}
