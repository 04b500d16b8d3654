internal import ConformanceRunner
internal import Synchronization
internal import SyncContract

/// Transactions that clients are to run, as chance has it.
struct HistoryPlan: Sendable {
    enum Step: Sendable {
        case read(Int)
        /// Reads a row and writes another number into it.
        case write(Int)
        /// Reads all rows by a query.
        case scan
    }

    struct Transaction: Sendable {
        var client: Int
        var number: Int
        var steps: [Step]
        var writes: Bool
        var throwsAtEnd: Bool
    }

    static let rows = 5
    static let clients = 4

    var transactions: [Transaction]

    /// A plan of so many transactions for each client.
    init(_ random: inout SeededRandom, each count: Int) {
        transactions = []
        for client in 0..<Self.clients {
            for number in 0..<count {
                let writes = random.chance(65)
                var steps: [Step] = []
                for _ in 0..<Int.random(in: 2...5, using: &random) {
                    let row = Int.random(in: 0..<Self.rows, using: &random)
                    if writes, random.chance(50) {
                        steps.append(.write(row))
                    } else {
                        steps.append(random.chance(25) ? .scan : .read(row))
                    }
                }
                transactions.append(
                    Transaction(
                        client: client,
                        number: number,
                        steps: steps,
                        writes: writes,
                        throwsAtEnd: writes && random.chance(20)
                    )
                )
            }
        }
    }

    init(_ transactions: [Transaction]) { self.transactions = transactions }

    /// Runs the transactions, the clients at once, then reads everything once more, and writes down what happened.
    ///
    /// - Throws: What a transaction throws that was not told to.
    func run(on store: any SyncContextDataSource) async throws -> History {
        let clock = Shared(Mutex(0))
        @Sendable func tick() -> Int {
            clock.value.withLock { time in
                time += 1
                return time
            }
        }
        var made = try await withThrowingTaskGroup(of: [History.Transaction].self) { group in
            for client in 0..<Self.clients {
                let planned = transactions.filter { $0.client == client }
                group.addTask {
                    var made: [History.Transaction] = []
                    for transaction in planned {
                        made.append(try await Self.run(transaction, on: store, tick))
                        await Task.yield()
                    }
                    return made
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let last = Transaction(client: Self.clients, number: 0, steps: [.scan], writes: false, throwsAtEnd: false)
        made.append(try await Self.run(last, on: store, tick))
        return History(transactions: made)
    }

    private static func run(
        _ planned: Transaction,
        on store: any SyncContextDataSource,
        _ tick: @Sendable () -> Int
    ) async throws -> History.Transaction {
        let steps = Shared(Mutex<[History.Step]>([]))
        var made = History.Transaction(client: planned.client, number: planned.number)
        made.begun = tick()
        if planned.writes {
            do {
                try await store.write { transaction in
                    steps.value.withLock { $0 = [] }
                    for (position, step) in planned.steps.enumerated() {
                        let read = try Self.read(step, &transaction)
                        steps.value.withLock { $0 += read }
                        guard case .write(let row) = step else { continue }
                        let number = Int64((planned.client * 1_000 + planned.number) * 100 + position + 1)
                        let record = Record(id: .string(History.name(row)), ["int": .int64(number)])
                        try transaction.upsert([record], into: "other")
                        steps.value.withLock { $0.append(.wrote(row: row, number)) }
                    }
                    if planned.throwsAtEnd { throw OwnError(number: planned.number) }
                }
            } catch is OwnError where planned.throwsAtEnd {
                made.isKept = false
            }
        } else {
            try await store.read { reader in
                steps.value.withLock { $0 = [] }
                for step in planned.steps {
                    let read = try Self.read(step, &reader)
                    steps.value.withLock { $0 += read }
                }
            }
        }
        made.ended = tick()
        made.steps = steps.value.withLock { $0 }
        return made
    }

    private static func read(_ step: Step, _ reader: inout some StoreReading & ~Copyable) throws -> [History.Step] {
        switch step {
        case .read(let row), .write(let row):
            let record = try reader.record(.string(History.name(row)), in: "other")
            return [.read(row: row, record?["int"]?.int64Value)]
        case .scan:
            let records = try reader.records(Query("other"))
            return (0..<rows)
                .map { row in
                    .read(row: row, records.first { $0.id == .string(History.name(row)) }?["int"]?.int64Value)
                }
        }
    }
}
