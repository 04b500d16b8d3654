internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    private static let ofOperation =
        "The state of a row is that of the operation whose `table` is the row's table and whose `itemKey` is the row's id"
        + " in the form of `folded(for:)`, as `init(ofOperation:)` says; a row without one is `synced`."
    private static let backend = "StoreReadBackend/answersSyncStates"

    static let syncStates: [StoreRule] = [
        rule(
            "state.conditions",
            ofOperation,
            in: backend,
            "Asks for the rows in each state, in another one, and in some, with operations in every stored state."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(20))
            for state in SyncState.allCases {
                try await world.expect(Column.syncState == state)
                try await world.expect(Column.syncState != state)
                try await world.expect(!(Column.syncState == state))
            }
            try await world.expect(Column.syncState.isAny(of: [.pending, .conflicted]))
            try await world.expect(Column.syncState.isAny(of: [.synced, .failed]))
            try await world.expect(Column.syncState.isAny(of: [SyncState]()))
            try await world.expect(!Column.syncState.isAny(of: SyncState.allCases))
        },
        rule(
            "state.beside-rows",
            "Whether each row comes with its `SyncState` in `syncState`, whatever the selection.",
            in: "Query/includesSyncStates",
            "Reads rows with their states: all columns, some, none, limited; and without: then they have none."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(20))
            let query = Query("items")
            try await world.expect(query.includingSyncStates())
            try await world.expect(query.selecting(["text", "int"]).includingSyncStates())
            try await world.expect(query.selecting([]).includingSyncStates())
            try await world.expect(
                query.ordered(by: "int", .descending).skipping(3).limited(to: 9).includingSyncStates()
            )
            try await world.expect(query.filtered(by: Column.syncState == .conflicted).includingSyncStates())
            try await world.expect(query)
            try await world.expect(query.filtered(by: Column.syncState != .synced))
        },
        rule(
            "state.ids",
            ofOperation,
            in: backend,
            "Gives rows states whose ids differ in case only, and rows of a table that ignores case."
        ) { trial in
            let ids: [RecordID] = ["Zz", "a", "A", "b", "É", "é"]
            let exact = try await StateWorld(trial, ids.map { Record(id: $0) })
            let folding = try await StateWorld(
                trial,
                ["Zz", "Ab", "cD", "É", "é", "EF"].map { Record(id: $0) },
                in: .folding
            )
            for world in [exact, folding] {
                try await world.expect(Query(world.table.name).includingSyncStates())
                for state in SyncState.allCases {
                    try await world.expect(Column.syncState == state)
                    try await world.expect(Column.syncState != state)
                }
            }
        },
        rule(
            "state.combined",
            "It combines with everything but a search for words.",
            in: "Column/syncState",
            "Asks 150 random queries with conditions on the state in them, and compares the state with columns and texts."
        ) { trial in
            var random = RandomRows(trial.random())
            let rows = (0..<40).map { random.record(.string("\($0)"), columnsIn: 80) }
            let world = try await StateWorld(trial, rows)
            for _ in 0..<150 {
                var query = random.query()
                let leaf = randomLeaf(&random)
                switch (query.predicate, random.random.chance(50)) {
                case (let predicate?, true): query.predicate = !(predicate && leaf) || randomLeaf(&random)
                case (let predicate?, false): query.predicate = (predicate || leaf) && !randomLeaf(&random)
                case (nil, _): query.predicate = leaf
                }
                query.includesSyncStates = random.random.chance(50)
                try await world.expect(query)
            }
        },
        rule(
            "state.deletes",
            "Deletes the rows that the query would give, its order, offset and limit included, and returns how many.",
            in: "StoreTransaction/delete(_:)",
            "Deletes rows by their state: all of one, and two of the others."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(16))
            let failed = Query("items").filtered(by: Column.syncState == .failed)
            let synced = Query("items").filtered(by: Column.syncState == .synced).skipping(1).limited(to: 2)
            let counts = try await world.store.write { [try $0.delete(failed), try $0.delete(synced)] }
            trial.expect(counts, equals: [4, 1], "rows deleted that failed, and behind the first that is synced")
            trial.expectIDs(
                try await world.store.read(Query("items")).records,
                ["0", "1", "10", "13", "14", "15", "2", "5", "6", "7", "9"],
                "rows left"
            )
        },
        rule(
            "state.follows-transactions",
            "The state is written into no row: it is that of the row's operation in `operations`, as of the instant at"
                + " which the row is read.",
            in: "SyncState",
            "Reads states in the transaction that changes them, after it was rolled back, and after it was kept."
        ) { trial in try await expectStatesFollow(trial) },
        rule(
            "state.not-stored",
            "It is no value of the row: what is set here is neither stored nor sent.",
            in: "Record/syncState",
            "Writes rows that were read with their states: rows come without, and with those of their operations."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(8))
            let query = Query("items").includingSyncStates()
            try await world.store.write { transaction in
                let rows = try transaction.records(query)
                    .map { row in
                        var row = row
                        row.syncState = row.syncState == .synced ? .failed : .synced
                        return row
                    }
                try transaction.upsert(rows, into: "items")
            }
            try await world.expect(Query("items"))
            try await world.expect(query)
            let byID = try await world.store.read { try $0.record("1", in: "items") }
            var expected = world.rows[1]
            expected.syncState = nil
            trial.expectRow(byID, expected, "row '1' by its id, after it was written with a state")
        },
        rule(
            "state.live-queries",
            "Rows and states are of one instant. In a live query a state that changes is a change of its row.",
            in: "Query/includingSyncStates()",
            "Observes rows by and with their states: a change of an operation is told, one that changes nothing is not."
        ) { trial in try await expectLiveStates(trial) },
        rule(
            "state.uploading",
            "The push counts while it runs in this process.",
            in: "SyncState/init(storedState:push:)",
            "Marks operations with the number of a push that runs, and reads their rows until it has ended."
        ) { trial in
            let push = RunningPushes.begin()
            defer { RunningPushes.end(push) }
            let underWay = StateWorld.Operation(stored: 0, push: .int64(push), state: .uploading)
            let operations = [underWay] + StateWorld.operations
            let world = try await StateWorld(trial, StateWorld.rows(20), operations)
            try await world.expect(Column.syncState == .uploading)
            try await world.expect(Column.syncState == .pending)
            try await world.expect(Query("items").includingSyncStates())
            RunningPushes.end(push)
            let uploading = Query("items").filtered(by: Column.syncState == .uploading)
            trial.expectIDs(try await world.store.read { try $0.records(uploading) }, [], "uploading after the push")
            let pending = Query("items").filtered(by: Column.syncState == .pending && Column("id") == "1")
            trial.expectIDs(try await world.store.read { try $0.records(pending) }, ["1"], "pending after the push")
        },
        rule(
            "state.order",
            "Queries about `SyncState` are answered by the store itself, by an index of the operations, orders included:"
                + " `answersSyncStates`.",
            in: "StoreCapabilities/syncStates",
            "Orders rows by their states, alone and between columns.",
            needs: "syncStates",
            otherwise: (
                "An order by the state is refused.",
                { trial in
                    let world = try await StateWorld(trial, StateWorld.rows(8))
                    try await trial.expectError(.invalidQuery, from: "an order by the state") {
                        _ = try await world.store.read { try $0.records(orderedByState) }
                    }
                }
            )
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(20))
            try await world.expect(orderedByState)
            try await world.expect(orderedByState.includingSyncStates().skipping(4).limited(to: 10))
            try await world.expect(
                Query("items").ordered(by: "int").ordered(by: Column.syncState.name, .descending).selecting(["text"])
            )
        },
        rule(
            "state.refusals",
            "For rows of the app's tables in the local store: a query with it cannot be sent to a server.",
            in: "Column/syncState",
            "Asks for the states of operations, selects the state as a column, and searches it for words."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(8))
            let name = Column.syncState.name
            for query in [
                Query(SystemTables.operations.name).includingSyncStates(),
                Query(SystemTables.configuration.name).filtered(by: Column.syncState == .synced),
                Query("items").selecting([name]), Query("items").selecting([name]).includingSyncStates(),
                Query("items").filtered(by: .matches(words: "pending", in: [name]) || Column.syncState == .pending),
            ] {
                try await trial.expectError(.invalidQuery, from: "query \(shown(query))") {
                    _ = try await world.store.read { try $0.records(query) }
                }
            }
        },
    ]

    private static let orderedByState = Query("items").ordered(by: Column.syncState.name)

    private static func randomLeaf(_ random: inout RandomRows) -> QueryPredicate {
        let states = SyncState.allCases.filter { _ in random.random.chance(40) }
        let name = Column(Column.syncState.name)
        switch Int.random(in: 0..<6, using: &random.random) {
        case 0: return Column.syncState == (states.first ?? .synced)
        case 1: return Column.syncState != (states.last ?? .pending)
        case 2: return Column.syncState.isAny(of: states)
        case 3: return name.starts(with: "p")
        case 4: return name.appending("!") == "synced!"
        default: return name < Column("text")
        }
    }
}
