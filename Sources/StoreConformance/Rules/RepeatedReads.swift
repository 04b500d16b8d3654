internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let repeatedReads: [StoreRule] = [
        rule(
            "read.short-reads-follow-writes",
            "always every write that had returned before the read began.",
            in: "SyncContextDataSource",
            "Runs the same queries and reads by id without a closure again after each of several writes, to their table, to the"
                + " operations alone and to another table: every answer is that of a closure."
        ) { trial in
            let world = try await StateWorld(trial, StateWorld.rows(6), [])
            let store = world.store
            let items = Query("items")
            let waiting = items.filtered(by: Column.syncState != .synced)
            var counted = waiting.limited(to: 1)
            counted.includesTotalCount = true
            let queries = [
                items, items.includingSyncStates(), waiting, counted, items.filtered(by: Column("int") == 1),
                items.selecting(["int"]).includingSyncStates(), Query("other"), Query(store.operationTableName),
            ]
            let operations = SystemTables.operations.name
            let (pending, conflicted) = (StateWorld.operations[0], StateWorld.operations[1])
            let writes: [(String, @Sendable (inout StoreTransaction) throws -> Void)] = [
                ("nothing", { _ in }),
                (
                    "an operation",
                    { try $0.upsert([StateWorld.operation(1, "1", in: .items, pending)], into: operations) }
                ),
                (
                    "another state",
                    { try $0.upsert([StateWorld.operation(1, "1", in: .items, conflicted)], into: operations) }
                ),
                ("the end of the operation", { try $0.delete([1], from: operations) }),
                ("a row", { try $0.upsert([Record(id: "1", ["int": 7])], into: "items") }),
                ("another table", { try $0.upsert([Record(id: "1", ["int": 1])], into: "other") }),
                ("the end of a row", { try $0.delete(["1"], from: "items") }),
            ]
            for (name, write) in writes {
                try await store.write { try write(&$0) }
                for query in queries {
                    let expected = try await store.read { try $0.read(query) }
                    let got = try await store.read(query)
                    let input = "query \(shown(query)) without a closure, after writing \(name)"
                    trial.expectRows(got.records, expected.records, input)
                    trial.expect(got.totalCount, equals: expected.totalCount, input + ", its total count")
                }
                let expected = try await store.read { try $0.record("1", in: "items") }
                let got = try await store.read(table: "items", itemID: "1")
                trial.expectRow(got, expected, "read '1' without a closure, after writing \(name)")
            }
        }
    ]
}
