internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let failures: [StoreRule] = [
        rule(
            "failure.never-an-empty-result",
            "No failure is reported as an empty result.",
            in: "SyncContextDataSource",
            "Does 9 things that must fail, in transactions of their own: each throws a StoreError."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a")], table: "items")
            let wrong = Query("items").filtered(by: Column("absent") == 1)
            try await trial.expectError(.tableNotFound, from: "read(Query(\"absent\"))") {
                _ = try await store.read(Query("absent"))
            }
            try await trial.expectError(.tableNotFound, from: "read(table: \"absent\", itemID: \"a\")") {
                _ = try await store.read(table: "absent", itemID: "a")
            }
            try await trial.expectError(.tableNotFound, from: "upsert(…, table: \"absent\")") {
                try await store.upsert([Record(id: "a")], table: "absent")
            }
            try await trial.expectError(.tableNotFound, from: "deleteItems(…, table: \"absent\")") {
                try await store.deleteItems(withIDs: ["a"], table: "absent")
            }
            try await trial.expectError(.invalidQuery, from: "read(\(shown(wrong)))") {
                _ = try await store.read(wrong)
            }
            try await trial.expectError(.invalidQuery, from: "count(\(shown(wrong)))") {
                _ = try await store.read { try $0.count(wrong) }
            }
            try await trial.expectError(.invalidQuery, from: "first(\(shown(wrong)))") {
                _ = try await store.read { try $0.first(wrong) }
            }
            try await trial.expectError(.invalidQuery, from: "delete(\(shown(wrong)))") {
                try await store.delete(wrong)
            }
            try await trial.expectError(.invalidRecord, from: "upsert of text into an int64 column") {
                try await store.upsert([Record(id: "b", ["int": "text"])], table: "items")
            }
            trial.expectIDs(try await store.read(Query("items")).records, ["a"], "rows after 9 failures")
        },
        rule(
            "failure.inside-a-transaction",
            "an error thrown by the closure is rethrown as it is.",
            in: "SyncContextDataSource",
            "Lets the error of a refused call through the closure of a longer transaction: nothing of it is kept."
        ) { trial in
            let store = try await trial.makeStore()
            let input = "a transaction whose third call is refused"
            try await trial.expectError(.tableNotFound, from: input) {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "a")], into: "items")
                    try transaction.upsert([Record(id: "b")], into: "other")
                    _ = try transaction.records(Query("absent"))
                }
            }
            trial.expectIDs(try await store.read(Query("items")).records, [], input + ", rows of items")
            trial.expectIDs(try await store.read(Query("other")).records, [], input + ", rows of other")
        },
        rule(
            "failure.store-goes-on",
            "Failures are thrown as `StoreError` with the codes named at each method;",
            in: "SyncContextDataSource",
            "After each of several failures, writes and reads a row."
        ) { trial in
            let store = try await trial.makeStore()
            let failing: [@Sendable () async throws -> Void] = [
                { _ = try await store.read(Query("absent")) },
                { _ = try await store.read(Query("items").limited(to: -1)) },
                { try await store.upsert([Record(id: "x"), Record(id: "y", ["int": "text"])], table: "items") },
                { try await store.write { _ in throw OwnError(number: 1) } },
                { try await store.read { try $0.forEach(Query("items")) { _ in throw OwnError(number: 2) } } },
                { try await store.deleteItems(withIDs: [5], table: "items") },
            ]
            for (number, fail) in failing.enumerated() {
                do {
                    try await fail()
                } catch is StoreError {
                    // Other rules judge what is thrown; this one judges the store afterwards.
                } catch is OwnError {
                    // The same.
                }
                try await trial.expectStored([Record(id: "a", ["int": .int64(Int64(number))])], in: .items, store)
            }
        },
        rule(
            "failure.no-content-in-messages",
            "It never holds row content or secrets.",
            in: "StoreError",
            "Has values refused, in records and in queries, and looks for them in the messages of the errors."
        ) { trial in
            let store = try await trial.makeStore()
            let secret = "S3CR3T"
            let records = [
                Record(id: "a", ["int": .string(secret)]), Record(id: "a", ["date": .json("\"\(secret)\"")]),
                Record(id: "a", ["bool": .bytes(Array(secret.utf8)), "text": .string(secret)]),
                Record(id: "a", ["text": .decimal("73577357")]),
            ]
            var errors: [any Error] = []
            for record in records {
                do {
                    try await store.upsert([record], table: "items")
                } catch {
                    errors.append(error)
                }
            }
            for query in [
                Query("items").filtered(by: Column("absent") == .string(secret)),
                Query("items").filtered(by: Column("text") == .string(secret)).limited(to: -1),
            ] {
                do {
                    _ = try await store.read(query)
                } catch {
                    errors.append(error)
                }
            }
            trial.expect(errors.count, equals: 6, "the number of errors for four records and two queries")
            for error in errors {
                let text = "\(error)"
                let isHidden = !text.contains(secret) && !text.contains("73577357")
                trial.expect(isHidden, "refuse a value", expected: "a message without the value", got: brief(text))
                let message = (error as? StoreError)?.message ?? ""
                trial.expect(!message.isEmpty, "refuse a value", expected: "a message", got: brief(text))
            }
        },
        rule(
            "failure.closed-store-refuses",
            "`closed` after the store was closed;",
            in: "SyncContextDataSource/read(_:)",
            "Closes a store and then reads, queries and writes."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a")], table: "items")
            try await trial.subject.close(store)
            try await trial.expectError(.closed, from: "read by id from a closed store") {
                _ = try await store.read(table: "items", itemID: "a")
            }
            try await trial.expectError(.closed, from: "query a closed store") {
                _ = try await store.read(Query("items"))
            }
            try await trial.expectError(.closed, from: "write to a closed store") {
                try await store.upsert([Record(id: "b")], table: "items")
            }
        },
        rule(
            "failure.close-beside-writes",
            "`closed` after the store was closed;",
            in: "SyncContextDataSource/read(_:)",
            "Closes a store while 20 tasks write: each write either succeeds or throws closed."
        ) { trial in
            let store = try await trial.makeStore()
            let subject = trial.subject
            let mayClose = Shared(Mutex<Unsupported?>(nil))
            await withTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        do {
                            try await store.upsert([Record(id: .string("\(number)"))], table: "items")
                        } catch {
                            let code = (error as? StoreError)?.code
                            trial.expect(
                                code == .closed,
                                "write while the store is closed",
                                expected: "no error or .closed",
                                got: brief(error)
                            )
                        }
                    }
                    if number == 10 {
                        group.addTask {
                            do {
                                try await subject.close(store)
                            } catch let error as Unsupported {
                                mayClose.value.withLock { $0 = error }
                            } catch {
                                trial.report("close beside writes", expected: "no error", got: brief(error))
                            }
                        }
                    }
                }
            }
            if let reason = mayClose.value.withLock({ $0 }) { throw reason }
        },
    ]
}
