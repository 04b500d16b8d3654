internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

/// Stores whose key can be taken from memory, by the harness's functions for that.
extension StoreRules {
    static let locking: [StoreRule] = [
        rule(
            "locking.refuses",
            "The store is locked: its key is not in memory. Nothing of the call was done; unlock the store first.",
            in: "StoreError/Code/locked",
            "Locks a store, then reads, writes and asks in every way: each is refused and no closure runs. Unlocked, it has its rows"
                + " and takes others."
        ) { trial in
            let place = try trial.place()
            let store = try await trial.makeStore(at: place)
            try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
            try await trial.subject.lock(store)
            let runs = Shared(Mutex(0))
            let calls: [(String, @Sendable () async throws -> Void)] = [
                ("read by id", { _ = try await store.read(table: "items", itemID: "a") }),
                ("read a query", { _ = try await store.read(Query("items").limited(to: 1)) }),
                ("add up", { _ = try await store.aggregate(Query("items").aggregating(.count)) }),
                ("read", { try await store.read { _ in runs.value.withLock { $0 += 1 } } }),
                (
                    "write",
                    {
                        try await store.write { transaction in
                            runs.value.withLock { $0 += 1 }
                            try transaction.upsert([Record(id: "b")], into: "items")
                        }
                    }
                ), ("delete", { try await store.delete(Query("items")) }),
            ]
            for (name, call) in calls {
                try await trial.expectError(.locked, from: "\(name), in a locked store") { try await call() }
            }
            trial.expect(runs.value.withLock { $0 }, equals: 0, "closures that run in a locked store")
            try await trial.subject.unlock(store, place)
            trial.expectRows(
                try await store.read(Query("items")).records,
                [TableDefinition.items.filled(Record(id: "a", ["int": 1]))],
                "the rows of a store that was locked"
            )
            try await trial.expectStored([Record(id: "c", ["text": "x"])], in: .items, store)
        },
        rule(
            "locking.feeds",
            "A store that can be locked delivers a change of all tables when it is unlocked.",
            in: "SyncContextDataSource/changes()",
            "Locks and unlocks a store: each feed gives one change of all tables, and what is written after that."
        ) { trial in
            let place = try trial.place()
            let store = try await trial.makeStore(at: place)
            let feeds = [store.changes(), store.changes()]
            let all = store.schema.allTables.map(\.name)
            try await trial.subject.lock(store)
            try await trial.subject.unlock(store, place)
            for feed in feeds { await trial.expectChange(feed, all, "lock and unlock the store") }
            try await store.upsert([Record(id: "a")], table: "other")
            for feed in feeds { await trial.expectChange(feed, ["other"], "write after the store was unlocked") }
        },
        rule(
            "locking.live-queries",
            "While a store is locked there are no elements, and the sequence goes on after the unlocking, with the result of then"
                + " if it differs.",
            in: "StoreObservation",
            "Observes a table, and locks and unlocks the store before each look, twice after a write: the new results come, and the"
                + " sequence goes on."
        ) { trial in
            let place = try trial.place()
            let store = try await trial.makeStore(at: place)
            let rows = LiveQuery(store.observe(Query("other")))
            var counts: [String] = []
            for id: RecordID? in [nil, "a", "b"] {
                if let id { try await store.upsert([Record(id: id)], table: "other") }
                try await trial.subject.lock(store)
                try await trial.subject.unlock(store, place)
                // Making a key from a password takes as long as it takes; only the result has to be there.
                guard let result = await trial.patiently({ await rows.next() }) else {
                    counts.append("none")
                    break
                }
                counts.append(result.map { "\($0.records.count)" } ?? "the end")
            }
            trial.expect(counts, equals: ["0", "1", "2"], "the counts of rows that a live query gives")
        },
        rule(
            "locking.beside-writes",
            "The store is locked: its key is not in memory. Nothing of the call was done; unlock the store first.",
            in: "StoreError/Code/locked",
            "Locks a store while 20 tasks write, and writes once more: each write succeeds or throws locked, and when the store is"
                + " unlocked, it has the rows of those that succeeded."
        ) { trial in
            let place = try trial.place()
            let store = try await trial.makeStore(at: place)
            let kept = Shared(Mutex<Set<String>>([]))
            @Sendable func write(_ id: String) async {
                do {
                    try await store.upsert([Record(id: .string(id))], table: "items")
                    _ = kept.value.withLock { $0.insert(id) }
                } catch {
                    let isLocked = (error as? StoreError)?.code == .locked
                    trial.expect(isLocked, "write beside locking", expected: "no error or .locked", got: brief(error))
                }
            }
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { await write("\(number)") }
                    if number == 10 { group.addTask { [subject = trial.subject] in try await subject.lock(store) } }
                }
                try await group.waitForAll()
            }
            await write("behind")
            try await trial.subject.unlock(store, place)
            let ids = try await store.read(Query("items")).records.compactMap(\.id.stringValue)
            trial.expect(
                ids.sorted(),
                equals: kept.value.withLock { $0.sorted() },
                "the ids of the rows after locking beside 20 writes"
            )
        },
    ]
}
