internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    private static let oneByOne =
        "What transactions did is as if they had run one by one, in an order in which each comes after all that had"
        + " returned before it began."

    /// Random transactions of several clients, and what they saw held against every order in which they may have run.
    static let histories: [StoreRule] = [
        history(
            "concurrency.history-of-writers",
            oneByOne,
            "looks for updates that were lost, own writes that were not read, and transactions that fit into no order.",
            [.lostUpdate, .lostOwnWrite, .writeSkew]
        ),
        history(
            "concurrency.history-of-reads",
            "sees the state of one instant: never half a transaction",
            "looks for reads of what was rolled back, of the middle of a transaction, of half of one, of two numbers in one"
                + " row, and of numbers that nobody wrote.",
            [.inventedValue, .dirtyRead, .intermediateRead, .nonRepeatableRead, .halfCommit]
        ),
        history(
            "concurrency.history-in-time",
            "and always every write that had returned before the read began.",
            "looks for reads of what had been replaced before they began, where nothing else is wrong.",
            [.staleRead]
        ),
    ]

    private static func history(
        _ id: String,
        _ sentence: String,
        _ search: String,
        _ anomalies: Set<Anomaly>
    ) -> StoreRule {
        rule(
            id,
            sentence,
            in: "SyncContextDataSource",
            "Four clients run 120 random transactions on 5 rows, reads and writes of which some throw, in 3 stores. Writes"
                + " down what each saw and when, and " + search + " Leaves out of a failure what it does not need."
        ) { trial in
            var random = trial.random()
            for _ in 0..<3 {
                let plan = HistoryPlan(&random, each: 30)
                guard var found = try await finding(trial, plan.transactions, anomalies) else { continue }
                var count = plan.transactions.count
                // Shorter plans are for whoever reads it; what was seen once is a fault, whether or not it comes again.
                _ = try await shrunk(plan.transactions, tries: 60) { transactions in
                    // What depends on how tasks take turns does not come each time.
                    for _ in 0..<2 {
                        guard let again = try await finding(trial, transactions, anomalies) else { continue }
                        (found, count) = (again, transactions.count)
                        return true
                    }
                    return false
                }
                return report(trial, found, count)
            }
        }
    }

    private static func finding(
        _ trial: StoreTrial,
        _ transactions: [HistoryPlan.Transaction],
        _ anomalies: Set<Anomaly>
    ) async throws -> HistoryCheck.Finding? {
        let store = try await trial.makeStore([.other])
        let history = try await HistoryPlan(transactions).run(on: store)
        return HistoryCheck(history).findings.first { anomalies.contains($0.anomaly) }
    }

    private static func report(_ trial: StoreTrial, _ found: HistoryCheck.Finding, _ count: Int) {
        trial.report(
            "\(count) transactions of \(HistoryPlan.clients) clients, among them "
                + found.story.map(\.description).joined(separator: "; "),
            expected: "what they did is as if they had run one by one",
            got: found.anomaly.rawValue
        )
    }
}
