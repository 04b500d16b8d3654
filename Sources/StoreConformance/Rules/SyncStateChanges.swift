internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    /// Reads states while and after transactions change them.
    static func expectStatesFollow(_ trial: StoreTrial) async throws {
        let world = try await StateWorld(trial, StateWorld.rows(4), [])
        let store = world.store
        let query = Query("items").includingSyncStates()
        let synced = [SyncState?](repeating: .synced, count: 4)
        let (pending, conflicted) = (StateWorld.operations[0], StateWorld.operations[1])
        for fails in [true, false] {
            do {
                let within = try await store.write { transaction in
                    try transaction.upsert(
                        [
                            StateWorld.operation(1, "1", in: .items, pending),
                            StateWorld.operation(2, "2", in: .items, conflicted),
                        ],
                        into: SystemTables.operations.name
                    )
                    let states = try transaction.records(query).map(\.syncState)
                    if fails { throw StateRollback(states: states) }
                    return states
                }
                trial.expect(
                    within,
                    equals: [.synced, .pending, .conflicted, .synced],
                    "states within the transaction"
                )
            } catch let rollback as StateRollback {
                trial.expect(
                    rollback.states,
                    equals: [.synced, .pending, .conflicted, .synced],
                    "states within the transaction that is rolled back"
                )
                let after = try await store.read { try $0.records(query) }.map(\.syncState)
                trial.expect(after, equals: synced, "states after the rollback")
            }
        }
        let feed = store.changes()
        try await store.delete(Query(SystemTables.operations.name))
        await trial.expectChange(feed, [SystemTables.operations.name], "the end of all operations: no row is written")
        let after = try await store.read { try $0.records(query) }.map(\.syncState)
        trial.expect(after, equals: synced, "states without operations")
    }

    /// Observes states while operations come and go.
    static func expectLiveStates(_ trial: StoreTrial) async throws {
        let world = try await StateWorld(trial, StateWorld.rows(4), [])
        let store = world.store
        let (pending, conflicted) = (StateWorld.operations[0], StateWorld.operations[1])
        let rows = LiveQuery(store.observe(Query("items").includingSyncStates()))
        let waiting = LiveQuery(store.observe(Query("items").filtered(by: Column.syncState != .synced)))
        let count = LiveQuery(store.observeCount(Query("items").filtered(by: Column.syncState == .conflicted)))
        func expect(_ states: [SyncState], _ ids: [RecordID], conflicts: Int?, _ moment: String) async {
            let got = await trial.patiently { await rows.next() } ?? nil
            trial.expect(got?.records.map(\.syncState), equals: states, "the states in a live query \(moment)")
            let found = await trial.patiently { await waiting.next() } ?? nil
            trial.expect(found?.records.map(\.id), equals: ids, "a live query of what is not synced \(moment)")
            guard let conflicts else { return }
            let counted = await trial.patiently { await count.next() } ?? nil
            trial.expect(counted, equals: conflicts, "a live count of conflicts \(moment)")
        }
        func write(_ number: Int64, _ id: RecordID, _ table: TableDefinition, _ operation: StateWorld.Operation)
            async throws
        {
            try await store.upsert(
                [StateWorld.operation(number, id, in: table, operation)],
                table: SystemTables.operations.name
            )
        }
        await expect([.synced, .synced, .synced, .synced], [], conflicts: 0, "at first")
        try await write(1, "1", .items, pending)
        await expect([.synced, .pending, .synced, .synced], ["1"], conflicts: nil, "after an operation")
        // Nothing in a result changes: what comes next is the state after it.
        try await write(2, "3", .other, pending)
        try await write(1, "1", .items, pending)
        try await write(3, "2", .items, conflicted)
        await expect([.synced, .pending, .conflicted, .synced], ["1", "2"], conflicts: 1, "after a conflict")
        try await store.deleteItems(withIDs: [1], table: SystemTables.operations.name)
        await expect(
            [.synced, .synced, .conflicted, .synced],
            ["2"],
            conflicts: nil,
            "after an operation was taken"
        )
    }
}

/// What a transaction saw that is to be rolled back.
private struct StateRollback: Error {
    let states: [SyncState?]
}
