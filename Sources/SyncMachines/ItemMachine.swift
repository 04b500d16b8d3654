/// Decides everything about one item: what local changes make of what waits, what is sent, what answers and pulled rows
/// mean. A value without clock, store or network; whoever performs stores it, together with the row, in one transaction
/// per event.
///
/// The rules are those that held in an exhaustive exploration of one row, two devices and a server with bounded faults:
///
/// 1. What goes out was stored before.
/// 2. An entry of `sent` leaves only when it can never succeed any more.
/// 3. A change is forgotten only when all its entries are dead.
/// 4. Every request but an insert carries a version.
/// 5. A pulled row never overwrites a change; it is asked for again when the change has ended.
/// 6. A page that was asked for before an answer was recorded passes over the row of that answer.
/// 7. A change that is given up while something is on its way becomes one that takes it back.
/// 8. It is remembered that this device deleted the row, or saw it deleted.
///
/// Where the server keeps nothing of a deleted row, no rule can tell whether an insert without an answer never arrived, or
/// made a row that others have removed since: every request is answered alike, and the row is made anew. Nor can it tell who
/// has deleted a row that is not there, and nothing keeps a late insert away.
package struct ItemMachine<Row: MachineRow>: Hashable, Sendable {
    /// What waits.
    package var change: QueuedChange<Row>?

    /// What outlives it.
    package var memory: ItemMemory<Row>

    /// Whether the row is to be asked for by its id.
    package var needsRow: Bool

    package init(
        change: QueuedChange<Row>? = nil,
        memory: ItemMemory<Row> = .init(),
        needsRow: Bool = false
    ) {
        self.change = change
        self.memory = memory
        self.needsRow = needsRow
    }

    /// Ends what waits.
    ///
    /// - Parameter known: The row or tombstone of the server that takes its place, when there is one.
    mutating func end(with known: Row? = nil) {
        guard let ended = change else { return }
        if ended.asksForRow {
            let hasNews = known.map { known in
                ended.shown.map { $0.version == nil || $0.version != known.version || $0.contradicts(known) } ?? true
            }
            if hasNews ?? true { needsRow = true }
        }
        change = nil
    }
}

/// What is remembered of a row beyond the changes that wait for it.
package struct ItemMemory<Row: MachineRow>: Hashable, Sendable {
    package typealias Version = Row.Version

    /// The versions that only this device's own writes have left behind, the newest last. A row of others ends the chain.
    package var ownVersions: [Version] = []

    /// Whether the chain holds a row of others, because a decision goes over it that was not carried out so far. Who gives
    /// that up has their row: nothing from before has seen it.
    package var holdsRowOfOthers = false

    /// Whether this device deleted the row, or saw it deleted, and it is not there again.
    package var isDeleted = false

    /// What a change has sent that was dropped, with the local row left as it is, and what may still arrive, and what the
    /// server had then; or what was carried out, in a version that the server has not named. The next change takes it over.
    package var sent: [SentRequest<Row>] = []

    package init() {}

    package var isEmpty: Bool { ownVersions.isEmpty && !isDeleted && sent.isEmpty }

    /// The longest chain. An editor that was opened before so many own writes, but after the first of them, finds a conflict.
    private static var longestChain: Int { 64 }

    /// Takes note of an own write over a version; nil when the server has not said what it has made.
    mutating func wrote(_ version: Version?, over base: Version?) {
        isDeleted = false
        holdsRowOfOthers = false
        guard version != nil || base == nil else {
            if let base, !ownVersions.contains(base) { ownVersions = [base] }
            return
        }
        wentOver(version, from: base)
    }

    /// Takes note of a row of others that somebody has decided to go over: an editor that was opened before has to be told
    /// nothing, as long as it stays at that.
    mutating func decided(over version: Version?, from base: Version?) {
        wentOver(version, from: base)
        holdsRowOfOthers = !ownVersions.isEmpty
    }

    /// Forgets which versions were left behind, and over which one the local row was kept: they may be used again for
    /// other rows. That the row was deleted, or kept where there was none, and what may still arrive, is as it was.
    package mutating func forgetVersions() {
        endChain()
        sent = sent.compactMap { $0.kind != .none ? $0 : $0.isOfNoRow ? SentRequest(.none) : nil }
    }

    /// Whether the local row stays where the server has none: it was kept although there was none, or although what was to
    /// make it may still arrive.
    package var staysWithoutRow: Bool { sent.contains { $0.kind == .insert || $0.isOfNoRow } }

    /// Whether the local row was kept although the server has none, or a tombstone.
    package var isKeptWithoutRow: Bool { kept.map { $0.isOfNoRow || $0.content?.isDeleted ?? false } ?? false }

    /// Whether anything that left may still arrive.
    package var hasSent: Bool { sent.contains { $0.kind != .none } }

    /// The server's row over which the local one was kept.
    var kept: SentRequest<Row>? { sent.last { $0.kind == .none } }

    /// Takes note of the row or tombstone over which the local row is kept from here on.
    package mutating func keep(over shown: Row) {
        forgetKept()
        sent.append(SentRequest(.none, content: shown, version: shown.version))
    }

    /// Forgets over what the local row was kept.
    mutating func forgetKept() { sent.removeAll { $0.kind == .none } }

    /// Takes note that what was decided is given up.
    mutating func gaveUpDecision() {
        guard holdsRowOfOthers else { return }
        endChain()
    }

    /// Takes note of a version that is left behind by an own write, or by nothing that anybody would miss.
    mutating func wentOver(_ version: Version?, from base: Version?) {
        guard let version else { return endChain() }
        if let base, !ownVersions.contains(base) { ownVersions = [base] }
        // Nothing was left behind: the next write goes over this version, and begins with it.
        guard !ownVersions.isEmpty else { return }
        if ownVersions.last != version { ownVersions.append(version) }
        // An editor is opened before the first of its saves more often than between two of them.
        if ownVersions.count > Self.longestChain { ownVersions.remove(at: 1) }
    }

    /// Takes note of an own deletion: whoever holds the row in an editor has seen all that it deleted.
    mutating func deletedHere(over base: Version?) {
        isDeleted = true
        holdsRowOfOthers = false
        ownVersions = base.map { ownVersions.contains($0) ? ownVersions : [$0] } ?? []
    }

    /// Takes note of a deletion that others may have made.
    mutating func deleted() {
        isDeleted = true
        endChain()
    }

    /// Takes note of a row that took the place of the local one.
    mutating func replaced(by version: Version?) {
        isDeleted = false
        tookIn(version)
    }

    /// Takes note of a row whose content is in the local one now, as a whole or merged: what was seen before it has not seen
    /// that.
    mutating func tookIn(_ version: Version?) {
        if let version, ownVersions.contains(version), !holdsRowOfOthers { return }
        endChain()
    }

    private mutating func endChain() {
        ownVersions = []
        holdsRowOfOthers = false
    }
}
