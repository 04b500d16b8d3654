internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

/// One random transaction: what it writes and deletes, and whether it throws at its end.
struct RandomWork: Sendable {
    let number: Int
    private let steps: [(records: [Record], deleted: [RecordID])]
    private let fails: Bool

    init(_ number: Int, _ random: inout RandomRows) {
        self.number = number
        var steps: [(records: [Record], deleted: [RecordID])] = []
        for _ in 0..<Int.random(in: 1...6, using: &random.random) {
            var ids: [RecordID] = []
            for _ in 0..<3 { ids.append(.string("\(Int.random(in: 0..<15, using: &random.random))")) }
            if random.random.chance(40) {
                steps.append(([], ids))
            } else {
                steps.append((ids.map { random.record($0, columnsIn: 25) }, []))
            }
        }
        self.steps = steps
        fails = random.random.chance(50)
    }

    /// Does to a model what the transaction must do to the store.
    fileprivate func apply(to model: inout [RecordID: Record]) {
        guard !fails else { return }
        for step in steps {
            for record in step.records { model[record.id, default: Record(id: record.id)].merge(record) }
            for id in step.deleted { model[id] = nil }
        }
    }

    fileprivate func run(on store: any SyncContextDataSource) async throws {
        do {
            try await store.write { transaction in
                for step in steps {
                    try transaction.upsert(step.records, into: "items")
                    try transaction.delete(step.deleted, from: "items")
                }
                if fails { throw OwnError(number: number) }
            }
        } catch is OwnError {
            // The model stays as it was, as the store must.
        }
    }

    fileprivate var description: String {
        let words = steps.map { step in
            step.records.isEmpty
                ? "delete \(shown(step.deleted))" : "upsert " + step.records.map { shown($0) }.joined(separator: ", ")
        }
        return words.joined(separator: ", ") + (fails ? ", throw" : "")
    }
}

extension [RandomWork] {
    /// Where the rows of a new store first differ from those of a model.
    func firstFailure(_ trial: StoreTrial) async throws -> (number: Int, got: [Record], expected: [Record])? {
        let store = try await trial.makeStore()
        var model: [RecordID: Record] = [:]
        for work in self {
            try await work.run(on: store)
            work.apply(to: &model)
            let expected = try QueryEvaluator(.items)
                .evaluate(Query("items"), over: model.values.map { TableDefinition.items.filled($0) })
            let got = try await store.read(Query("items")).records
            if got != expected { return (work.number, got, expected) }
        }
        return nil
    }

    /// What was done up to a transaction, in words that stay short.
    func description(upTo number: Int) -> String {
        let done = filter { $0.number <= number }
        guard done.count <= 3 else { return "\(done.count) random transactions, the last of which is number \(number)" }
        return "one transaction after the other: " + brief(done.map(\.description).joined(separator: "; "))
    }
}
