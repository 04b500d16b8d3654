internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Sends the queue, operation by operation in ascending order.
///
/// Each request takes two transactions: one chooses it and remembers exactly what is sent, one records the answer. Between
/// them the item may be edited; the edit counter tells.
struct PushRunner {
    let store: any SyncContextDataSource
    private let answers: AnswerLog
    private let sender: RequestSender
    private let decisions: PushDecisions
    private let storesUndeclaredColumns: Bool
    private let restoresInSteps: Bool
    private let marks = UploadMarks()

    /// How often one operation is sent again in one push: a server that shows other rows again and again must not keep it
    /// for ever.
    private static let mostRepetitions = 5

    /// How often one operation is settled and tried again in one push.
    private static let mostSettlements = 5

    init(store: any SyncContextDataSource, remote: any SyncRemote, answers: AnswerLog, decisions: PushDecisions) {
        self.store = store
        self.answers = answers
        self.decisions = decisions
        storesUndeclaredColumns = store.capabilities.contains(.unknownColumns)
        restoresInSteps = remote.restoresInSteps
        sender = RequestSender(remote: remote, storesUndeclaredColumns: storesUndeclaredColumns)
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
        let last = try await begin()
        var forbidden = ForbiddenOperations()
        var waiting = WaitingOperations()
        var number: Int64 = 0
        while let inFlight = try await next(after: number, through: last, schema) {
            number = inFlight.operation.id
            guard inFlight.awaited.isEmpty else {
                waiting.append(inFlight)
                continue
            }
            try await send(inFlight, &forbidden, &report, schema)
        }
        while let round = waiting.nextRound() {
            for held in round {
                let number = held.operation.id
                guard let inFlight = try await next(after: number - 1, through: number, schema) else { continue }
                guard inFlight.awaited.isEmpty else {
                    waiting.append(inFlight)
                    continue
                }
                try await send(inFlight, &forbidden, &report, schema)
            }
        }
        for inFlight in waiting.circular { _ = try await process(WaitingOperations.refusal, of: inFlight, schema) }
        if let error = forbidden.onlyAnswer { throw error }
        let errors = try await store.read { try OperationErrorCoding.all(&$0, schema) }
        report.conflicts = errors.filter(\.isConflict)
        report.failures = errors.filter { !$0.isConflict }
    }

    private func send(
        _ inFlight: InFlightOperation,
        _ forbidden: inout ForbiddenOperations,
        _ report: inout PushReport,
        _ schema: StoreSchema
    ) async throws {
        try await decisions.willSend(inFlight.operation)
        let answer = try await sender.send(inFlight)
        for (earlier, answer) in forbidden.release(inFlight, answer) {
            if try await process(answer, of: earlier, schema) { report.pushed += 1 }
        }
    }

    /// Ends the time in which an insert that a deletion has cancelled can be brought back. Returns the last number to send.
    private func begin() async throws -> Int64 {
        let (last, hasCancelled) = try await store.read {
            (try OperationQueue.highestNumber(&$0), try CancelledInserts.isNotEmpty(&$0))
        }
        if hasCancelled { try await store.write { try CancelledInserts.removeAll(&$0) } }
        return last
    }

    /// Chooses what the next operation sends, and remembers it as sent.
    private func next(
        after number: Int64,
        through last: Int64,
        _ schema: StoreSchema,
        lookUp: LookUp = .notDone
    ) async throws -> InFlightOperation? {
        try Task.checkCancellation()
        return try await store.write { [marks] transaction in
            guard
                var operation = try OperationQueue.next(after: number, through: last, &transaction, schema),
                let table = schema.table(operation.table)
            else { return nil }
            let before = operation
            var row: Record?
            if operation.kind != .delete {
                row = try transaction.record(.string(operation.itemID), in: table.name)
                    .map { table.withoutLocalColumns($0).withoutSystemProperties() }
            }
            let translation = IdentifierTranslation(table, schema)
            let awaited = try row.map { try translation.awaitedInserts(of: $0, &transaction) } ?? []
            guard awaited.isEmpty else {
                return InFlightOperation(operation: operation, table: table, awaited: awaited)
            }
            var machine = ItemMachine(change: operation.change)
            let hasServerID = try translation.serverID(of: operation.itemID, &transaction) != nil
            let underWay = machine.prepare(
                row,
                after: lookUp,
                restoresInSteps: restoresInSteps,
                in: table,
                hasServerID: hasServerID
            )
            if let change = machine.change { operation.change = change }
            if operation != before { try OperationQueue.save(operation, table, &transaction) }
            try marks.add(to: operation.id, &transaction)
            let outgoing = try underWay.map { underWay in
                try OutgoingRequest(underWay.request, for: before, translation, &transaction)
            }
            return InFlightOperation(operation: operation, table: table, underWay: underWay, outgoing: outgoing)
        }
    }

    /// Records an answer, and sends again what is to be sent again. Returns whether the server has the change.
    private func process(
        _ answer: PushAnswer,
        of inFlight: InFlightOperation,
        _ schema: StoreSchema
    ) async throws -> Bool {
        let result = try await record(answer, of: inFlight, schema)
        if let abort = answer.abort { throw abort }
        var next: InFlightOperation?
        switch result.outcome {
        case .again(let lookUp) where inFlight.repetitions < Self.mostRepetitions:
            next = try await again(inFlight, lookUp, schema)
            next?.repetitions = inFlight.repetitions + 1
            next?.settlements = inFlight.settlements
        case .conflict, .hiddenConflict, .parked:
            guard inFlight.settlements < Self.mostSettlements, try await settle(inFlight, schema) else { break }
            next = try await again(inFlight, .notDone, schema)
            next?.settlements = inFlight.settlements + 1
        case .done, .again, .waits, .unknown, .ignored: break
        }
        guard let next else {
            if result.isTaken { decisions.context?.events.send(.operationTaken(inFlight.operation)) }
            return result.isTaken
        }
        return try await process(try await sender.send(next), of: next, schema)
    }

    private func again(
        _ inFlight: InFlightOperation,
        _ lookUp: LookUp,
        _ schema: StoreSchema
    ) async throws -> InFlightOperation? {
        let number = inFlight.operation.id
        return try await next(after: number - 1, through: number, schema, lookUp: lookUp)
    }

    /// Asks what is to be done about something that the server did not take, and does it.
    ///
    /// - Returns: Whether it was settled.
    private func settle(_ inFlight: InFlightOperation, _ schema: StoreSchema) async throws -> Bool {
        let number = inFlight.operation.id
        let stored = try await store.read { try OperationErrorCoding.error(ofOperation: number, &$0, schema) }
        guard let error = stored else { return false }
        guard let decision = try await decisions.decision(about: error) else {
            decisions.context?.events.send(.operationNotTaken(error))
            return false
        }
        let resolver = ConflictResolver(
            table: inFlight.table,
            schema: schema,
            storesUndeclaredColumns: storesUndeclaredColumns
        )
        do {
            let entry = try await uncancelled {
                try await store.write { transaction -> JournalEntry? in
                    try resolver.resolve(error, decision.resolution, &transaction)
                    guard decision.isAutomatic else { return nil }
                    return try JournalStorage.add(
                        decision.resolution,
                        of: error,
                        in: resolver.table,
                        at: .current,
                        &transaction
                    )
                }
            }
            if let entry { decisions.context?.events.send(.decided(entry)) }
            return true
        } catch let error as SyncError where error.code == .operationChanged {
            // Somebody was faster, or edited the item: that is left as it is.
            return false
        }
    }

    private func record(
        _ answer: PushAnswer,
        of inFlight: InFlightOperation,
        _ schema: StoreSchema
    ) async throws -> AnswerRecorder.Result {
        let recorder = AnswerRecorder(inFlight: inFlight, storesUndeclaredColumns: storesUndeclaredColumns)
        // What the server did must be recorded even when the task is being cancelled.
        let (answers, itemID, table) = (answers, inFlight.operation.itemID, inFlight.table)
        let (marks, number) = (marks, inFlight.operation.id)
        let result = try await uncancelled {
            try await store.write { transaction in
                let result = try recorder.record(answer, &transaction, schema)
                try marks.remove(from: number, &transaction)
                answers.answerRecorded(for: itemID, in: table)
                return result
            }
        }
        marks.answered(number)
        return result
    }
}

/// The operations at the beginning of a push that the server has forbidden (403), as long as it has not answered
/// anything else: then it is the user who may not write, and no fault of the changes.
private struct ForbiddenOperations {
    private var held: [(InFlightOperation, PushAnswer)] = []
    private var hasOtherAnswers = false

    /// Takes an answer in.
    ///
    /// - Returns: The answers that are to be recorded now.
    mutating func release(_ inFlight: InFlightOperation, _ answer: PushAnswer) -> [(InFlightOperation, PushAnswer)] {
        switch answer.answer {
        case .refused where answer.error?.status == 403 && !hasOtherAnswers:
            held.append((inFlight, answer))
            return []
        // Not sent, or not answered by the service.
        case .refused where answer.error?.status == nil: return [(inFlight, answer)]
        case .aborted: return [(inFlight, answer)]
        case .taken, .shown, .absent, .hidden, .refused, .failed:
            hasOtherAnswers = true
            defer { held = [] }
            return held + [(inFlight, answer)]
        }
    }

    /// The end of a push that got no other answer.
    var onlyAnswer: SyncError? {
        guard let error = held.first?.1.error else { return nil }
        return SyncError(
            .pushAbortedAuthentication,
            "The server forbids every change; sign in as somebody who may write and push: nothing was lost.",
            cause: error
        )
    }
}
