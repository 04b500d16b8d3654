internal import RemoteContract
internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// The changes at which the last pushes have ended, by an answer that may be about nothing but the change.
///
/// A push ends at such an answer, since it is mostly about the user or the way to the service. When it is not, all that stands
/// behind the change would wait for ever: so a change at which pushes end again and again is held to be the reason itself. It
/// is remembered from one push to the next, and in a row of `MS_TableConfig`: an app may be started for each of them.
final class StumblingBlock: Sendable {
    /// How many pushes end at a change before it is asked whether the table answers.
    private static let mostPushes = 2
    /// How many changes are remembered; a push ends at no more than are under way.
    private static let mostChanges = 1_000

    private struct Ends {
        var editCounter: Int64
        var pushes: Int
    }

    private struct State {
        var ends: [Int64: Ends] = [:]
        var isLoaded = false
        /// Whether the store does not say the same.
        var isChanged = false
    }

    private let state = Mutex(State())

    /// Takes in what the store says, unless that was done before.
    func load(_ transaction: inout some StoreReading & ~Copyable) throws {
        guard !state.withLock({ $0.isLoaded }) else { return }
        let stored = (try ConfigurationTable.value(.stumblingBlocks, &transaction) ?? "").split(separator: " ")
            .map { entry in
                entry.split(separator: ":").compactMap { Int64($0) }
            }
        state.withLock { state in
            state.isLoaded = true
            for entry in stored where entry.count == 3 && state.ends[entry[0]] == nil {
                state.ends[entry[0]] = Ends(editCounter: entry[1], pushes: Int(clamping: entry[2]))
            }
        }
    }

    /// Writes down what has changed; nothing, most often.
    func save(_ store: any SyncContextDataSource) async {
        let changed = state.withLock { state -> String? in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.ends.sorted { $0.key < $1.key }
                .map { "\($0.key):\($0.value.editCounter):\($0.value.pushes)" }.joined(separator: " ")
        }
        guard let changed else { return }
        do {
            try await store.write {
                try ConfigurationTable.setValue(changed.isEmpty ? nil : changed, .stumblingBlocks, &$0)
            }
        } catch {
            // What the push did says more. It is known on as long as the process lasts, and the next push writes it.
            state.withLock { $0.isChanged = true }
        }
    }

    /// Takes note that a push ends at a change.
    ///
    /// - Returns: Whether enough others have ended there.
    func isBlocked(by operation: TableOperation) -> Bool {
        state.withLock { state in
            if state.ends.count > Self.mostChanges { state.ends = [:] }
            let before = state.ends[operation.id]
            let known = before.flatMap { $0.editCounter == operation.editCounter ? $0.pushes : nil } ?? 0
            state.ends[operation.id] = Ends(editCounter: operation.editCounter, pushes: known + 1)
            state.isChanged = true
            return known >= Self.mostPushes
        }
    }

    /// Takes note that a change got another answer.
    func passed(_ operation: TableOperation) {
        state.withLock { state in
            guard !state.ends.isEmpty, state.ends.removeValue(forKey: operation.id) != nil else { return }
            state.isChanged = true
        }
    }
}

/// What an answer that is not about the change, as far as one exchange can tell, is about after all.
extension RequestSender {
    /// Judges an answer by whether the table answers, where the answer alone would hold up everything for ever, or would lay
    /// every change aside while the server fails on all of them. Where it does, the change is sent once more before it is blamed,
    /// unless that could make a second row.
    func reconsider(
        _ answer: PushAnswer,
        to inFlight: InFlightOperation,
        sendingAgain: () async throws -> PushAnswer
    ) async throws -> PushAnswer {
        let isBefore = inFlight.outgoing?.request.comesBeforeTheChange ?? false
        guard answer.mayBeAboutTheChange, let error = answer.error else {
            if inFlight.isLaidAside(after: answer), let error = answer.error,
                try await !confirmed.answers(inFlight.table, at: remote)
            {
                return PushAnswer(.aborted(provesNothingWasDone: false), error, abort: SyncError(aborting: error))
            }
            if !isBefore { block.passed(inFlight.operation) }
            return answer
        }
        guard block.isBlocked(by: inFlight.operation), try await confirmed.answers(inFlight.table, at: remote) else {
            return answer
        }
        // What a server may have stored under an id of its own is not sent twice: that would be two rows.
        let second = inFlight.mayBeStoredTwice && error.isPageInFront ? answer : try await sendingAgain()
        guard second.mayBeAboutTheChange, let error = second.error else {
            if second.abort == nil, !isBefore { block.passed(inFlight.operation) }
            return second
        }
        return PushAnswer(error.leavesOutcomeOpen ? .failed : .refused(provesNothingWasDone: false), error)
    }
}

extension PushAnswer {
    /// Whether a push ends at it, and one row may be the reason: servers forbid single rows with 401 as well, and what stands in
    /// front of one may refuse what is in a row, or say by a page of its own that there is no such row.
    var mayBeAboutTheChange: Bool {
        guard case .aborted = answer, let error else { return false }
        return error.isPageInFront || error.code == .unauthorized && !error.wasNotSent
    }
}

extension InFlightOperation {
    /// Whether it makes a row each time that it is sent.
    fileprivate var mayBeStoredTwice: Bool {
        guard case .insert? = outgoing?.request else { return false }
        return table.assignsIDs
    }

    /// Whether an answer is a failure that leaves the outcome open, and the last one for now.
    fileprivate func isLaidAside(after answer: PushAnswer) -> Bool {
        guard case .failed = answer.answer else { return false }
        var operation = operation
        operation.failed(status: answer.error?.status, ofLookUp: outgoing?.request == .lookUp)
        return operation.unknownOutcome?.isFinal ?? false
    }
}

extension RemoteError {
    /// Whether the service may have said what a page of something else has taken the place of.
    fileprivate var leavesOutcomeOpen: Bool { [404, 410].contains(status) }
}
