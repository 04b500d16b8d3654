// Changes that are given up.
extension ItemMachine {
    /// What waits is given up: the row is as the server last had it.
    ///
    /// While something is on its way that may still arrive, the change becomes one that takes it back, and runs its course
    /// silently.
    package mutating func discard() -> RowEffect<Row> {
        guard var waiting = change else { return .none }
        guard !waiting.isUndo else {
            // It runs its course.
            return waiting.state == .pending ? .none : leaveUndone()
        }
        if !waiting.sent.isEmpty {
            // What is on its way goes over the server's row, and that has to be there again.
            takeOverKept()
            memory.forgetKept()
            waiting = change ?? waiting
        }
        memory.gaveUpDecision()
        if let base = waiting.base, base.version != waiting.baseVersion, let shown = waiting.shown {
            // The server was set up anew, and the base is none of its rows: what it has shown has to be there again.
            waiting.rebase(onto: shown)
        }
        if waiting.isBasedOnOlderRow, waiting.base == nil, !waiting.sent.isEmpty, let shown = waiting.shown {
            // What the app has seen is not at hand. What was here when it was saved over that has to be there again.
            waiting.rebase(onto: shown)
        }
        // While something is on its way the base is what has to be there again; the row that was shown may be older.
        let target = waiting.sent.isEmpty ? waiting.shown ?? waiting.base : waiting.base
        let effect: RowEffect<Row> = target.flatMap { $0.isDeleted ? nil : .server($0) } ?? .remove
        // What the server has is not at hand.
        let isUnknown = target == nil && waiting.kind != .insert && !waiting.isInsertTakenBack
        guard !waiting.sent.isEmpty else {
            // What a pull has brought is what the server has, and no longer what a local row was kept over.
            if waiting.asksForRow, let shown = waiting.shown { memory.sent.removeAll { $0.isDead(given: shown) } }
            if let target, target.isDeleted {
                // The deletion of others is seen now.
                if waiting.shown == nil { memory.isDeleted = true } else { memory.deleted() }
            } else if let target {
                memory.replaced(by: target.version)
            }
            if isUnknown { needsRow = true }
            end(with: target)
            return effect
        }
        waiting.edited()
        waiting.isUndo = true
        waiting.isForced = false
        waiting.replacedKind = nil
        waiting.restores = false
        waiting.deletedRow = nil
        waiting.kind = isUnknown || effect != .remove ? .update : .delete
        if isUnknown { waiting.baseVersion = nil }
        change = waiting
        return effect
    }

    /// What takes a change back ends: the server did not let it be taken back, and whoever decides has been told. What is
    /// there is there, and may still come.
    mutating func leaveUndone() -> RowEffect<Row> {
        let base = change?.base
        needsRow = true
        drop()
        // The local row has what was to be there again, under the version of what is there: no edit may go on from it.
        guard let there = base else { return .none }
        if there.isDeleted { memory.deleted() } else { memory.replaced(by: there.version) }
        return there.isDeleted ? .remove : .server(there)
    }
}

extension QueuedChange {
    /// Whether it takes a change back without knowing what was there before: the server's row is to take its place.
    var takesBackUnknown: Bool { isUndo && kind == .update && base == nil }

    /// Whether this is the deletion of an item that this device has made, and that may have arrived.
    fileprivate var isInsertTakenBack: Bool {
        kind == .delete && sent.contains { $0.kind == .insert || $0.kind == .tombstone && $0.version == nil }
    }
}
