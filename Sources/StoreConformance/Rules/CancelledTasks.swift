internal import ConformanceRunner
internal import SyncContract

/// What a cancellation in the middle of a closure does to the calls after it.
extension StoreRules {
    static let cancelledTasks: [StoreRule] = [
        rule(
            "transaction.cancelled-while-reading",
            "A store may end a read that its task is cancelled during, with the same error.",
            in: "SyncContextDataSource",
            "Cancels its own task in the middle of a walk over 1,200 rows, and before rows, a count, a sum and a search, in reads:"
                + " each gives all, or CancellationError, and never a part."
        ) { trial in
            let store = try await cancellableStore(trial)
            for look in Look.allCases {
                let outcome = await trial.outcome { task in
                    do {
                        return try await store.read { try $0.number(by: look, cancelling: task) }
                    } catch is CancellationError {
                        return "1200"
                    }
                }
                trial.expect(
                    outcome == "1200",
                    "\(look.rawValue), in a read whose task is cancelled meanwhile",
                    expected: "1200, or CancellationError",
                    got: outcome
                )
            }
        },
        rule(
            "transaction.cancelled-while-writing",
            "A write whose closure has begun is not ended by it: what the closure writes and returns is kept",
            in: "SyncContextDataSource",
            "Does the same in writes, where each gives all; and writes 1,200 rows and deletes as many in writes whose task was"
                + " cancelled before: all are written and deleted."
        ) { trial in
            let store = try await cancellableStore(trial)
            for look in Look.allCases {
                let outcome = await trial.outcome { task in
                    try await store.write { try $0.number(by: look, cancelling: task) }
                }
                trial.expect(outcome, equals: "1200", "\(look.rawValue), in a write whose task is cancelled meanwhile")
            }
            let rows = rows(of: "more")
            let written = await trial.outcome { task in
                try await store.write { transaction in
                    task.cancel()
                    try transaction.upsert(rows, into: "other")
                    return "\(try transaction.count(Query("other")))"
                }
            }
            trial.expect(written, equals: "2400", "the rows after 1,200 were written in a write of a cancelled task")
            let deleted = await trial.outcome { task in
                try await store.write { transaction in
                    task.cancel()
                    return "\(try transaction.delete(Query("other").filtered(by: Column("text") == "row")))"
                }
            }
            trial.expect(deleted, equals: "1200", "the rows that a write of a cancelled task deletes")
            let count = try await store.read { try $0.count(Query("other")) }
            trial.expect(count, equals: 1_200, "the rows after both writes")
        },
    ]

    private static func rows(of text: String) -> [Record] {
        (0..<1_200).map { Record(id: .string("\(text) \($0)"), ["text": .string(text), "int": 1]) }
    }

    private static func cancellableStore(_ trial: StoreTrial) async throws -> any SyncContextDataSource {
        let store = try await trial.makeStore()
        try await store.upsert(rows(of: "row"), table: "other")
        return store
    }
}

/// A call that goes through all rows.
private enum Look: String, CaseIterable {
    case walk = "a walk"
    case rows = "the rows of a query"
    case count = "a count"
    case sum = "a sum"
    case words = "a search for words"
}

extension StoreReading where Self: ~Copyable {
    /// Makes a call and cancels its task before it, or in its middle, and gives the number that comes out.
    fileprivate mutating func number(by look: Look, cancelling task: OwnTask) throws -> String {
        let all = Query("other")
        if look != .walk { task.cancel() }
        switch look {
        case .walk:
            var count = 0
            try forEach(all) { _ in
                count += 1
                if count == 10 { task.cancel() }
            }
            return "\(count)"
        case .rows: return "\(try records(all.ordered(by: "int", .descending)).count)"
        case .count: return "\(try count(all.filtered(by: Column("text") == "row")))"
        case .sum: return "\(try aggregate(all.aggregating(.sum(of: "int"))).first?.values.first?.int64Value ?? 0)"
        case .words: return "\(try records(all.filtered(by: Column("text").matches(words: "ROW"))).count)"
        }
    }
}
