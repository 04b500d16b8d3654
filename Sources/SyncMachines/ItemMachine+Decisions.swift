/// What the server has of an item, as whoever decides has seen it.
package enum SeenOnServer<Row: MachineRow>: Hashable, Sendable {
    /// A row or tombstone.
    case row(Row)
    /// None, not even a tombstone.
    case nothing
    /// It was not shown.
    case hidden
    /// It does not matter: the server refused the change.
    case refused
}

// Decisions about what the server did not take.
extension ItemMachine {
    /// The change stays, over what the server has. When its content is that of a merge, it has taken that in: an editor that
    /// was opened before has not seen it, and must not go over it.
    package mutating func keepMine(_ seen: SeenOnServer<Row>, isMerged: Bool = false) -> RowEffect<Row> {
        // What was there before is not known, and there is no row here: nothing can be sent over the server's.
        if change?.takesBackUnknown ?? false, seen == .hidden { return leaveUndone() }
        let isUndo = change?.isUndo ?? false
        if let undone = change, isUndo, undone.kind == .delete, seen != .refused {
            // What was to be taken back is what is deleted from now on.
            change?.deletedRow = undone.base ?? undone.sent.last { $0.content != nil }?.content
        }
        change?.edited()
        guard var waiting = change else { return .none }
        switch seen {
        case .refused:
            change?.isUndo = isUndo
            return .none
        case .row(let shown):
            if waiting.kind == .delete, shown.isDeleted {
                memory.deleted()
                end(with: shown)
                return .none
            }
            if isMerged {
                memory.tookIn(shown.version)
            } else {
                // An editor that was opened before the decision has to be told nothing.
                memory.decided(over: shown.version, from: waiting.baseVersion)
            }
            if !shown.isDeleted { memory.isDeleted = false }
            // What a pull has passed over was decided about.
            if let passedOver = waiting.shown, passedOver.version != nil, passedOver.version == shown.version,
                !passedOver.contradicts(shown)
            {
                waiting.asksForRow = false
            }
            waiting.rebase(onto: shown)
            // A live row that no version names is looked up first, and known by its content.
            waiting.isForced = shown.version == nil && shown.isDeleted
            if waiting.kind != .delete { waiting.kind = .update }
            waiting.restores = shown.isDeleted && waiting.kind == .update
            change = waiting
            return waiting.kind == .delete ? .none : .adopt(shown)
        case .nothing:
            guard waiting.kind != .delete else {
                if waiting.sent.isEmpty { end() }
                return .none
            }
            waiting.rebase(onto: nil)
            waiting.kind = .insert
            change = waiting
            return .none
        case .hidden:
            // The deletion of a row that is not known cannot be taken back: it stays what takes another change back.
            if isUndo, waiting.kind == .delete, waiting.deletedRow == nil { waiting.isUndo = true }
            waiting.rebase(onto: nil)
            waiting.isForced = true
            if waiting.kind == .insert { waiting.kind = .update }
            change = waiting
            return .none
        }
    }

    /// A deletion becomes a change with content again, and what takes a change back one of its own: it has content that
    /// must not be dropped silently.
    package mutating func keepContent() {
        change?.isUndo = false
        change?.isForced = false
        if change?.kind == .delete { change?.writeAgain() }
    }

    /// The change is dropped, and the server's row takes the place of the local one.
    package mutating func takeServer(_ seen: SeenOnServer<Row>) -> RowEffect<Row> {
        guard let waiting = change else { return .none }
        // A pull may have brought a newer row than the one that was seen.
        var newest = waiting.shown
        if newest == nil, case .row(let shown) = seen { newest = shown }
        guard waiting.sent.isEmpty, seen != .refused else { return discard() }
        if let newest {
            memory.sent.removeAll { $0.isDead(given: newest) }
            if newest.isDeleted { memory.deleted() } else { memory.replaced(by: newest.version) }
            end(with: newest)
            return newest.isDeleted ? .remove : .server(newest)
        }
        if seen == .nothing {
            end()
            return .remove
        }
        // Until it is asked for, the row is as it was before the change.
        needsRow = true
        end()
        if let base = waiting.base { return base.isDeleted ? .remove : .server(base) }
        // The server never had it.
        if waiting.kind == .insert || waiting.replacedKind == .insert { return .remove }
        return waiting.deletedRow.map { .local($0) } ?? RowEffect.none
    }

    /// The row is deleted instead, here and on the server.
    package mutating func deleteInstead(_ row: Row?, _ seen: SeenOnServer<Row>) -> RowEffect<Row> {
        guard let waiting = change else { return .none }
        // Whoever decides wants the row deleted, also when the deletion was to take a change back.
        change?.isUndo = false
        guard waiting.kind != .delete else {
            if waiting.deletedRow == nil { change?.deletedRow = row }
            _ = keepMine(seen)
            return .remove
        }
        change?.kind = .delete
        change?.isForced = false
        change?.deletedRow = row
        _ = keepMine(seen)
        // Taken back, it is a change again, over what was seen.
        change?.replacedKind =
            switch seen {
            case .refused: waiting.kind
            case .nothing: .insert
            case .row, .hidden: .update
            }
        return .remove
    }

    /// The change is dropped, and the local row stays. What comes after it goes over what was seen, and over nothing else
    /// that a pull may have brought; where there was nothing, it makes the row. What has left may arrive all the same, and is remembered.
    package mutating func keepLocal(_ seen: SeenOnServer<Row>) -> RowEffect<Row> {
        guard let dropped = change else { return .none }
        drop()
        if dropped.asksForRow, !dropped.hasShown(seen) { needsRow = true }
        switch seen {
        case .row(let shown):
            memory.sent.append(SentRequest(.none, content: shown, version: shown.version))
            // With the version of a tombstone some servers would carry a plain change out, and the row stay deleted.
            return shown.isDeleted ? .none : .adopt(shown)
        case .refused:
            if let base = dropped.base, base.version == dropped.baseVersion {
                memory.sent.append(SentRequest(.none, content: base, version: base.version))
            } else if dropped.kind == .insert, dropped.sent.isEmpty {
                // It is refused for certain, and nothing else was sent. Otherwise others may have deleted what it has made.
                memory.sent.append(SentRequest(.none))
            }
            return .none
        case .nothing:
            memory.sent.append(SentRequest(.none))
            return .none
        case .hidden: return .none
        }
    }

    /// Drops the change, and remembers what it has sent.
    package mutating func drop() {
        guard let dropped = change else { return }
        change = nil
        memory.sent += dropped.sent.map { entry in
            // What it deletes is what the change was based on.
            entry.deletes && entry.content == nil
                ? SentRequest(entry.kind, content: dropped.base, version: entry.version) : entry
        }
    }
}

extension QueuedChange {
    /// Whether what a pull has brought since is what was seen.
    fileprivate func hasShown(_ seen: SeenOnServer<Row>) -> Bool {
        guard case .row(let row) = seen, let shown else { return false }
        return shown.version != nil && shown.version == row.version && !shown.contradicts(row)
    }
}
