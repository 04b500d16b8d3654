internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Records the answer to one request: row, operation, memory and error in one transaction.
struct AnswerRecorder: Sendable {
    let inFlight: InFlightOperation
    let storesUndeclaredColumns: Bool
    /// Who is asked about what the server does not take; nil when nobody is any more.
    let decisions: PushDecisions?
    let referring: ReferringOperations

    /// What followed from an answer.
    struct Result: Sendable {
        var outcome: ItemOutcome<Record>
        /// Whether the server has the change, and the app is told so.
        var isTaken = false
        /// Whether the server has what was sent, be it that this takes an earlier change back and is none of the app's.
        var isDone = false
        /// Whether nothing of the change is left in the queue.
        var hasEnded = false
        /// Whether the app has edited the change while it was sent, and nothing else tells that it was not taken.
        var isEditedInVain = false

        /// Whether the server has done what was sent.
        var isAnswer: Bool { if case .done = outcome { true } else { isDone } }
    }

    /// The operation as it was sent.
    var operation: TableOperation { inFlight.operation }
    var number: Int64 { inFlight.operation.id }
    var itemID: String { inFlight.operation.itemID }
    var table: TableDefinition { inFlight.table }
    private var sent: TableOperation { inFlight.operation }

    /// Records an answer; those that are recorded in the same transaction share what was looked up.
    func record(
        _ answer: PushAnswer,
        sharing lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> Result {
        let answer = try localAnswer(answer, &transaction, schema)
        // One that has ended was given up when nothing could arrive any more, or its table was purged.
        guard
            let current = try OperationQueue.operation(sent.id, written: inFlight.written, &transaction, schema)
        else {
            return Result(outcome: .ignored, hasEnded: true)
        }
        var item = try QueuedItem(
            current,
            table,
            storesUndeclaredColumns: storesUndeclaredColumns,
            sharing: &lookups,
            &transaction
        )
        guard let underWay = inFlight.underWay else {
            // There was nothing to send.
            if current.editCounter == sent.editCounter {
                item.machine.change?.state = .parked
                item.refused()
                try store(asking(refusal(answer.error)), current, &transaction)
            }
            try item.save(.none, &transaction)
            return Result(outcome: .parked)
        }
        let merge = try lookups.merge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        var comparison = TableRowComparison(
            table,
            schema,
            shownColumns: merge.shownColumns,
            mayBeOwn: !underWay.sentBefore.isEmpty || item.machine.memory.hasSent
        )
        if let change = item.machine.change, change.baseVersion == nil, change.base?.version != nil {
            comparison.filledColumns = try FilledColumns.names(of: table, &transaction)
        }
        let local = try transaction.record(.string(current.itemID), in: table.name)
        let row = local.map(table.withoutLocalColumns)
        var (outcome, effect) = item.machine.receive(answer.answer, to: underWay, row, comparison)
        if case .unknown = outcome {
            item.failed(status: answer.error?.status, ofLookUp: underWay.request == .lookUp)
            if item.hasFailedTooOften, current.editCounter == sent.editCounter {
                item.machine.change?.state = .parked
                outcome = .parked
            } else {
                item.machine.change?.state = .pending
            }
        }
        if outcome == .parked { item.refused() }
        let isTaken = isTaken(answer, outcome, current)
        if isWritten(answer) { item.taken(through: sent.editCounter) }
        if isTaken { item.done(through: sent.editCounter) }
        try storeError(outcome, answer, current, item, &transaction)
        try item.save(effect, over: local, sharing: &lookups, &transaction)
        if item.machine.change != nil { referring.stays(item.operation, table, schema) }
        return Result(
            outcome: outcome,
            isTaken: isTaken && !sent.isUndo,
            isDone: isTaken,
            hasEnded: item.machine.change == nil,
            isEditedInVain: !isTaken && !current.isUndo && current.editCounter != sent.editCounter
                && outcome == .waits
        )
    }

    /// The answer in local ids. The id that the server has chosen for a row is remembered, whatever became of the change.
    private func localAnswer(
        _ answer: PushAnswer,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> PushAnswer {
        let translation = IdentifierTranslation(table, schema)
        guard translation.isNeeded else { return answer }
        var answer = answer
        if table.assignsIDs, case .insert? = inFlight.underWay?.request, case .taken(let row) = answer.answer,
            let serverID = (row ?? answer.unfitRow)?.id.stringValue
        {
            try IdentifierMapping.set([(sent.itemID, serverID)], in: table, &transaction)
        }
        if let candidates = answer.candidates {
            var recognition = try InsertRecognition([sent], translation, &transaction)
            for row in candidates {
                let id = row.id.stringValue ?? ""
                let known = try IdentifierMapping.localIDs(ofServerIDs: [id], in: table, &transaction).values.first
                guard try recognition.take(row, knownAs: known, &transaction) != nil else { continue }
                answer.answer = .shown(row)
                break
            }
        }
        switch answer.answer {
        case .taken(let row?):
            answer.answer = .taken(try translation.incoming(row, as: sent.itemID, &transaction))
        case .shown(let row):
            answer.answer = .shown(try translation.incoming(row, as: sent.itemID, &transaction))
        case .taken(nil), .absent, .hidden, .unfit, .refused, .storedUnderAnotherID, .wouldShowTombstone, .failed,
            .aborted:
            break
        }
        return answer
    }

    private func isTaken(_ answer: PushAnswer, _ outcome: ItemOutcome<Record>, _ current: TableOperation) -> Bool {
        guard !current.isUndo else { return false }
        return switch outcome {
        case .done: true
        case .waits: isWritten(answer)
        case .again, .conflict, .hiddenConflict, .parked, .unknown, .ignored: false
        }
    }

    /// Whether the server has carried out what the change is about; that a tombstone has its content is only a step.
    private func isWritten(_ answer: PushAnswer) -> Bool {
        guard case .taken = answer.answer else { return false }
        if case .fillTombstone? = inFlight.underWay?.request { return false }
        return true
    }

    private func storeError(
        _ outcome: ItemOutcome<Record>,
        _ answer: PushAnswer,
        _ current: TableOperation,
        _ item: QueuedItem,
        _ transaction: inout StoreTransaction
    ) throws {
        switch outcome {
        case .conflict(let shown): try store(asking(conflict(shown, answer.error)), current, &transaction)
        case .hiddenConflict:
            let reason = answer.error?.unfitCause.map { "its row does not fit the table here (\($0.message))" }
            let message = "the item was changed on the server, " + (reason ?? "which does not show it")
            try store(asking(error(message, answer.error)), current, &transaction)
        case .parked: try store(asking(refusal(answer.error)), current, &transaction)
        case .unknown where current.editCounter == sent.editCounter:
            try store(refusal(answer.error), current, &transaction)
        case .done, .again, .waits, .unknown, .ignored: break
        }
    }

    /// The error, marked when somebody is to be asked about it: should the push end before, the next one asks.
    private func asking(_ error: TableOperationError<Record>) -> TableOperationError<Record> {
        var error = error
        error.isUnasked = decisions?.areMade(about: error) ?? false
        return error
    }

    private func conflict(_ shown: Record?, _ refusal: RemoteError?) -> TableOperationError<Record> {
        guard let shown else { return error("the server has no such item any more", refusal, isMissing: true) }
        return error(
            shown.isDeleted ? "the item was deleted on the server" : "the item was changed on the server",
            refusal,
            serverItem: shown
        )
    }

    private func refusal(_ refusal: RemoteError?) -> TableOperationError<Record> {
        error(refusal?.message ?? "", refusal, isConflict: false)
    }

    private func error(
        _ message: String,
        _ refusal: RemoteError?,
        isConflict: Bool = true,
        isMissing: Bool = false,
        serverItem: Record? = nil
    ) -> TableOperationError<Record> {
        TableOperationError<Record>(
            id: ItemID.make(),
            operationID: sent.id,
            table: table.name,
            itemID: sent.itemID,
            kind: sent.kind,
            isConflict: isConflict,
            status: refusal?.status,
            message: message,
            item: inFlight.underWay?.request.row ?? sent.deletedItem,
            serverItem: serverItem,
            isMissingOnServer: isMissing,
            isDeletedOnServer: isMissing || (serverItem?.isDeleted ?? false),
            rawExchange: refusal?.exchange,
            editCounter: sent.editCounter
        )
    }

    private func store(
        _ error: TableOperationError<Record>,
        _ operation: TableOperation,
        _ transaction: inout StoreTransaction
    ) throws {
        var error = error
        // Mostly it is as it was sent.
        let isEdited = operation.editCounter != sent.editCounter
        error.editCounter = operation.editCounter
        if isEdited || error.item == nil, operation.kind != .delete {
            // What was sent is not the change any more, and a look-up shows nothing of it.
            error.item = try transaction.record(.string(operation.itemID), in: table.name)
                .map { table.withoutLocalColumns($0).withoutSystemProperties() }
        }
        try OperationQueue.removeErrors(of: operation, &transaction)
        try transaction.upsert(
            [OperationErrorCoding.record(error)],
            into: SystemTables.operationErrors.name
        )
    }
}

extension ItemRequest {
    /// The row that is written.
    fileprivate var row: Row? {
        switch self {
        case .insert(let row), .update(let row, _, _), .fillTombstone(let row, _): row
        case .delete, .tombstone, .lookUp: nil
        }
    }
}
