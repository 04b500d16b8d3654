internal import RemoteContract
internal import SyncContract

// What is done about something that the server did not take: delegate and policies are asked while the push runs.
extension PushRunner {
    /// How often one operation is settled and tried again in one push.
    private static let mostSettlements = 5

    /// Whether an operation may be settled once more in this push.
    func mayBeSettled(_ number: Int64) -> Bool { progress.settlements(of: number) < Self.mostSettlements }

    /// Asks about what the server did not take in an earlier push, which was cancelled or killed before anybody was
    /// asked.
    func settleUnasked(_ tables: Set<String>?, _ schema: StoreSchema) async throws {
        guard decisions.areMade else { return }
        for error in try await store.read({ try decisions.unasked(tables, &$0, schema) }) {
            guard let table = schema.table(error.table) else { continue }
            _ = try await settle(error.operationID, table, schema)
        }
    }

    /// Asks what is to be done about something that the server did not take, and does it; not for ever.
    ///
    /// - Returns: Whether it was settled.
    func settle(_ number: Int64, _ table: TableDefinition, _ schema: StoreSchema) async throws -> Bool {
        // What a policy decides without asking is done also when the push was cancelled.
        let stored = try await uncancelled { [store] in
            try await store.read { reader in
                let error = try OperationErrorCoding.error(ofOperation: number, &reader, schema)
                let operation = try error.flatMap { _ in try OperationQueue.operation(number, &reader, schema) }
                return (error: error, isUndo: operation?.isUndo ?? false)
            }
        }
        guard let error = stored.error else { return false }
        guard mayBeSettled(number) else { return notTaken(error) }
        guard let decision = try await decision(about: error) else {
            // Whoever was asked may have settled it, or edited the item, instead of answering.
            return try await isOutOfDate(error, schema) ? false : notTaken(error)
        }
        // What takes a change back is nobody's wish for what it says: it goes over no row that nobody has seen because of a rule.
        let isNobodysWish = decision.isUnseen && stored.isUndo && error.isHidden
        let resolution = isNobodysWish && decision.resolution.isKeepMine ? .takeServer : decision.resolution
        let changes = LocalChanges(
            table: table,
            schema: schema,
            marked: marked,
            writesItems: store.handlesSyncTableOperations,
            storesUndeclaredColumns: storesUndeclaredColumns,
            idRule: sender.remote.idRule
        )
        let resolver = ConflictResolver(changes: changes)
        do {
            let entry = try await uncancelled { [store] in
                try await store.write { transaction -> JournalEntry? in
                    try resolver.resolve(error, resolution, &transaction)
                    guard decision.isAutomatic else { return nil }
                    return try JournalStorage.add(
                        resolution,
                        of: error,
                        in: resolver.table,
                        at: .current,
                        &transaction
                    )
                }
            }
            progress.settled(number)
            if let entry { decisions.context?.events.send(.decided(entry)) }
            return true
        } catch let error as SyncError where error.code == .operationChanged {
            // Somebody was faster, or edited the item: that is left as it is.
            return false
        } catch let failure where Self.isOfDecision(failure) {
            // Asked again they would decide the same, and no push would get beyond it.
            try await wasAsked(about: error)
            _ = notTaken(error)
            throw failure
        }
    }

    /// Tells that something stays as it was recorded.
    private func notTaken(_ error: TableOperationError<Record>) -> Bool {
        decisions.context?.events.send(.operationNotTaken(error))
        return false
    }

    /// Whether an error is not there any more, because whoever was asked about it has settled it, or its item was edited.
    private func isOutOfDate(_ error: TableOperationError<Record>, _ schema: StoreSchema) async throws -> Bool {
        guard error.isUnasked else { return false }
        return try await uncancelled { [store] in
            try await store.read {
                try OperationErrorCoding.error(ofOperation: error.operationID, &$0, schema)?.id != error.id
            }
        }
    }

    /// Whether what was decided cannot be written. Other failures are the store's own, and the same may succeed later.
    private static func isOfDecision(_ failure: any Error) -> Bool {
        switch failure {
        case let error as StoreError: [.invalidRecord, .constraint].contains(error.code)
        case let error as SyncError: [.invalidItem, .invalidAction].contains(error.code)
        default: false
        }
    }

    /// What was decided about an error. Whoever has decided nothing, or has failed, is not asked again, but for one
    /// whom the push took along when it was cancelled.
    private func decision(about refusal: TableOperationError<Record>) async throws -> PushDecisions.Decision? {
        do {
            if let decision = try await decisions.decision(about: refusal) { return decision }
        } catch {
            if !Task.isCancelled {
                try await wasAsked(about: refusal)
                _ = notTaken(refusal)
            }
            throw error
        }
        // A question that the cancelled push took back was no answer.
        if refusal.isUnasked { try Task.checkCancellation() }
        try await wasAsked(about: refusal)
        return nil
    }

    private func wasAsked(about error: TableOperationError<Record>) async throws {
        guard error.isUnasked else { return }
        try await uncancelled { [store] in
            try await store.write { try OperationErrorCoding.wasAsked(about: error, &$0) }
        }
    }
}
