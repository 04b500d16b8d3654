internal import RemoteContract
internal import SyncContract

/// Sends the queue, operation by operation in ascending order.
///
/// Each operation takes two transactions: one marks it as attempted and reads what to send, one records the answer.
/// Between them the item may be edited; the edit counter tells.
struct PushRunner {
    let store: any SyncContextDataSource
    let remote: any SyncRemote

    /// An operation and what it sends, as of one instant.
    private struct Sending: Sendable {
        var operation: TableOperation
        var table: TableDefinition
        /// The local row; nil for deletes, and when the row is missing.
        var row: Record?
    }

    /// Sends what is queued now. Operations queued meanwhile wait for the next push.
    func run() async throws -> PushReport {
        var report = PushReport()
        let requests = remote.requestCount
        let schema = store.schema
        let last = try await store.read { try OperationQueue.highestNumber(&$0) }
        var number: Int64 = 0
        while let sending = try await next(after: number, through: last, schema) {
            number = sending.operation.id
            let outcome = try await send(sending)
            if case .aborted(let error) = outcome { throw error }
            if case .accepted = outcome { report.pushed += 1 }
            try await record(outcome, of: sending, schema)
        }
        let errors = try await store.read { transaction in
            try transaction.records(Query(SystemTables.operationErrors.name))
                .map {
                    try OperationErrorCoding.error($0, schema)
                }
        }
        report.conflicts = errors.filter(\.isConflict)
        report.failures = errors.filter { !$0.isConflict }
        report.requests = remote.requestCount - requests
        return report
    }

    private func next(after number: Int64, through last: Int64, _ schema: StoreSchema) async throws -> Sending? {
        try Task.checkCancellation()
        return try await store.write { transaction in
            guard
                var operation = try OperationQueue.next(after: number, through: last, &transaction, schema),
                let table = schema.table(operation.table)
            else { return nil }
            let row =
                operation.kind == .delete
                ? nil : try transaction.record(.string(operation.itemID), in: table.name)
            if !operation.isAttempted {
                operation.isAttempted = true
                try OperationQueue.save(operation, table, &transaction)
            }
            return Sending(operation: operation, table: table, row: row)
        }
    }

    private func send(_ sending: Sending) async throws -> PushOutcome {
        let operation = sending.operation
        do {
            switch operation.kind {
            case .delete:
                try await remote.delete(operation.itemID, from: sending.table, version: operation.baseVersion)
                return .accepted(nil)
            case .insert, .update:
                guard let row = sending.row else {
                    return .refused(
                        RemoteError(
                            .invalidRequest,
                            "the item is no longer in the store; write it again or discard the change"
                        )
                    )
                }
                if operation.kind == .insert { return .accepted(try await remote.insert(row, into: sending.table)) }
                guard !remote.replacesWholeRows || store.capabilities.contains(.unknownColumns) else {
                    throw SyncError(
                        .unsuitableStore,
                        "this server replaces whole rows and the store drops columns it does not know; "
                            + "use a store with the capability unknownColumns"
                    )
                }
                return .accepted(
                    try await remote.update(
                        row,
                        in: sending.table,
                        version: operation.baseVersion,
                        restoring: operation.restores
                    )
                )
            }
        } catch let error as RemoteError {
            return PushOutcome(error, sent: operation, row: sending.row, table: sending.table)
        }
    }

    private func record(_ outcome: PushOutcome, of sending: Sending, _ schema: StoreSchema) async throws {
        // What the server did must be recorded even when the task is being cancelled.
        try await uncancelled {
            try await store.write { transaction in
                try AnswerRecorder(table: sending.table, sent: sending.operation, row: sending.row)
                    .record(outcome, &transaction, schema)
            }
        }
    }
}

/// Runs a body in a task of its own, so that cancelling the caller does not reach it.
func uncancelled<Value: Sendable>(_ body: sending @escaping () async throws -> Value) async throws -> Value {
    try await Task { try await body() }.value
}
