internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Sends the queue: operations of groups in the order of ``PushOrder``, all others in ascending order.
///
/// Several requests are prepared in one transaction, which remembers exactly what is sent, and several answers are recorded
/// in one. Between them the item may be edited: an operation that has not left is chosen anew then; of one that has left,
/// the edit counter tells.
struct PushRunner {
    let store: any SyncContextDataSource
    let sender: RequestSender
    let decisions: PushDecisions
    /// How many operations are under way at a time.
    let parallelOperations: Int
    let queuePortion: Int
    let clock: any Clock<Duration>
    let marked: MarkedOperations
    let marks = UploadMarks()
    let progress = PushProgress()
    let referring: ReferringOperations
    let recording: AnswerRecording
    let thread: PushThread
    let storesUndeclaredColumns: Bool
    private let restoresInSteps: Bool
    private let keepsCreatedAt: Bool

    /// How often one operation is sent again in one push: a server that shows other rows again and again must not keep it
    /// for ever.
    private static let mostRepetitions = 5

    init(
        store: any SyncContextDataSource,
        remote: any SyncRemote,
        parallelOperations: Int,
        queuePortion: Int,
        coordination: SyncCoordination,
        decisions: PushDecisions,
        clock: any Clock<Duration>
    ) {
        self.store = store
        self.parallelOperations = parallelOperations
        self.queuePortion = queuePortion
        self.decisions = decisions
        self.clock = clock
        marked = coordination.marked
        referring = ReferringOperations(marked)
        storesUndeclaredColumns = store.capabilities.contains(.unknownColumns)
        restoresInSteps = remote.restoresInSteps
        keepsCreatedAt = remote.keepsCreatedAt
        thread = PushThread(remote, decisions)
        sender = RequestSender(
            remote: remote,
            storesUndeclaredColumns: storesUndeclaredColumns,
            block: coordination.block
        )
        recording = AnswerRecording(
            store: store,
            answers: coordination.answers,
            marks: marks,
            decisions: decisions,
            progress: progress,
            clock: clock
        )
    }

    /// Sends what is queued now, of some tables or of all. Operations queued meanwhile wait for the next push.
    ///
    /// - Throws: What ends the push, with what was done before where that is the engine or the store: ``SyncError``,
    ///   ``PushStoppedByStore``.
    func run(_ tables: Set<String>?, partOf whole: RequestCounter?) async throws -> PushReport {
        let requests = RequestCounter(partOf: whole)
        var report = PushReport()
        do {
            try await requests.counting { try await sendAll(tables, &report) }
            await sender.block.save(store)
        } catch {
            await sender.block.save(store)
            report.requests = requests.count
            guard var error = SyncError(ending: error) else { throw PushStoppedByStore(error, report) ?? error }
            error.push = report
            throw error
        }
        report.requests = requests.count
        return report
    }

    private func sendAll(_ tables: Set<String>?, _ report: inout PushReport) async throws {
        let schema = store.schema
        do {
            try await settleUnasked(tables, schema)
        } catch {
            progress.end(with: error)
        }
        let error = await dispatch(try await begin(tables, schema), schema)
        report.pushed = recording.takenCount
        report.retryAfter = progress.retryAfter
        let (waiting, overtaken) = (progress.waitingNumbers, progress.overtaken)
        (report.waiting, report.overtaken) = (waiting.count, overtaken.count)
        let ending = error ?? progress.onlyAnswer
        // Only an error of the engine has the report with it.
        if let ending, !(ending is SyncError) { throw ending }
        do {
            let (errors, left, edited, undone) = try await store.read { reader in
                let errors = try OperationErrorCoding.all(&reader, schema)
                // No error tells of those in groups: what stands before them was made while the push ran, or is no more sent.
                let inGroups = ending == nil ? progress.leftInGroups(butBehind: errors.map(\.operationID)) : []
                let left = try OperationQueue.toSend(waiting.union(inGroups), &reader, schema).count
                // What tells that these were not taken is gone when the app has edited or settled them since.
                // Of earlier ones only a push that came to its end tells: otherwise their turn may not have come.
                let others = progress.notTaken.union(ending == nil ? progress.unsent : [])
                    .subtracting(overtaken)
                    .subtracting(errors.map(\.operationID))
                let edited = try OperationQueue.toSend(others, &reader, schema)
                    .count { !$0.isUndo && tables?.contains($0.table) ?? true }
                let there = try OperationQueue.toSend(overtaken, &reader, schema)
                let undone = there.count(where: \.isUndo)
                return (errors, left, edited + there.count - undone, undone)
            }
            report.notTaken(errors)
            (report.waiting, report.overtaken, report.overtakenUndos) = (left, edited, undone)
        } catch {
            throw ending ?? error
        }
        if let ending { throw ending }
    }

    /// Begins with what waits now, and ends the time in which an insert that a deletion has cancelled can be brought back.
    private func begin(_ tables: Set<String>?, _ schema: StoreSchema) async throws -> PushPlan {
        let returned = marked.returned
        let (plan, hasCancelled) = try await store.read { reader in
            try sender.block.load(&reader)
            let last = try OperationQueue.highestNumber(&reader)
            let groups = try GroupStorage.groups(portion: queuePortion, &reader)
            let plan = PushPlan(schema, tables: tables, through: last, groups, returned: returned)
            progress.begin(through: last)
            // The app may settle them behind the place where their turn has been.
            let left = try OperationErrorCoding.operations(&reader)
                .filter { try OperationQueue.operation($0, &reader, schema)?.isToSend == false }
            progress.leaveUnsent(left)
            return (plan, try CancelledInserts.isNotEmpty(&reader, schema))
        }
        if hasCancelled { try await store.write { try CancelledInserts.removeAll(&$0, schema) } }
        return plan
    }

    /// Chooses what an operation sends, and remembers it as sent. Of one that has to wait for the ids of others nothing is.
    func prepare(
        _ waiting: TableOperation,
        _ table: TableDefinition,
        _ lookUp: LookUp,
        references: OperationReferences? = nil,
        _ transaction: inout StoreTransaction
    ) throws -> InFlightOperation {
        var operation = waiting
        var row: Record?
        if operation.kind != .delete {
            row = try transaction.record(.string(operation.itemID), in: table.name)
                .map(table.withoutLocalColumns)
                .map { keepsCreatedAt ? $0.withoutServerProperties() : $0.withoutSystemProperties() }
        }
        let translation = IdentifierTranslation(table, store.schema)
        let awaited = try row.map { try translation.awaitedInserts(of: $0, &transaction) } ?? []
        guard awaited.isEmpty else {
            return InFlightOperation(operation: waiting, table: table, awaited: awaited, references: references)
        }
        var machine = ItemMachine(change: operation.change)
        // What a dropped change has sent is asked for where the next request depends on it; answers take it over elsewhere.
        let serverID = try translation.serverID(of: operation.itemID, &transaction)
        let isUnknown = table.assignsIDs && serverID == nil
        if operation.baseVersion == nil, operation.kind == .delete || isUnknown {
            machine.memory = try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction)
        }
        let memoryBefore = machine.memory
        let underWay = machine.prepare(
            row,
            after: lookUp,
            restoresInSteps: restoresInSteps,
            in: table,
            hasServerID: serverID != nil
        )
        if table.assignsIDs, serverID != nil, case .insert? = underWay?.request {
            // The server has just said that it has none with this id. What this makes gets another one, and is known by its
            // content until the answer names it.
            try IdentifierMapping.remove(operation.itemID, in: table, &transaction)
        }
        if let change = machine.change { operation.change = change }
        if machine.memory != memoryBefore {
            try ItemMemoryStorage.set(machine.memory, of: operation.itemID, in: table, &transaction)
        }
        let mark = marks.mark(of: operation.id)
        let written = try OperationQueue.saveSent(operation, from: waiting, table, mark: mark, &transaction)
        let outgoing = try underWay.map { underWay in
            try OutgoingRequest(underWay.request, for: operation, translation, &transaction)
        }
        return InFlightOperation(
            operation: operation,
            table: table,
            written: written,
            underWay: underWay,
            outgoing: outgoing,
            references: references
        )
    }

    /// Takes an answer in, and sends again what is to be sent again.
    ///
    /// - Returns: Whether the server has taken what was sent at last, which is recorded some time, and what was prepared
    ///   behind it can leave as it is.
    func process(_ answer: PushAnswer, of inFlight: InFlightOperation, _ schema: StoreSchema) async throws -> Bool {
        let recorder = AnswerRecorder(
            inFlight: inFlight,
            storesUndeclaredColumns: storesUndeclaredColumns,
            decisions: mayBeSettled(inFlight.operation.id) ? decisions : nil,
            referring: referring
        )
        progress.noteFailure(answer)
        guard !answer.isLast(to: inFlight.underWay?.request) else {
            progress.taken(inFlight.operation.id)
            recording.add(answer, recorder)
            return true
        }
        return try await thread.elsewhere { try await process(answer, recorder, schema) }
    }

    /// Takes an answer in from which something follows.
    private func process(
        _ answer: PushAnswer,
        _ recorder: AnswerRecorder,
        _ schema: StoreSchema
    ) async throws -> Bool {
        let inFlight = recorder.inFlight
        let result = try await recording.record(answer, recorder)
        if result.isAnswer { progress.taken(inFlight.operation.id) }
        if let abort = answer.abort { throw abort }
        var next: InFlightOperation?
        switch result.outcome {
        case .again where progress.isEnding: break
        case .again(let lookUp) where inFlight.repetitions < Self.mostRepetitions:
            next = try await again(inFlight, lookUp, schema)
            next?.repetitions = inFlight.repetitions + 1
        case .conflict, .hiddenConflict, .parked:
            guard try await settle(inFlight.operation.id, inFlight.table, schema) else {
                progress.leaveNotTaken(inFlight.operation.id)
                break
            }
            guard !progress.isEnding else { break }
            next = try await again(inFlight, .notDone, schema)
        case .again: progress.leaveOvertaken(inFlight.operation.id)
        case .unknown: progress.leaveNotTaken(inFlight.operation.id)
        case .waits: if result.isEditedInVain { progress.leaveOvertaken(inFlight.operation.id) }
        case .done, .ignored: break
        }
        guard let next else { return false }
        guard next.awaited.isEmpty else {
            progress.keepWaiting(next)
            return false
        }
        if next.operation.editCounter != inFlight.operation.editCounter {
            try await ask(about: next, schema)
            // Another answer may have ended the push while somebody was asked.
            guard !progress.isEnding else {
                try await takeBack(next, schema)
                return false
            }
        }
        let isTaken = await take(.success(try await sender.send(next)), of: next, schema)
        // What was prepared behind a row that is made anew names it by the id that it had.
        return isTaken && !(inFlight.outgoing?.serverID != nil && next.outgoing?.serverID == nil)
    }

    /// Asks who has a say about an operation that holds something else by now than when it was asked about last.
    private func ask(about inFlight: InFlightOperation, _ schema: StoreSchema) async throws {
        do {
            try await decisions.willSend(inFlight.operation, thread)
            decisions.tellSent(inFlight.operation)
        } catch {
            try await takeBack(inFlight, schema)
            throw error
        }
    }

    private func takeBack(_ inFlight: InFlightOperation, _ schema: StoreSchema) async throws {
        try await uncancelled { try await store.write { try takeBack(inFlight, &$0, schema) } }
    }

    /// Chooses what an operation sends next in its turn; nil when nothing. A change that came into a group meanwhile does not
    /// go along: others may have to go before it. Nor does one by which the row came to name another row that waits, or
    /// by which it is to be deleted while something waits that referred to it.
    func again(
        _ inFlight: InFlightOperation,
        _ lookUp: LookUp,
        _ schema: StoreSchema
    ) async throws -> InFlightOperation? {
        try Task.checkCancellation()
        let (number, table) = (inFlight.operation.id, inFlight.table)
        let (sentCounter, references) = (inFlight.operation.editCounter, inFlight.references)
        // When others have to go before it, whether these may be sent by this push.
        let (next, mayFollow) = try await store.write { transaction -> (InFlightOperation?, Bool?) in
            guard let waiting = try OperationQueue.operation(number, &transaction, schema), waiting.isToSend else {
                return (nil, nil)
            }
            guard !waiting.memberships.contains(where: { $0.editCounter > sentCounter }) else {
                return (nil, false)
            }
            if let references, waiting.editCounter != sentCounter,
                try references.lackOneThatWaits(of: waiting, table, schema, &transaction)
            {
                return (nil, true)
            }
            // Of one that was not edited only what has joined the queue since can have come to go before it.
            if waiting.kind == .delete,
                try referring.operations(before: waiting, table, schema, &transaction)
                    .contains(where: { waiting.editCounter != sentCounter || $0.id > progress.last })
            {
                return (nil, true)
            }
            // What was found out for a change says nothing about what takes it back.
            let isGivenUp = waiting.isUndo && waiting.editCounter != sentCounter
            return (
                try prepare(waiting, table, isGivenUp ? .notDone : lookUp, references: references, &transaction), nil
            )
        }
        switch mayFollow {
        case true?: progress.leaveBehind(number)
        case false?: progress.leaveWaiting([number])
        case nil: break
        }
        return next
    }
}
