internal import RemoteContract
internal import SyncContract

/// Sends the queue, operation by operation in ascending order.
///
/// Each operation takes two transactions: one marks it as attempted and reads what to send, one records the answer.
/// Between them the item may be edited; the edit counter tells.
struct PushRunner {
    let store: any SyncContextDataSource
    let remote: any SyncRemote

    /// Sends what is queued now. Operations queued meanwhile wait for the next push.
    func run() async throws -> PushReport {
        let requests = RequestCounter()
        var report = try await requests.counting { try await sendAll() }
        report.requests = requests.count
        return report
    }

    private func sendAll() async throws -> PushReport {
        var report = PushReport()
        let schema = store.schema
        let last = try await store.read { try OperationQueue.highestNumber(&$0) }
        var number: Int64 = 0
        while let inFlight = try await next(after: number, through: last, schema) {
            number = inFlight.operation.id
            if try await process(inFlight, schema) { report.pushed += 1 }
        }
        let errors = try await store.read { try OperationErrorCoding.all(&$0, schema) }
        report.conflicts = errors.filter(\.isConflict)
        report.failures = errors.filter { !$0.isConflict }
        return report
    }

    /// Marks the next operation as attempted and reads what it sends.
    private func next(after number: Int64, through last: Int64, _ schema: StoreSchema) async throws
        -> InFlightOperation?
    {
        try Task.checkCancellation()
        return try await store.write { transaction in
            guard
                var operation = try OperationQueue.next(after: number, through: last, &transaction, schema),
                let table = schema.table(operation.table)
            else { return nil }
            let before = operation
            var row: Record?
            // A delete keeps what an insert or update before it has sent: it says whether that one arrived.
            if operation.kind != .delete {
                row = try transaction.record(.string(operation.itemID), in: table.name)
                if let row { operation.willSend(row.withoutSystemProperties()) }
            }
            operation.isAttempted = true
            if operation != before { try OperationQueue.save(operation, table, &transaction) }
            let previouslySent = before.sentItems
            return InFlightOperation(operation: operation, table: table, row: row, previouslySent: previouslySent)
        }
    }

    /// Sends an operation and records the answer. Returns whether the server has the change.
    private func process(_ inFlight: InFlightOperation, _ schema: StoreSchema) async throws -> Bool {
        let outcome = try await send(inFlight)
        switch outcome {
        case .aborted(let error):
            throw error
        case .accepted:
            try await record(outcome, of: inFlight, schema)
            return true
        case .conflict, .refused:
            try await record(outcome, of: inFlight, schema)
            return false
        case .sendAgain:
            try await record(outcome, of: inFlight, schema)
            let number = inFlight.operation.id
            guard var again = try await next(after: number - 1, through: number, schema) else { return false }
            // This time every row but the one just seen is a conflict.
            again.previouslySent = []
            return try await process(again, schema)
        }
    }

    private func record(_ outcome: PushOutcome, of inFlight: InFlightOperation, _ schema: StoreSchema) async throws {
        // What the server did must be recorded even when the task is being cancelled.
        try await uncancelled {
            try await store.write { try ResponseRecorder(inFlight).record(outcome, &$0, schema) }
        }
    }
}

/// One request, by the kind of operation.
extension PushRunner {
    private func send(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        do {
            switch inFlight.operation.kind {
            case .insert: return try await insert(inFlight)
            case .update: return try await update(inFlight)
            case .delete: return try await delete(inFlight)
            }
        } catch let error as RemoteError {
            return PushOutcome(error, inFlight)
        }
    }

    private func insert(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        guard let row = inFlight.row else { return Self.missingRow }
        return .accepted(try await remote.insert(row, into: inFlight.table))
    }

    private func update(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        guard let row = inFlight.row else { return Self.missingRow }
        guard !remote.replacesWholeRows || store.capabilities.contains(.unknownColumns) else {
            return .refused(
                RemoteError(
                    .invalidRequest,
                    "this server replaces whole rows, and the store drops columns that it does not know; use a store"
                        + " with the capability unknownColumns"
                )
            )
        }
        let operation = inFlight.operation
        return .accepted(
            try await remote.update(
                row,
                in: inFlight.table,
                version: operation.baseVersion,
                restoring: operation.restores
            )
        )
    }

    private func delete(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        let operation = inFlight.operation
        var version = operation.baseVersion
        if version == nil, !operation.sentItems.isEmpty {
            // The insert may have arrived, its answer was lost: without a version, only the content tells whose row it
            // is that would be deleted.
            let serverItem = try await remote.record(operation.itemID, in: inFlight.table)
            guard let serverItem, !serverItem.isDeleted else { return .accepted(nil) }
            guard inFlight.wasSentBefore(serverItem) else { return .conflict(.row(serverItem), status: nil) }
            version = serverItem.version
        }
        try await remote.delete(operation.itemID, from: inFlight.table, version: version)
        return .accepted(nil)
    }

    private static var missingRow: PushOutcome {
        .refused(
            RemoteError(.invalidRequest, "the item is no longer in the store; write it again or discard the change")
        )
    }
}

/// Runs a body in a task of its own, so that cancelling the caller does not reach it.
func uncancelled<Value: Sendable>(_ body: sending @escaping () async throws -> Value) async throws -> Value {
    try await Task { try await body() }.value
}
