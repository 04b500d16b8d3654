internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

/// A store with rows, and with operations that give them states.
struct StateWorld {
    /// What stands in an operation, and the state that it means.
    struct Operation {
        var stored: FieldValue
        var push: FieldValue = .null
        let state: SyncState
    }

    /// Everything that can stand in an operation without a push that runs; the last number is of no version so far.
    static let operations: [Operation] = [
        Operation(stored: 0, state: .pending), Operation(stored: 1, state: .conflicted),
        Operation(stored: 2, state: .failed), Operation(stored: 3, state: .failed),
        Operation(stored: .null, state: .pending), Operation(stored: 77, state: .pending),
        Operation(stored: 0, push: 5, state: .pending),
    ]

    let trial: StoreTrial
    var store: any SyncContextDataSource
    let table: TableDefinition
    /// The rows with their states, as they must come back.
    private(set) var rows: [Record] = []

    /// Writes rows into a new store: the first has no operation, each of the others one of those given, by turns.
    init(
        _ trial: StoreTrial,
        _ records: [Record],
        _ operations: [Operation] = StateWorld.operations,
        in table: TableDefinition = .items
    ) async throws {
        self.trial = trial
        self.table = table
        store = try await trial.makeStore()
        var queue: [Record] = []
        for (index, record) in records.enumerated() {
            var row = table.filled(record)
            row.syncState = .synced
            let turn = index % (operations.count + 1)
            if turn > 0 {
                let operation = operations[turn - 1]
                row.syncState = operation.state
                queue.append(Self.operation(Int64(index), record.id, in: table, operation))
            }
            rows.append(row)
        }
        // One of another table, of an id that is here as well; one without a row; and one that has lost its key.
        queue.append(Self.operation(1_000, records[0].id, in: .other, Self.operations[1]))
        queue.append(Self.operation(1_001, "no row", in: table, Self.operations[0]))
        queue.append(Record(id: 1_002, ["table": .string(table.name), "state": 0]))
        let operationsOfRows = queue
        try await store.write { transaction in
            try transaction.upsert(records, into: table.name)
            try transaction.upsert(operationsOfRows, into: SystemTables.operations.name)
        }
    }

    /// An operation as the engine stores it.
    static func operation(
        _ number: Int64,
        _ id: RecordID,
        in table: TableDefinition,
        _ operation: Operation
    ) -> Record {
        Record(
            id: .int64(number),
            [
                "table": .string(table.name), "itemId": id.fieldValue,
                "itemKey": id.folded(for: table.idComparison).fieldValue, "state": operation.stored,
                "push": operation.push, "properties": .bytes(Array(#"{"type":1}"#.utf8)),
            ]
        )
    }

    /// Rows with the ids `0`, `1` and so on.
    static func rows(_ count: Int) -> [Record] {
        (0..<count).map { Record(id: .string("\($0)"), ["int": .int64(Int64($0 % 3))]) }
    }

    /// Reports when a query does not give the rows that it means, with their states if it asks for them, or counts others.
    func expect(_ query: Query) async throws {
        let evaluator = QueryEvaluator(table)
        let expected = try evaluator.evaluate(query, over: rows, answersSyncStates: true)
        var all = Query(table.name)
        all.predicate = query.predicate
        let count = try evaluator.evaluate(all, over: rows, answersSyncStates: true).count
        let read = try await store.read { (try $0.records(query), try $0.count(query)) }
        let written = try await store.write { (try $0.records(query), try $0.count(query)) }
        for (got, way) in [(read, ""), (written, " in a write transaction")] {
            trial.expectRows(got.0, expected, "query \(shown(query))\(way)")
            trial.expect(got.1, equals: count, "count of \(shown(query))\(way)")
        }
    }

    /// The same for a predicate alone.
    func expect(_ predicate: QueryPredicate) async throws {
        try await expect(Query(table.name).filtered(by: predicate))
    }
}
