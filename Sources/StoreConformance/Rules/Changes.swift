internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let changeSource = "SyncContextDataSource/changes()"
    static let notDelivered =
        "A transaction that was rolled back, wrote nothing, or deleted only absent rows is not delivered; writing"
        + " values equal to the stored ones is."

    static let changes: [StoreRule] = delivery + silence + subscribers

    private static let delivery: [StoreRule] = [
        rule(
            "changes.names-tables",
            "The tables in which a row was written or deleted, system tables included. Never empty.",
            in: "StoreChange",
            "Writes to one table, to two and to ten, deletes, and deletes a row that the same transaction inserted: each change names"
                + " exactly the tables that were touched."
        ) { trial in
            let many = (0..<10).map { TableDefinition("many\($0)", columns: [.init("int", .int64)]) }
            let store = try await trial.makeStore(TableDefinition.standard + many)
            let feed = store.changes()
            try await store.upsert([Record(id: "a"), Record(id: "b")], table: "items")
            await trial.expectChange(feed, ["items"], "upsert into 'items'")
            try await store.write { transaction in
                try transaction.upsert([Record(id: "a")], into: "other")
                try transaction.upsert([Record(id: "a")], into: "folding")
                _ = try transaction.records(Query("items"))
            }
            await trial.expectChange(feed, ["folding", "other"], "upsert into 'other' and 'folding', read 'items'")
            try await store.deleteItems(withIDs: ["a"], table: "items")
            await trial.expectChange(feed, ["items"], "delete 'a' from 'items'")
            try await store.delete(Query("items"))
            await trial.expectChange(feed, ["items"], "delete all rows of 'items'")
            try await store.write { transaction in
                for table in many { try transaction.upsert([Record(id: "a")], into: table.name) }
            }
            await trial.expectChange(feed, many.map(\.name), "upsert into ten tables")
            try await store.write { transaction in
                try transaction.upsert([Record(id: "b")], into: "items")
                try transaction.upsert([Record(id: "b")], into: "other")
                try transaction.delete(["b"], from: "items")
            }
            await trial.expectChange(feed, ["items", "other"], "upsert into 'items' and 'other', delete from 'items'")
        },
        rule(
            "changes.deletes",
            "The tables in which a row was written or deleted, system tables included. Never empty.",
            in: "StoreChange",
            "Deletes by id, by query, and by a query with a limit, beside a write to another table: each is delivered."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert((0..<9).map { Record(id: .string("\($0)")) }, table: "items")
            let feed = store.changes()
            try await store.deleteItems(withIDs: ["0"], table: "items")
            await trial.expectChange(feed, ["items"], "delete one id from 'items'")
            try await store.delete(Query("items").filtered(by: Column("id") == "1"))
            await trial.expectChange(feed, ["items"], "delete one row of 'items' by a condition")
            try await store.delete(Query("items").limited(to: 2))
            await trial.expectChange(feed, ["items"], "delete two rows of 'items' by a limit")
            try await store.write { transaction in
                try transaction.upsert([Record(id: "o")], into: "other")
                try transaction.delete(Query("items"))
            }
            await trial.expectChange(feed, ["items", "other"], "write to 'other' and delete all rows of 'items'")
        },
        rule(
            "changes.inserts",
            notDelivered,
            in: changeSource,
            "Inserts a row: its table is told. Inserts its id again, and then writes to another table: only that one is told."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            _ = try await store.write { try $0.insert(Record(id: "a"), into: "items") }
            await trial.expectChange(feed, ["items"], "insert 'a' into 'items'")
            _ = try await store.write { try $0.insert(Record(id: "a", ["int": 1]), into: "items") }
            try await store.upsert([Record(id: "o")], table: "other")
            await trial.expectChange(feed, ["other"], "insert 'a' into 'items' once more, then write to 'other'")
            try await store.write { transaction in
                _ = try transaction.insert(Record(id: "a"), into: "items")
                _ = try transaction.insert(Record(id: "a"), into: "folding")
            }
            await trial.expectChange(feed, ["folding"], "insert 'a' into 'items', where it is, and into 'folding'")
        },
        rule(
            "changes.system-tables",
            "The tables in which a row was written or deleted, system tables included. Never empty.",
            in: "StoreChange",
            "Writes to the table of operations beside an app's table, and to it alone."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            let operations = store.operationTableName
            try await store.write { transaction in
                try transaction.upsert([Record(id: "a")], into: "items")
                try transaction.upsert([Record(id: 1)], into: operations)
            }
            await trial.expectChange(feed, ["items", operations], "upsert into 'items' and the operations")
            try await store.delete(Query(operations))
            await trial.expectChange(feed, [operations], "delete the operations")
            try await store.upsert([Record(id: "t")], table: store.configTableName)
            await trial.expectChange(feed, [store.configTableName], "upsert into the configuration")
        },
        rule(
            "changes.before-write-returns",
            "A change is delivered after its commit and before `write` returns",
            in: changeSource,
            "Writes to two tables, one after the other, and only then reads the feed: the first element names both."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            for _ in 0..<30 {
                try await store.upsert([Record(id: "a")], table: "items")
                try await store.upsert([Record(id: "a")], table: "other")
                let input = "upsert into 'items', then into 'other', then read"
                guard await trial.expectChange(feed, ["items", "other"], input) else { return }
            }
        },
        rule(
            "changes.after-commit",
            "A change is delivered after its commit and before `write` returns",
            in: changeSource,
            "Looks at the feed inside the closure, after writing: nothing may be there yet. Looks again afterwards."
        ) { trial in
            let store = try await trial.makeStore()
            let early = store.changes()
            let feed = store.changes()
            let isEarly = try await store.write { transaction in
                try transaction.upsert([Record(id: "a")], into: "items")
                return hasElement(early)
            }
            trial.expect(isEarly, equals: false, "whether a change is delivered inside the closure, before the commit")
            await trial.expectChange(feed, ["items"], "the change after that commit")
        },
        rule(
            "changes.state-is-there",
            "a read that begins after the delivery sees it",
            in: changeSource,
            "A task reads a number whenever a change comes, while another raises it: it sees the last one."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            let last: Int64 = 50
            let follower = Task {
                for await _ in feed {
                    do {
                        if try await store.read(table: "items", itemID: "n")?["int"] == .int64(last) { return true }
                    } catch {
                        trial.report("read after a change", expected: "no error", got: brief(error))
                        return false
                    }
                }
                return false
            }
            for number in 1...last {
                try await store.upsert([Record(id: "n", ["int": .int64(number)])], table: "items")
            }
            let sawLast = await trial.patiently { await follower.value }
            follower.cancel()
            trial.expect(
                sawLast == true,
                "read the number after each change",
                expected: "the last number is seen after a change",
                got: "it is not"
            )
        },
        rule(
            "changes.merge",
            "changes that were not read yet merge into one.",
            in: changeSource,
            "Writes 30 times to three tables without reading: one change names them all, and no second one comes."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            for number in 0..<30 {
                try await store.upsert([Record(id: "a")], table: ["items", "folding", "other"][number % 3])
            }
            await trial.expectChange(feed, ["folding", "items", "other"], "30 writes to three tables, then read")
            try await store.upsert([Record(id: "b")], table: "other")
            await trial.expectChange(feed, ["other"], "one more write to 'other', then read")
        },
        rule(
            "changes.equal-values",
            notDelivered,
            in: changeSource,
            "Writes the values that are there already: it counts as a change."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
            let feed = store.changes()
            try await store.upsert([Record(id: "a", ["int": 1])], table: "items")
            await trial.expectChange(feed, ["items"], "upsert of the values that are stored")
            try await store.upsert([Record(id: "a")], table: "items")
            await trial.expectChange(feed, ["items"], "upsert of an id that is stored")
        },
    ]

    private static let subscribers: [StoreRule] = [
        rule(
            "changes.subscribed-at-once",
            "The subscription exists when this returns.",
            in: changeSource,
            "Subscribes and writes at once, before anything of the stream was read."
        ) { trial in
            let store = try await trial.makeStore()
            for number in 0..<20 {
                let feed = store.changes()
                try await store.upsert([Record(id: .string("\(number)"))], table: "items")
                guard await trial.expectChange(feed, ["items"], "subscribe, write to 'items', then read") else {
                    return
                }
            }
        },
        rule(
            "changes.from-now-on",
            "What committed transactions touch from now on.",
            in: changeSource,
            "Writes to one table, subscribes, and writes to another: only the other is delivered."
        ) { trial in
            let store = try await trial.makeStore()
            let first = store.changes()
            try await store.upsert([Record(id: "a")], table: "items")
            let feed = store.changes()
            try await store.upsert([Record(id: "a")], table: "other")
            await trial.expectChange(feed, ["other"], "write to 'items', subscribe, write to 'other'")
            await trial.expectChange(first, ["items", "other"], "the same for who subscribed before")
        },
        rule(
            "changes.after-opening-again",
            "What committed transactions touch from now on.",
            in: changeSource,
            "Closes the store and opens it: a new feed begins with nothing and tells of the next write.",
            needs: "durable"
        ) { trial in
            try await trial.writeAndClose(TableDefinition.standard, [Record(id: "a")])
            let store = try await trial.reopen()
            let feed = store.changes()
            try await store.deleteItems(withIDs: ["absent"], table: "items")
            try await store.upsert([Record(id: "a")], table: "other")
            await trial.expectChange(feed, ["other"], "write to 'other' after opening")
        },
        rule(
            "changes.any-number",
            "Any number of subscribers may listen.",
            in: changeSource,
            "Subscribes 20 times; each gets every change, however the others read."
        ) { trial in
            let store = try await trial.makeStore()
            let feeds = (0..<20).map { _ in store.changes() }
            try await store.upsert([Record(id: "a")], table: "items")
            for feed in feeds.prefix(10) {
                guard await trial.expectChange(feed, ["items"], "one of 20 subscribers") else { return }
            }
            try await store.upsert([Record(id: "a")], table: "other")
            for (number, feed) in feeds.enumerated() {
                let input = "one of 20 subscribers that \(number < 10 ? "has" : "has not") read the change before"
                guard await trial.expectChange(feed, number < 10 ? ["other"] : ["items", "other"], input) else {
                    return
                }
            }
        },
        rule(
            "changes.cancelled-subscriber",
            "Any number of subscribers may listen.",
            in: changeSource,
            "Cancels a task that waits for a change, and drops another stream: a third goes on."
        ) { trial in
            let store = try await trial.makeStore()
            let feed = store.changes()
            let cancelled = store.changes()
            let waiting = Task { for await _ in cancelled {} }
            do { _ = store.changes() }
            waiting.cancel()
            let ended: Void? = await trial.patiently { await waiting.value }
            trial.expect(
                ended != nil,
                "cancel the task that waits for a change",
                expected: "its stream ends",
                got: "it waits on"
            )
            try await store.upsert([Record(id: "a")], table: "items")
            await trial.expectChange(feed, ["items"], "write after another subscriber was cancelled")
        },
        rule(
            "changes.end-on-close",
            "The stream ends when the store is closed.",
            in: changeSource,
            "Closes the store: what was not read is delivered or not, then every stream ends."
        ) { trial in
            let store = try await trial.makeStore()
            let feeds = [store.changes(), store.changes()]
            try await trial.subject.close(store)
            for feed in feeds + [store.changes()] {
                let change = await trial.nextChange(feed)
                trial.expect(change, equals: "the end", "what a stream gives when the store is closed")
            }
        },
    ]

    /// Whether a stream gives an element without waiting.
    private static func hasElement(_ stream: AsyncStream<StoreChange>) -> Bool {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, *) else { return false }
        let found = Shared(Mutex(false))
        // Runs at once until it has to wait: what is there already is taken, nothing is waited for.
        let task = Task.immediate {
            var iterator = stream.makeAsyncIterator()
            if await iterator.next(isolation: nil) != nil { found.value.withLock { $0 = true } }
        }
        task.cancel()
        return found.value.withLock { $0 }
    }
}

extension Trial where Subject == StoreSubject {
    /// The next element of a feed as text.
    func nextChange(_ stream: AsyncStream<StoreChange>) async -> String {
        let change = await patiently {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
        return switch change {
        case .none: "nothing"
        case .some(.none): "the end"
        case .some(.some(let change)): "a change of [\(change.tables.sorted().joined(separator: ", "))]"
        }
    }

    /// Reports when the next element of a feed does not name exactly these tables. A rule that repeats itself ends
    /// then: what never comes is waited for every time.
    ///
    /// - Returns: Whether it was right.
    @discardableResult
    func expectChange(_ stream: AsyncStream<StoreChange>, _ tables: [String], _ input: String) async -> Bool {
        let expected = "a change of [\(tables.sorted().joined(separator: ", "))]"
        let got = await nextChange(stream)
        expect(got, equals: expected, input)
        return got == expected
    }
}
