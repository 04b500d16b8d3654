internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Several operations in one exchange, where the remote takes batches.
extension RequestSender {
    /// The most operations that leave together.
    var batchSize: Int { min(max(1, remote.maximumBatchSize), PushWindow.most) }

    /// Whether an operation may leave together with others. What else there is to ask, and what is not sent at all, has a
    /// turn of its own.
    func goesInBatches(_ inFlight: InFlightOperation) -> Bool { batchSize > 1 && operation(of: inFlight) != nil }

    /// Sends operations and says what became of each, in their order. What ends the exchange is the answer to each.
    ///
    /// - Throws: `CancellationError`, and what else is no answer to any of them.
    func send(_ batch: [InFlightOperation]) async throws -> [Result<PushAnswer, any Error>] {
        guard batch.count > 1 else {
            var answers: [Result<PushAnswer, any Error>] = []
            for inFlight in batch { answers.append(.success(try await send(inFlight))) }
            return answers
        }
        let operations = batch.compactMap { operation(of: $0) }
        precondition(operations.count == batch.count, "what does not go in batches is sent alone")
        var results: [Result<RemoteOperationAnswer, any Error>]
        do {
            results = try await TombstoneShowing.$isStored.withValue(batch.allSatisfy(\.mayShowTombstone)) {
                try await remote.send(operations)
            }
            if results.count != batch.count {
                let message = "The remote has not said of every change of a batch what became of it."
                throw RemoteError(.invalidResponse, message)
            }
        } catch let error as RemoteError {
            results = batch.map { _ in .failure(error) }
        }
        var answers: [Result<PushAnswer, any Error>] = []
        for (inFlight, result) in zip(batch, results) {
            do {
                // What is sent again goes alone: it may have been another change of the batch.
                let answer = try await reconsider(try await answer(result, to: inFlight), to: inFlight) {
                    try await send(inFlight)
                }
                answers.append(.success(answer))
            } catch {
                answers.append(.failure(error))
            }
        }
        return answers
    }

    private func operation(of inFlight: InFlightOperation) -> RemoteOperation? {
        let table = inFlight.table
        guard let outgoing = inFlight.outgoing, let id = outgoing.serverID, RowAddress.problem(of: id) == nil else {
            return nil
        }
        return switch outgoing.request {
        case .insert(let row) where !table.assignsIDs: .insert(row, into: table)
        case .update(let row, let version, let restoring) where mayUpdate:
            .update(row, in: table, version: version, restoring: restoring)
        case .delete(let version): .delete(id, from: table, version: version)
        case .insert, .update, .tombstone, .fillTombstone, .lookUp: nil
        }
    }

    private func answer(
        _ result: Result<RemoteOperationAnswer, any Error>,
        to inFlight: InFlightOperation
    ) async throws -> PushAnswer {
        guard let request = inFlight.outgoing?.request else { return PushAnswer(.failed) }
        let table = inFlight.table
        return try await judge(request, in: table) {
            switch (request, try result.get()) {
            case (.insert(let row), .row(let written)): return answer(toInsertOf: row, into: table, written)
            case (.update, .row(let written)): return PushAnswer(.taken(written))
            case (.delete(let version), .deletion(let deletion)):
                let id = inFlight.outgoing?.serverID ?? inFlight.operation.itemID
                return try await answer(deletion, toDeletionOf: id, in: table, version: version)
            default: throw RemoteError(.invalidResponse, "The remote has answered a change as one of another kind.")
            }
        }
    }
}
