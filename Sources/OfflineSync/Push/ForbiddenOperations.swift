internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// The operations at the beginning of a push that the server has forbidden (403, or 401), or that something in front of it has
/// refused, as long as nothing else was answered: then it is the user who may not write, or the way to the service, and no
/// fault of the changes.
struct ForbiddenOperations {
    private var held: [(InFlightOperation, PushAnswer)] = []
    private var hasOtherAnswers = false

    /// Takes an answer in.
    ///
    /// - Returns: The earlier answers that are to be recorded now as well; nil when this one is not to be recorded either.
    mutating func release(_ inFlight: InFlightOperation, _ answer: PushAnswer) -> [(InFlightOperation, PushAnswer)]? {
        let isLookUp = inFlight.outgoing?.request == .lookUp
        switch answer.answer {
        // What takes a change back that was forbidden is forbidden as well, and says nothing about the others.
        case .refused where inFlight.operation.isUndo: return []
        case .refused where answer.mayBeAboutAll && !hasOtherAnswers, .failed where answer.isPage && !hasOtherAnswers:
            held.append((inFlight, answer))
            return nil
        // Not sent, or not answered by the service.
        case .refused where answer.error?.status == nil: return []
        case .aborted, .wouldShowTombstone: return []
        // That a row can be looked up does not say that it may be changed.
        case .taken where isLookUp, .shown where isLookUp, .absent where isLookUp, .unfit where isLookUp: return []
        case .taken, .shown, .absent, .hidden, .unfit, .refused, .storedUnderAnotherID, .failed:
            hasOtherAnswers = true
            defer { held = [] }
            return held
        }
    }

    /// The only operation of a push, when it is to be recorded, because its refusal may be about that alone: by something in front
    /// of the service, or by a 401 at which earlier pushes have ended while the table answers. A 403 is about who is signed in.
    mutating func takeAlone() -> (InFlightOperation, PushAnswer)? {
        guard held.count == 1, held[0].1.isPage || held[0].1.error?.status == 401 else { return nil }
        return held.removeFirst()
    }

    /// The end of a push that got no other answer.
    var onlyAnswer: SyncError? {
        guard let answer = held.first?.1, let error = answer.error else { return nil }
        guard !answer.isPage else { return SyncError(aborting: error) }
        return SyncError(
            .pushAbortedAuthentication,
            "The server forbids every change; sign in as somebody who may write and push: nothing was lost.",
            cause: error
        )
    }
}

extension PushAnswer {
    /// Whether it may be the user who may not write, or the way to the service.
    fileprivate var mayBeAboutAll: Bool { isPage || [401, 403].contains(error?.status) }

    /// Whether a page of something in front of the service has taken its place.
    fileprivate var isPage: Bool { error?.isPageInFront ?? false }
}
