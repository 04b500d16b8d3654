/// What is to be asked of the server for one item.
package enum ItemRequest<Row: MachineRow>: Hashable, Sendable {
    case insert(Row)
    /// Only servers without versions are sent an update or deletion without one.
    case update(Row, version: Row.Version?, restoring: Bool)
    case delete(version: Row.Version?)
    /// A tombstone, made or written anew, so that what was sent before cannot make the row live.
    case tombstone(Row?, version: Row.Version?)
    /// A tombstone gets the content that it is to be brought back with, where that takes two requests: what was deleted must
    /// not be live for anybody in between.
    case fillTombstone(Row, version: Row.Version)
    /// The row is looked up before anything is sent.
    case lookUp

    /// What is remembered of it.
    var entry: SentRequest<Row>? {
        switch self {
        case .insert(let row): SentRequest(.insert, content: row)
        case .update(let row, let version, let restoring):
            SentRequest(restoring ? .restore : .update, content: row, version: version)
        case .delete(let version): SentRequest(.delete, version: version)
        // The row may be live for a moment, where this takes steps, or for longer when that is interrupted.
        case .tombstone(let row, let version): SentRequest(.tombstone, content: row, version: version)
        case .fillTombstone(let row, let version): SentRequest(.fill, content: row, version: version)
        case .lookUp: nil
        }
    }

    /// Whether it deletes, and does nothing else.
    var isDeletion: Bool {
        if case .delete = self { true } else { false }
    }

    /// Whether it asks for a row, or is a step before the change itself: the answer says nothing of what that will meet.
    package var comesBeforeTheChange: Bool {
        switch self {
        case .lookUp, .fillTombstone: true
        case .insert, .update, .delete, .tombstone: false
        }
    }

    /// Whether it brings a deleted row back, or is a step to that.
    var brings: Bool {
        switch self {
        case .update(_, _, let restoring): restoring
        case .fillTombstone: true
        case .insert, .delete, .tombstone, .lookUp: false
        }
    }

    /// Whether it may have a tombstone be live for a moment, or for longer when it is interrupted, with the content that the
    /// tombstone has, where a server can only show it before it is written.
    var mayShowTombstone: Bool {
        if case .tombstone(_, let version) = self { version != nil } else { brings }
    }

    /// Whether it asks for a row that is there, or changes one.
    var isOfRow: Bool {
        switch self {
        case .update, .lookUp: true
        case .insert, .delete, .tombstone, .fillTombstone: false
        }
    }

    /// What is remembered of it when it was carried out, in a version that was not named, and the server has shown, or not,
    /// what it made of the row.
    func entry(showing shown: Row?) -> SentRequest<Row>? {
        var entry = entry
        if let shown { entry?.content = shown }
        // The row is there: whoever deletes it need not keep an insert away.
        if entry?.kind == .insert { entry?.kind = .update }
        return entry
    }
}

/// A request that is under way, and the change as it was when it left.
package struct RequestUnderWay<Row: MachineRow>: Hashable, Sendable {
    package var request: ItemRequest<Row>
    package var editCounter: Int64
    /// What the change had sent before this attempt.
    package var sentBefore: [SentRequest<Row>]
    /// Whether the change had sent anything before this attempt.
    package var wasSentBefore: Bool
    /// That the tombstone may be shown as it is, where the change remembers that as well.
    var showing: SentRequest<Row>?
    /// Whether it may show a tombstone as it is: that is remembered, or there is none.
    package var mayShowTombstone = true

    /// What is remembered of this attempt.
    var entries: [SentRequest<Row>] {
        // Not by `compactMap(\.self)`: in generic code that makes the key path anew each time, 4 µs.
        guard let entry = request.entry else { return showing.map { [$0] } ?? [] }
        return showing.map { [$0, entry] } ?? [entry]
    }
}

/// What this push has found out about the server's row so far.
package enum LookUp: Hashable, Sendable {
    /// Nothing.
    case notDone
    /// It was looked up, or an answer has shown it.
    case done
    /// It is a tombstone with the content that was to be brought back when the change had been edited so often.
    case tombstoneFilled(editCounter: Int64)
    /// It is a tombstone that the server can only show as it is before it gets another content.
    case tombstoneIsShown
}

// What is sent.
extension ItemMachine {
    /// Chooses the next request and remembers it as sent; nil when nothing is to be sent, or when there is no row to send.
    ///
    /// - Parameters:
    ///   - row: The local row as it would be sent.
    ///   - lookUp: What this push has found out about the server's row.
    ///   - restoresInSteps: Whether a tombstone gets its content before it is brought back, by a request of its own.
    /// - Returns: What is to be sent.
    package mutating func prepare(
        _ row: Row?,
        after lookUp: LookUp = .notDone,
        restoresInSteps: Bool = false
    ) -> RequestUnderWay<Row>? {
        takeOverDropped()
        guard let waiting = change, let request = request(for: waiting, row, lookUp, restoresInSteps) else {
            return nil
        }
        let showing = waiting.showing(request)
        // Once it may have happened, it may happen again.
        let isShown = showing.map { lookUp == .tombstoneIsShown || waiting.sent.contains($0) } ?? false
        let underWay = RequestUnderWay(
            request: request,
            editCounter: waiting.editCounter,
            sentBefore: waiting.sent,
            wasSentBefore: waiting.wasSent,
            showing: isShown ? showing : nil,
            mayShowTombstone: showing == nil || isShown
        )
        for entry in underWay.entries { change?.willSend(entry) }
        return underWay
    }

    /// What a dropped change has sent counts as sent by the one that waits.
    ///
    /// Who inserts, or deletes what was inserted, has not seen what was written to a row that was there, and left here
    /// without a word to the server. Any other change of a row that was kept is based on the server's, not on the local one
    /// of then; over a tombstone it brings the row back, and where there was nothing it makes it.
    ///
    /// - Returns: What was sent.
    @discardableResult package mutating func takeOverDropped() -> [SentRequest<Row>] {
        // Mostly nothing is remembered, and each piece of the change is a copy.
        guard !memory.sent.isEmpty else { return [] }
        takeOverKept()
        guard memory.hasSent, let waiting = change else { return [] }
        let sent = memory.sent.filter { $0.kind != .none }
        memory.sent.removeAll { $0.kind != .none }
        let taken = sent.filter { !waiting.isOfNewRow || !$0.writesRow || $0.kind == .insert }
        change?.sent.insert(contentsOf: taken, at: 0)
        change?.wasSent = true
        return sent
    }

    /// Bases the change on the server's row over which the local one was kept, or on none.
    mutating func takeOverKept() {
        guard let waiting = change, let kept = memory.kept else { return }
        // What is deleted where there is nothing is done. Who takes that back has what was kept.
        if waiting.kind == .delete, !waiting.isUndo, kept.content == nil { return }
        memory.forgetKept()
        guard waiting.kind != .insert, !waiting.isBasedOnOlderRow else { return }
        guard let there = kept.content else {
            guard waiting.kind == .update else { return }
            change?.kind = .insert
            change?.base = nil
            change?.baseVersion = nil
            return
        }
        // What waited had removed the row, so that the one which was kept is in no version.
        let isUnnamed = waiting.baseVersion == nil && waiting.base.map { $0.version == nil } ?? false
        if isUnnamed { change?.baseVersion = kept.version }
        if isUnnamed || waiting.baseVersion == kept.version { change?.base = there }
        guard there.isDeleted else { return }
        change?.base = there
        change?.baseVersion = there.version
        change?.restores = waiting.kind == .update
    }

    private func request(
        for waiting: QueuedChange<Row>,
        _ row: Row?,
        _ lookUp: LookUp,
        _ restoresInSteps: Bool
    ) -> ItemRequest<Row>? {
        if waiting.hasUnknownOutcome, lookUp == .notDone { return .lookUp }
        switch waiting.kind {
        case .insert: return row.map { .insert($0) }
        case .update:
            if waiting.isUndo, waiting.base == nil, lookUp == .notDone { return .lookUp }
            guard let row else { return nil }
            guard waiting.baseVersion != nil || lookUp == .done else { return .lookUp }
            // What was to be shown once has its content, or gets it then. To fill it would leave two ways in which a tombstone can
            // have this content: because of that, or because the row was shown and somebody has deleted it since.
            let isFilled =
                lookUp == .tombstoneIsShown || lookUp == .tombstoneFilled(editCounter: waiting.editCounter)
                || waiting.sent.contains { entry in
                    entry.kind == .restore && entry.version == waiting.baseVersion
                        && (entry.showsTombstone || entry.content == row)
                }
            if waiting.restores, restoresInSteps, !isFilled, let version = waiting.baseVersion {
                return .fillTombstone(row, version: version)
            }
            return .update(row, version: waiting.baseVersion, restoring: waiting.restores)
        case .delete:
            if waiting.base?.isDeleted == true, let version = waiting.baseVersion {
                let restores = waiting.sent.filter { $0.kind == .restore && $0.version == version }
                // Where writing a tombstone takes two requests the row is live between them: not without need, and with what
                // may be there anyway. With the content of the tombstone it might be somebody else who has brought it back.
                let restore = restores.last { !$0.showsTombstone } ?? restores.last
                return restore.map { .tombstone($0.content ?? waiting.base, version: version) } ?? .lookUp
            }
            if let version = waiting.baseVersion { return .delete(version: version) }
            // To look it up is not enough: the insert may arrive after that.
            if let insert = waiting.sent.last(where: { $0.kind == .insert }) {
                return .tombstone(insert.content ?? waiting.deletedRow, version: nil)
            }
            return lookUp == .done ? .delete(version: nil) : .lookUp
        }
    }
}

extension QueuedChange {
    /// That a request shows the tombstone that it is based on as it is; nil where it is based on none.
    fileprivate func showing(_ request: ItemRequest<Row>) -> SentRequest<Row>? {
        guard request.mayShowTombstone, let base, base.isDeleted, let version = baseVersion,
            request.entry?.version == version
        else { return nil }
        return SentRequest(.restore, content: base, version: version)
    }

    /// Whether it is an insert, or takes one away that has left.
    fileprivate var isOfNewRow: Bool {
        guard kind == .delete else { return kind == .insert }
        return base == nil && baseVersion == nil && sent.contains { $0.kind == .insert }
    }
}
