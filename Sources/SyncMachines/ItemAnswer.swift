/// What a server said to a request.
package enum ItemAnswer<Row: MachineRow>: Hashable, Sendable {
    /// It was carried out; the row or tombstone as it is now, when it was shown.
    case taken(Row?)
    /// The server has this row or tombstone; the request was not carried out.
    case shown(Row)
    /// The server has no such row, not even a tombstone.
    case absent
    /// The server has another row than the one that the change is based on, and does not show it.
    case hidden
    /// The server has a live row in this version that cannot be read; nil when it names none. The request was not carried out.
    case unfit(version: Row.Version?)
    /// The server will not do it; whether that proves that it was not done by an earlier copy either.
    case refused(provesNothingWasDone: Bool)
    /// The server has stored the row under another id: none of the inserts has made, or will make, a row with this one.
    case storedUnderAnotherID
    /// Nothing was done: the server can only show the tombstone as it is before it gets another content, and that was not
    /// stored as something that may happen.
    case wouldShowTombstone
    /// The server failed; it may have been carried out.
    case failed
    /// There was no answer of the service; whether that proves that it was not done.
    case aborted(provesNothingWasDone: Bool)

    /// Whether it says what the server has.
    var tellsOfRow: Bool {
        switch self {
        case .taken, .shown, .absent, .hidden, .unfit: true
        case .refused, .storedUnderAnotherID, .wouldShowTombstone, .failed, .aborted: false
        }
    }
}

/// What follows from an answer.
package enum ItemOutcome<Row: MachineRow>: Hashable, Sendable {
    /// The server has what it should have.
    case done
    /// A further request follows at once.
    case again(LookUp)
    /// The server has another row, which may be a tombstone; nil when it has none.
    case conflict(Row?)
    /// The server has another row and does not show it.
    case hiddenConflict
    /// It stays what it was and waits: it was edited meanwhile, or the server could not be asked.
    case waits
    /// It is laid aside.
    case parked
    /// What became of it is not known.
    case unknown
    /// The answer is of a change that has ended.
    case ignored
}
