internal import RemoteContract
internal import SyncContract

/// Sends the queue, operation by operation in ascending order.
///
/// Each operation takes two transactions: one marks it as attempted and reads what to send, one records the answer.
/// Between them the item may be edited; the edit counter tells.
struct PushRunner {
    let store: any SyncContextDataSource
    private let sender: OperationSender
    private let marks = UploadMarks()

    init(store: any SyncContextDataSource, remote: any SyncRemote) {
        self.store = store
        sender = OperationSender(
            remote: remote,
            storesUndeclaredColumns: store.capabilities.contains(.unknownColumns)
        )
    }

    /// Sends what is queued now. Operations queued meanwhile wait for the next push.
    func run() async throws -> PushReport {
        let requests = RequestCounter()
        var report = PushReport()
        do {
            try await requests.counting { try await sendAll(&report) }
            await marks.removeAll(in: store)
        } catch {
            await marks.removeAll(in: store)
            guard var error = error as? SyncError else { throw error }
            report.requests = requests.count
            error.push = report
            throw error
        }
        report.requests = requests.count
        return report
    }

    private func sendAll(_ report: inout PushReport) async throws {
        let schema = store.schema
        let last = try await store.read { try OperationQueue.highestNumber(&$0) }
        var forbidden = ForbiddenOperations()
        var number: Int64 = 0
        while let inFlight = try await next(after: number, through: last, schema) {
            number = inFlight.operation.id
            let outcome = try await sender.send(inFlight)
            for (earlier, outcome) in forbidden.release(inFlight, outcome) {
                if try await process(outcome, of: earlier, schema) { report.pushed += 1 }
            }
        }
        if let error = forbidden.onlyAnswer { throw error }
        let errors = try await store.read { try OperationErrorCoding.all(&$0, schema) }
        report.conflicts = errors.filter(\.isConflict)
        report.failures = errors.filter { !$0.isConflict }
    }

    /// Marks the next operation as attempted and reads what it sends.
    private func next(after number: Int64, through last: Int64, _ schema: StoreSchema) async throws
        -> InFlightOperation?
    {
        try Task.checkCancellation()
        return try await store.write { [marks] transaction in
            guard
                var operation = try OperationQueue.next(after: number, through: last, &transaction, schema),
                let table = schema.table(operation.table)
            else { return nil }
            let before = operation
            var row: Record?
            // A delete keeps what an insert or update before it has sent: it says whether that one arrived.
            if operation.kind != .delete {
                row = try transaction.record(.string(operation.itemID), in: table.name)
                    .map(table.withoutLocalColumns)
                if let row { operation.willSend(row.withoutSystemProperties()) }
            }
            operation.isAttempted = true
            if operation != before { try OperationQueue.save(operation, table, &transaction) }
            try marks.add(to: operation.id, &transaction)
            return InFlightOperation(
                operation: operation,
                table: table,
                row: row,
                before: before,
                shownColumns: try ConfigurationTable.shownColumns(of: table.name, &transaction)
            )
        }
    }

    /// Records an outcome, and sends again what is to be sent again. Returns whether the server has the change.
    private func process(
        _ outcome: PushOutcome,
        of inFlight: InFlightOperation,
        _ schema: StoreSchema
    ) async throws -> Bool {
        try await record(outcome, of: inFlight, schema)
        switch outcome {
        case .aborted(let error): throw error
        case .accepted: return true
        case .conflict, .refused, .unknown: return false
        case .sendAgain:
            let number = inFlight.operation.id
            guard var again = try await next(after: number - 1, through: number, schema) else { return false }
            again.repetitions = inFlight.repetitions + 1
            // The answer is known, and nothing else was sent since.
            again.before.isAttempted = false
            return try await process(try await sender.send(again), of: again, schema)
        }
    }

    private func record(_ outcome: PushOutcome, of inFlight: InFlightOperation, _ schema: StoreSchema) async throws {
        let recorder = ResponseRecorder(
            inFlight,
            storesUndeclaredColumns: store.capabilities.contains(.unknownColumns)
        )
        // What the server did must be recorded even when the task is being cancelled.
        let (marks, number) = (marks, inFlight.operation.id)
        try await uncancelled {
            try await store.write {
                try recorder.record(outcome, &$0, schema)
                try marks.remove(from: number, &$0)
            }
        }
        marks.answered(number)
    }
}

/// The operations at the beginning of a push that the server has forbidden (403), as long as it has not answered
/// anything else: then it is the user who may not write, and no fault of the changes.
private struct ForbiddenOperations {
    private var held: [(InFlightOperation, RemoteError)] = []
    private var hasOtherAnswers = false

    /// Takes an outcome in.
    ///
    /// - Returns: The outcomes that are to be recorded now.
    mutating func release(_ inFlight: InFlightOperation, _ outcome: PushOutcome) -> [(InFlightOperation, PushOutcome)] {
        switch outcome {
        case .refused(let error) where error.status == 403 && !hasOtherAnswers:
            held.append((inFlight, error))
            return []
        // Not sent, or not answered by the service.
        case .refused(let error) where error.status == nil: return [(inFlight, outcome)]
        case .aborted: return [(inFlight, outcome)]
        case .accepted, .conflict, .sendAgain, .refused, .unknown:
            hasOtherAnswers = true
            defer { held = [] }
            return held.map { ($0.0, .refused($0.1)) } + [(inFlight, outcome)]
        }
    }

    /// The end of a push that got no other answer.
    var onlyAnswer: SyncError? {
        guard let error = held.first?.1 else { return nil }
        return SyncError(
            .pushAbortedAuthentication,
            "The server forbids every change; sign in as somebody who may write and push: nothing was lost.",
            cause: error
        )
    }
}

/// Runs a body in a task of its own, so that cancelling the caller does not reach it.
func uncancelled<Value: Sendable>(_ body: sending @escaping () async throws -> Value) async throws -> Value {
    try await Task { try await body() }.value
}
