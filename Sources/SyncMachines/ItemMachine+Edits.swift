/// Why a local change contradicts what waits.
package enum EditRefusal: Error, Hashable, Sendable {
    /// The item has a change that waits: it is there already.
    case changeWaits
    /// The item has a deletion that waits.
    case deletionWaits
}

// Changes made here.
extension ItemMachine {
    /// An item is inserted.
    ///
    /// One whose deletion waits is brought back: as a change of the row that was to be deleted.
    package mutating func insert() throws(EditRefusal) {
        guard var waiting = change else {
            change = QueuedChange(.insert)
            return
        }
        guard waiting.kind == .delete else { throw .changeWaits }
        waiting.isForced = false
        waiting.writeAgain()
        change = waiting
    }

    /// An item is changed.
    ///
    /// - Parameters:
    ///   - stored: The local row before the change.
    ///   - seen: The version that the app gives for the state it has seen; nil for the stored one.
    /// - Returns: What becomes of the local row beside the change itself.
    /// - Throws: When a deletion waits.
    package mutating func update(_ stored: Row, seen: Row.Version?) throws(EditRefusal) -> RowEffect<Row> {
        guard change?.kind != .delete else { throw .deletionWaits }
        if change == nil {
            change = QueuedChange(.update)
            change?.base = stored
            change?.baseVersion = stored.version
        } else {
            change?.edited()
            // What was decided without seeing the server's row was decided about what was here then.
            change?.isForced = false
        }
        return base(onto: seen, insteadOf: stored)
    }

    /// An item is deleted.
    ///
    /// - Parameters:
    ///   - stored: The local row; nil when there is none.
    ///   - seen: The version that the app gives for the state it has seen; nil for the stored one.
    /// - Returns: Whether the change that waited was an insert that nobody knows of: both are gone.
    /// - Throws: When a deletion waits already.
    package mutating func delete(_ stored: Row?, seen: Row.Version?) throws(EditRefusal) -> Bool {
        guard var waiting = change else {
            change = QueuedChange(.delete)
            change?.base = stored
            change?.baseVersion = stored?.version
            change?.deletedRow = stored
            change?.isForced = stored == nil && seen == nil
            if let stored { _ = base(onto: seen, insteadOf: stored) } else { change?.baseVersion = seen }
            return false
        }
        if waiting.kind == .delete {
            guard waiting.isUndo else { throw .deletionWaits }
            waiting.edited()
            change = waiting
            return false
        }
        // Who names a version of the server means a row that is there.
        let namesOther = seen != nil && seen != stored?.version
        // What was sent is dead once the server has a row, which may all the same have been made of it.
        let isUnsent = !waiting.wasSent && waiting.sent.isEmpty && !memory.sent.contains { $0.kind == .insert }
        if waiting.kind == .insert, waiting.state != .conflicted, isUnsent, !namesOther {
            // A row that the server has under this id is somebody else's.
            if waiting.shown != nil { needsRow = true }
            end()
            return true
        }
        // What was being taken back is still to be taken back when the deletion is.
        waiting.replacedKind = waiting.isUndo && stored == nil ? nil : waiting.kind
        waiting.deletedRow = stored
        if waiting.kind == .insert {
            // Nothing is known of the row that the server has, if it has one.
            waiting.base = nil
            waiting.baseVersion = nil
        }
        waiting.kind = .delete
        waiting.restores = false
        waiting.isForced = false
        waiting.edited()
        change = waiting
        if let stored { _ = base(onto: seen, insteadOf: stored) }
        return false
    }

    /// A deletion is taken back, with what waited before it.
    ///
    /// - Parameter comparison: How contents are compared.
    /// - Returns: What becomes of the local row; nil when no deletion waits.
    package mutating func undoDelete(_ comparison: some RowComparison<Row>) -> RowEffect<Row>? {
        guard var waiting = change, waiting.kind == .delete, !waiting.isUndo else { return nil }
        // Where there was none, the server's comes back.
        guard let row = waiting.deletedRow else { return discard() }
        // Who decided about the deletion has decided nothing about what it replaced.
        waiting.isForced = false
        guard !waiting.sent.contains(where: \.deletes) else {
            // It may have been carried out: the item is made anew.
            waiting.writeAgain()
            change = waiting
            return .local(row)
        }
        if let kind = waiting.replacedKind {
            if let shown = waiting.shown, waiting.isMadeOlderByDeletion { waiting.rebase(onto: shown) }
            waiting.kind = kind
            if kind == .insert {
                waiting.base = nil
                waiting.baseVersion = nil
                waiting.isBasedOnOlderRow = false
            }
            waiting.deletedRow = nil
            waiting.replacedKind = nil
            waiting.restores = kind == .update && waiting.base?.isDeleted == true
            waiting.edited()
            change = waiting
        } else {
            // Nothing waited before: the row is as it was, if it is still what the deletion is based on, or was kept over that.
            let isAsItWas =
                waiting.isBasedOnOlderRow || waiting.base?.version == row.version || waiting.base?.isDeleted == true
            guard isAsItWas, waiting.shown == nil, waiting.base != nil || waiting.sent.isEmpty else {
                return discard()
            }
            giveBack(waiting, row, comparison)
            end()
        }
        return .local(row)
    }

    /// Remembers anew what a deletion that was not sent has taken over from a change that was dropped before it.
    private mutating func giveBack(
        _ deletion: QueuedChange<Row>,
        _ row: Row,
        _ comparison: some RowComparison<Row>
    ) {
        memory.sent = deletion.sent + memory.sent
        // Without a change that was dropped it is what the row was.
        guard memory.kept == nil, let there = deletion.base, there.isDeleted || !comparison.isUnchanged(there, row)
        else { return }
        memory.sent.append(SentRequest(.none, content: there, version: there.version))
    }

    /// Bases the change on what the app has seen, when that is neither what is here nor one of this device's own writes
    /// since: what others changed in between is to be found out as a conflict.
    private mutating func base(onto seen: Row.Version?, insteadOf stored: Row) -> RowEffect<Row> {
        guard let seen, change?.kind != .insert, seen != stored.version, seen != change?.baseVersion,
            !memory.ownVersions.contains(seen)
        else { return .none }
        // What is given up later is given up for the server's row that was here.
        guard var waiting = change else { return .none }
        if waiting.shown == nil { waiting.shown = waiting.base }
        waiting.baseVersion = seen
        waiting.base = nil
        waiting.restores = false
        waiting.isBasedOnOlderRow = true
        change = waiting
        return .version(seen)
    }
}

extension QueuedChange {
    /// Whether it is the deletion that is based on an older row, and not what it has replaced, and the row that was here is
    /// still the newest that is known of.
    fileprivate var isMadeOlderByDeletion: Bool {
        isBasedOnOlderRow && !asksForRow && deletedRow?.version != baseVersion
            && deletedRow?.version == shown?.version
    }
}
