/// What waits for one item: what it will do, the server's row it is based on, and what it has sent that may still arrive.
package struct QueuedChange<Row: MachineRow>: Hashable, Sendable {
    /// What it does.
    package enum Kind: Int64, Hashable, Sendable {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// Where it stands.
    package enum State: Hashable, Sendable {
        /// The next push sends it.
        case pending
        /// The server has another row; it waits for a decision.
        case conflicted
        /// The server refused it; it waits to be edited, settled or retried.
        case parked
    }

    package var kind: Kind
    package var state = State.pending

    /// How often the item changed since.
    package var editCounter: Int64 = 0

    /// The server's row that the change is based on, for undoing and for merges; nil when it is not at hand.
    package var base: Row?

    /// The version that is sent along; nil when there is none to be sure of: then the row is looked up first.
    package var baseVersion: Row.Version?

    /// Whether the app based the change on a state older than the one that it had here: what was sent in between proves
    /// nothing for it.
    package var isBasedOnOlderRow = false

    /// Whether a tombstone, the ``base``, is to be brought back.
    package var restores = false

    /// What has left and may still arrive. An entry leaves only when it can never succeed any more.
    package var sent: [SentRequest<Row>] = []

    /// Whether anything was sent since the base was set, dead or not.
    package var wasSent = false

    /// Whether it goes over the first row that the server shows, or names the version of: somebody has decided so without
    /// seeing it, or about a tombstone that has none. Of a later one nothing was decided, and it is a conflict, unless what was
    /// sent explains it.
    package var isForced = false

    /// Whether it takes back what was sent, after the change itself was given up.
    package var isUndo = false

    /// Whether a pull has seen a row that was not taken: it is asked for when the change has ended.
    package var asksForRow = false

    /// The row that the server has shown last.
    package var shown: Row?

    /// The local row as it was when it was deleted.
    package var deletedRow: Row?

    /// What waited before the deletion that this is; nil when nothing did.
    package var replacedKind: Kind?

    /// A failure of the server that leaves open whether the change was carried out: the row is looked up first.
    package var hasUnknownOutcome = false

    package init(_ kind: Kind) { self.kind = kind }

    /// Whether it makes a row that the server has not had, as far as is known: an insert, or a change of a row whose insert
    /// was dropped, and which was kept here all the same.
    var makesRow: Bool {
        guard kind == .update else { return kind == .insert }
        guard let base, base.version == nil, baseVersion == nil, !isUndo, !restores else { return false }
        // What may have been brought back may have been deleted by others since.
        return !sent.contains { $0.kind == .restore }
    }

    /// Bases the change on a row of the server.
    mutating func rebase(onto shown: Row?) {
        base = shown
        baseVersion = shown?.version
        isBasedOnOlderRow = false
        restores = false
        wasSent = false
        hasUnknownOutcome = false
        isForced = false
        self.shown = nil
        guard let shown else { return }
        sent.removeAll { $0.isDead(given: shown) }
        if replacedKind == .insert { replacedKind = .update }
    }

    /// Takes note of a change made here: earlier answers are out of date.
    mutating func edited() {
        editCounter += 1
        state = .pending
        isUndo = false
    }

    /// Makes a deletion a change with content: of the row that was to be deleted, or a new one.
    mutating func writeAgain() {
        kind = base == nil && baseVersion == nil ? .insert : .update
        restores = base?.isDeleted == true
        deletedRow = nil
        replacedKind = nil
        edited()
    }

    /// Remembers what is about to be sent.
    mutating func willSend(_ request: SentRequest<Row>) {
        wasSent = true
        guard !sent.contains(request) else { return }
        // More attempts in a row with other content each, all without an answer, are not to be expected; the first one may
        // have made the row.
        if sent.count == Self.mostSent { sent.remove(at: 1) }
        sent.append(request)
    }

    /// Forgets what was remembered of a request that has not left, or was certainly not carried out.
    package mutating func didNotLeave(_ request: RequestUnderWay<Row>) {
        let entries = request.entries.filter { !request.sentBefore.contains($0) }
        guard !entries.isEmpty else { return }
        sent.removeAll { entries.contains($0) }
        if sent.isEmpty { wasSent = request.wasSentBefore }
    }

    private static var mostSent: Int { 32 }

    /// Whether a tombstone that is shown is the very one over which a request was to go.
    func isRefused(
        _ request: RequestUnderWay<Row>,
        over shown: Row,
        _ comparison: some RowComparison<Row>
    ) -> Bool {
        guard let base, base.isDeleted, shown.isDeleted, baseVersion == shown.version,
            let entry = request.request.entry, entry.version == shown.version,
            !base.contradicts(shown), !request.request.isDeletion
        else { return false }
        // Without versions it is known by its content.
        return shown.version != nil || request.request.brings && comparison.isUnchanged(base, shown)
    }

    /// Whether one of the own deletions may have left a tombstone: a deletion leaves the content of the version that it
    /// wants. With another one, written here or elsewhere, it is somebody else who has deleted the row since.
    func mayHaveLeft(_ tombstone: Row, _ comparison: some RowComparison<Row>) -> Bool {
        sent.contains { $0.mayHaveLeft(tombstone, over: base, comparison) }
    }
}
