internal import RemoteContract
internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// The change at which the last pushes have ended, one after the other, by an answer that may be about nothing but that change.
///
/// A push ends at such an answer, since it is mostly about the user or the way to the service. When it is not, all that stands
/// behind the change would wait for ever: so a change at which the pushes end again and again is held to be the reason itself.
final class StumblingBlock: Sendable {
    /// How many pushes in a row end at a change before it is asked whether the table answers.
    private static let mostPushes = 2

    private struct Place: Sendable, Equatable {
        var number: Int64
        var editCounter: Int64
    }

    private let state = Mutex<(place: Place, pushes: Int)?>(nil)

    /// Takes note that a push ends at a change.
    ///
    /// - Returns: Whether enough others have ended there.
    func isBlocked(by operation: TableOperation) -> Bool {
        let place = Place(number: operation.id, editCounter: operation.editCounter)
        return state.withLock { state in
            let before = state?.place == place ? state?.pushes ?? 0 : 0
            state = (place, before + 1)
            return before >= Self.mostPushes
        }
    }
}

/// What an answer that is not about the change, as far as one exchange can tell, is about after all.
extension RequestSender {
    /// Judges an answer by whether the table answers, where the answer alone would hold up everything for ever, or would lay
    /// every change aside while the server fails on all of them.
    func reconsider(_ answer: PushAnswer, to inFlight: InFlightOperation) async throws -> PushAnswer {
        guard let error = answer.error else { return answer }
        switch answer.answer {
        case .aborted where error.mayBeAboutTheChange:
            guard block.isBlocked(by: inFlight.operation), try await answers(inFlight.table) else { return answer }
            return PushAnswer(error.leavesOutcomeOpen ? .failed : .refused(provesNothingWasDone: false), error)
        case .failed where inFlight.isLaidAside(after: error):
            guard try await !answers(inFlight.table) else { return answer }
            return PushAnswer(.aborted(provesNothingWasDone: false), error, abort: SyncError(aborting: error))
        default: return answer
        }
    }

    /// Whether the table answers now.
    private func answers(_ table: TableDefinition) async throws -> Bool {
        do {
            try await remote.confirm(table)
            return true
        } catch is RemoteError {
            // Whatever it is: what came before says more.
            return false
        }
    }
}

extension InFlightOperation {
    /// Whether a failure that leaves its outcome open is the last one for now.
    fileprivate func isLaidAside(after error: RemoteError) -> Bool {
        var operation = operation
        operation.failed(status: error.status, ofLookUp: outgoing?.request == .lookUp)
        return operation.unknownOutcome?.isFinal ?? false
    }
}

extension RemoteError {
    /// Whether one row may be the reason: servers forbid single rows with 401 as well, and what stands in front of one may refuse
    /// what is in a row, or say by a page of its own that there is no such row.
    fileprivate var mayBeAboutTheChange: Bool {
        switch code {
        case .unauthorized: true
        case .notTheService: status.map { (400..<500).contains($0) } ?? false
        default: false
        }
    }

    /// Whether the service may have said what a page of something else has taken the place of.
    fileprivate var leavesOutcomeOpen: Bool { [404, 410].contains(status) }
}
