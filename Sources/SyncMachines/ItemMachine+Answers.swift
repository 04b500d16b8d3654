// Answers to what was sent.
extension ItemMachine {
    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - answer: What the server said.
    ///   - sent: What was asked.
    ///   - row: The local row now.
    ///   - comparison: How contents are compared.
    /// - Returns: What follows, and what becomes of the local row.
    package mutating func receive(
        _ answer: ItemAnswer<Row>,
        to sent: RequestUnderWay<Row>,
        _ row: Row?,
        _ comparison: some RowComparison<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard change != nil else { return (.ignored, .none) }
        var sent = sent
        let dropped = takeOverDropped()
        if !dropped.isEmpty {
            sent.sentBefore = dropped + sent.sentBefore
            sent.wasSentBefore = true
        }
        if answer.tellsOfRow { memory.forgetKept() }
        if case .shown(let shown) = answer, shown.version == nil, sent.request != .lookUp,
            !(shown.isDeleted && change?.kind == .delete), change?.isRefused(sent, over: shown, comparison) != true
        {
            // Sent on its ground, nothing could name the row that it is to go over. A look-up may show which one that is.
            let isFirst = !sent.wasSentBefore && sent.request.entry?.version != nil
            if isFirst, change?.editCounter == sent.editCounter { withdraw(sent) }
            change?.hasUnknownOutcome = true
            return (change?.editCounter == sent.editCounter ? .again(.notDone) : .waits, .none)
        }
        switch answer {
        case .taken(let shown): return taken(shown, sent)
        case .shown(let shown) where shown.isDeleted: return tombstone(shown, sent, row, comparison)
        case .shown(let shown): return live(shown, sent, row, comparison)
        case .absent: return absent(sent)
        case .hidden: return conflict(nil, sent, .hiddenConflict)
        case .unfit(let version): return unfit(version, sent)
        case .refused(let provesNothingWasDone):
            if provesNothingWasDone, case .tombstone(let row, version: nil) = sent.request {
                return tombstoneRefused(row, sent)
            }
            if provesNothingWasDone { withdraw(sent) }
            return refused(sent)
        case .storedUnderAnotherID:
            change?.sent.removeAll { $0.kind == .insert }
            guard change?.kind == .insert else { return refused(sent) }
            // Nothing of it is under this id.
            if change?.sent.isEmpty == true { change?.wasSent = false }
            // Whatever it says by now: sent again, it would be stored once more.
            change?.state = .parked
            return (.parked, .none)
        case .wouldShowTombstone:
            withdraw(sent)
            // It changes no tombstone, not even late.
            if case .fillTombstone(_, let version) = sent.request {
                change?.sent.removeAll { $0.kind == .fill && $0.version == version }
            }
            return change?.editCounter == sent.editCounter ? (.again(.tombstoneIsShown), .none) : (.waits, .none)
        case .failed:
            change?.hasUnknownOutcome = true
            return (.unknown, .none)
        case .aborted(let provesNothingWasDone):
            if provesNothingWasDone { withdraw(sent) }
            return (.waits, .none)
        }
    }

    /// It is laid aside, unless it was edited meanwhile.
    private mutating func refused(_ sent: RequestUnderWay<Row>) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard change?.editCounter == sent.editCounter else { return (.waits, .none) }
        change?.state = .parked
        return (.parked, .none)
    }

    /// Forgets the entry that this attempt has added: it was not carried out. A row that is made as a deleted one may have
    /// been made, and only its deletion refused.
    private mutating func withdraw(_ sent: RequestUnderWay<Row>) {
        if case .tombstone(_, version: nil) = sent.request { return }
        change?.didNotLeave(sent)
    }

    /// The server does not take what was inserted, not even as a deleted row, which was to keep the insert away: an insert with
    /// this content that is still on its way will be refused as well, as a server judges what a row has before it makes one. (What
    /// depends on other rows, such as that a name is taken, does not count as such a refusal: they may be gone by then.)
    /// One that arrived while the content was still taken has made a row. So the row is looked up: that there is none, or a
    /// tombstone, ends the deletion, and the row that was made is known by its content, and deleted in its version.
    private mutating func tombstoneRefused(
        _ row: Row?,
        _ sent: RequestUnderWay<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        // Others that left with another content may be taken, and are kept away next. What an older version has left without
        // its content was sent with this one.
        change?.sent.removeAll { $0.kind == .insert && ($0.content == nil || $0.content == row) }
        return change?.editCounter == sent.editCounter ? (.again(.notDone), .none) : (.waits, .none)
    }

    // MARK: The request was carried out

    private mutating func taken(
        _ shown: Row?,
        _ sent: RequestUnderWay<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        switch sent.request {
        case .lookUp: return (.again(.done), .none)
        case .insert: return written(shown, over: nil, sent)
        case .update(_, let version, _): return written(shown, over: version, sent)
        case .delete(let version), .tombstone(_, let version):
            memory.deletedHere(over: version)
            return deleted(shown)
        case .fillTombstone: return filled(shown, sent)
        }
    }

    private mutating func written(
        _ shown: Row?,
        over version: Row.Version?,
        _ sent: RequestUnderWay<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        memory.wrote(shown?.version, over: version)
        // Which version this has made may turn out later: the row is known by its content then.
        let unnamed = shown?.version == nil ? sent.request.entry(showing: shown) : nil
        guard waiting.editCounter != sent.editCounter else {
            // The server shows what it made of the row; without that it has to be asked for.
            if shown == nil { needsRow = true }
            end(with: shown)
            // What a server without versions has is never known by one.
            if let unnamed, version != nil { memory.sent = [unnamed] }
            return (.done, shown.map { .server($0) } ?? .none)
        }
        if waiting.takesBackUnknown {
            // What was there before is not known: what was written is given back.
            if shown == nil { needsRow = true }
            end(with: shown)
            if let unnamed, version != nil { memory.sent = [unnamed] }
            return (.done, shown.map { .server($0) } ?? .none)
        }
        if waiting.kind == .insert { waiting.kind = .update }
        if waiting.isBasedOnOlderRow {
            // The edit must not go over what it has not seen; who gives it up has what was written.
            if shown == nil || (waiting.asksForRow && waiting.shown?.version != shown?.version) { needsRow = true }
            waiting.shown = shown ?? waiting.shown
            waiting.sent = []
            change = waiting
            if let unnamed, version != nil { memory.sent = [unnamed] }
            return (.waits, .none)
        }
        waiting.rebase(onto: shown ?? unnamed?.content)
        // The row is there, whatever else was sent.
        waiting.sent = unnamed.map { [$0] } ?? []
        change = waiting
        return (.waits, waiting.kind == .delete ? .none : shown.map { .adopt($0) } ?? .none)
    }

    /// The server has no live row, and nothing that was sent can make one.
    private mutating func deleted(_ shown: Row?) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        // An undo that does not know what was there before takes what is there now.
        let isUnknownUndo = waiting.isUndo && waiting.base == nil
        guard waiting.kind != .delete, !isUnknownUndo else {
            end(with: shown)
            return (.done, isUnknownUndo ? .remove : .none)
        }
        // It was made again meanwhile.
        waiting.kind = .insert
        waiting.rebase(onto: nil)
        waiting.sent = []
        change = waiting
        return (.waits, .none)
    }

    /// The tombstone that is to be brought back has its content.
    private mutating func filled(
        _ shown: Row?,
        _ sent: RequestUnderWay<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        guard let shown, shown.version != nil else {
            // What it is now has to be looked up: nothing could name the tombstone that is to be brought back.
            change?.hasUnknownOutcome = true
            return (.again(.notDone), .none)
        }
        memory.wentOver(shown.version, from: waiting.baseVersion)
        waiting.rebase(onto: shown)
        guard waiting.kind != .delete else {
            change = waiting
            guard waiting.sent.isEmpty else { return (.waits, .none) }
            // It was deleted again meanwhile, and never was live.
            memory.deleted()
            end(with: shown)
            return (.done, .none)
        }
        waiting.kind = .update
        waiting.restores = true
        change = waiting
        return (
            waiting.editCounter == sent.editCounter ? .again(.tombstoneFilled(editCounter: sent.editCounter)) : .waits,
            .adopt(shown)
        )
    }

    // MARK: The server shows a row

    private mutating func live(
        _ shown: Row,
        _ sent: RequestUnderWay<Row>,
        _ row: Row?,
        _ comparison: some RowComparison<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        if waiting.takesBackUnknown {
            // What was there before is not known. What is there now stays, in a new version while something may arrive.
            waiting.rebase(onto: shown)
            change = waiting
            guard waiting.sent.isEmpty else { return (.again(.done), .server(shown)) }
            memory.replaced(by: shown.version)
            end(with: shown)
            return (.done, .server(shown))
        }
        let showing = waiting.sent.first { entry in
            entry.showsTombstone && entry.content.map { comparison.wrote($0, shown) } ?? false
        }
        if let showing {
            waiting.followShowing(showing, in: shown.version)
            change = waiting
        }
        let isBase =
            waiting.baseVersion.map { $0 == shown.version && waiting.base?.contradicts(shown) != true } ?? false
        if isBase, sent.request.entry?.version == shown.version {
            // It is not the row that was in the way: the server will not do this to it.
            withdraw(sent)
            waiting = change ?? waiting
            // Where the row is as it is to be, there is nothing that could be refused.
            guard waiting.kind != .delete, !waiting.isUndo, waiting.sent.isEmpty, let row, comparison.agrees(row, shown)
            else { return refused(sent) }
        }
        // What was sent may still be carried out on this very row: nothing ends before it cannot.
        let mayChange = waiting.sent.contains { !$0.isDead(given: shown) }
        if isBase, sent.request == .lookUp, mayChange { return (.again(.done), .none) }
        // A tombstone that is made in steps is live in between, and what deletes it again may still arrive.
        let isUnfinished = waiting.sent.contains { entry in
            (entry.kind == .tombstone || entry.kind == .fill)
                && entry.content.map { comparison.wrote($0, shown) } ?? false
        }
        if waiting.kind != .delete, let row, comparison.agrees(row, shown) {
            if mayChange || isUnfinished { return goOver(shown, mayBeDeleted: isUnfinished) }
            memory.wrote(shown.version, over: waiting.baseVersion)
            end(with: shown)
            return (.done, .server(shown))
        }
        let own = waiting.sent.first { entry in
            (entry.writesRow || entry.kind == .tombstone || entry.kind == .fill)
                && entry.content.map { comparison.wrote($0, shown) } ?? false
        }
        if let own, !waiting.isBasedOnOlderRow {
            memory.wrote(shown.version, over: waiting.baseVersion ?? own.version)
            return goOver(shown, mayBeDeleted: isUnfinished)
        }
        if waiting.isUndo {
            if mayChange, waiting.kind == .update {
                // A version that was used again: what takes the change back does not take theirs back. It stays, in a new version.
                waiting.rebase(onto: shown)
                change = waiting
                return (.again(.done), .server(shown))
            }
            if mayChange { return goOver(shown) }
            memory.replaced(by: shown.version)
            end(with: shown)
            return (.done, .server(shown))
        }
        if isBase, sent.request == .lookUp { return (.again(.done), .none) }
        if waiting.baseVersion == nil, let base = waiting.base, comparison.isBase(base, shown) {
            // It was asked for because versions may have been used again, and is the base still.
            return goOver(shown)
        }
        if waiting.isForced { return goOver(shown) }
        let base = waiting.base.flatMap { $0.isDeleted ? nil : $0 }
        if !sent.wasSentBefore, !waiting.isBasedOnOlderRow, waiting.editCounter == sent.editCounter,
            let base, comparison.isUnchanged(base, shown)
        {
            // Nobody changed anything that the app knows of.
            memory.wentOver(shown.version, from: waiting.baseVersion)
            return goOver(shown)
        }
        return conflict(shown, sent, .conflict(shown))
    }

    /// What the row holds is not known, and nobody here can see it: only what was decided without that goes over it.
    private mutating func unfit(
        _ version: Row.Version?,
        _ sent: RequestUnderWay<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        let sentVersion = sent.request.entry?.version
        if version != nil, waiting.baseVersion == version {
            // It is the row that the change is based on.
            if sent.request == .lookUp { return (.again(.done), .none) }
            if sentVersion == version {
                withdraw(sent)
                return refused(sent)
            }
        }
        waiting.sent.removeAll { entry in
            // Which version it is in is not known, but that it is not in the one that was asked for.
            version == nil ? entry.version == nil || entry.version == sentVersion : entry.isDead(at: version)
        }
        change = waiting
        if waiting.takesBackUnknown, waiting.sent.isEmpty {
            // What is there now stays, whatever it is.
            memory.replaced(by: version)
            needsRow = true
            end()
            return (.done, .none)
        }
        // What names no version can only be gone over by a request that names none either, once.
        let mayBeGoneOver = version != nil || sentVersion != nil || sent.request == .lookUp
        guard waiting.isForced, mayBeGoneOver else { return conflict(nil, sent, .hiddenConflict) }
        if waiting.kind == .insert { waiting.kind = .update }
        waiting.rebase(onto: nil)
        waiting.baseVersion = version
        // No version stands for the decision: it holds until the request that carries it out is answered.
        waiting.isForced = version == nil
        change = waiting
        guard let version, waiting.kind != .delete else { return (.again(.done), .none) }
        return (.again(.done), .version(version))
    }

    /// Bases the change on the row that the server has shown, and sends it again. A deletion of that very row which this
    /// device has sent may still arrive when it is said so.
    private mutating func goOver(
        _ shown: Row,
        mayBeDeleted: Bool = false
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        if waiting.kind == .insert { waiting.kind = .update }
        waiting.rebase(onto: shown)
        waiting.restores = shown.isDeleted && waiting.kind == .update
        if mayBeDeleted { waiting.willSend(SentRequest(.delete, content: shown, version: shown.version)) }
        change = waiting
        return (.again(.done), waiting.kind == .delete ? .none : .adopt(shown))
    }

    // MARK: The server shows a tombstone, or has nothing

    private mutating func tombstone(
        _ shown: Row,
        _ sent: RequestUnderWay<Row>,
        _ row: Row?,
        _ comparison: some RowComparison<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        // The tombstone that is to be brought back is still there.
        let isBase = waiting.kind == .update && waiting.restores && waiting.baseVersion == shown.version
        if isBase, !sent.request.brings {
            change?.sent.removeAll { $0.isDead(given: shown) }
            return (.again(.done), .none)
        }
        if waiting.isRefused(sent, over: shown, comparison) {
            // It is not the deletion that was in the way: the server will not do this to it.
            withdraw(sent)
            return refused(sent)
        }
        let isOverTombstone = waiting.restores && waiting.base?.isDeleted == true && waiting.baseVersion != nil
        let wasDeletedHere =
            waiting.mayHaveLeft(shown, comparison) || (memory.isDeleted && waiting.makesRow)
        if waiting.kind == .delete || (waiting.isUndo && (!wasDeletedHere || waiting.takesBackUnknown)) {
            let mayBeRestored = waiting.sent.contains { $0.kind == .restore && $0.version == shown.version }
            if mayBeRestored, shown.version != nil {
                waiting.kind = .delete
                waiting.rebase(onto: shown)
                change = waiting
                return (.again(.done), waiting.isUndo ? .remove : .none)
            }
            let isUndo = waiting.isUndo
            // Of an own deletion that left it, whoever holds the row in an editor has seen all that it deleted.
            if wasDeletedHere, isUndo {
                memory.isDeleted = true
            } else if wasDeletedHere, !waiting.isBasedOnOlderRow {
                memory.deletedHere(over: waiting.baseVersion)
            } else {
                memory.deleted()
            }
            end(with: shown)
            return (.done, isUndo ? .remove : .none)
        }
        // Where a tombstone can be changed, a change that was for one has made no row that somebody could have deleted.
        let fills = { (entry: SentRequest<Row>) in
            entry.kind == .fill || (entry.kind == .update && isOverTombstone && entry.version == waiting.baseVersion)
        }
        let isFilledHere = waiting.sent.contains { entry in
            fills(entry) && entry.content.map { comparison.wrote($0, shown) } ?? false
        }
        if isFilledHere, !waiting.isBasedOnOlderRow {
            memory.wentOver(shown.version, from: waiting.baseVersion)
            let (_, effect) = goOver(shown)
            let isFilled = row.map { comparison.wrote($0, shown) } ?? false
            return (.again(isFilled ? .tombstoneFilled(editCounter: waiting.editCounter) : .done), effect)
        }
        if wasDeletedHere || waiting.isForced {
            memory.wentOver(shown.version, from: waiting.baseVersion)
            memory.isDeleted = true
            return goOver(shown)
        }
        return conflict(shown, sent, .conflict(shown))
    }

    /// The server has no row, and no tombstone.
    private mutating func absent(_ sent: RequestUnderWay<Row>) -> (ItemOutcome<Row>, RowEffect<Row>) {
        guard var waiting = change else { return (.ignored, .none) }
        let insertMayArrive = waiting.sent.contains { $0.kind == .insert }
        if waiting.kind == .delete || waiting.isUndo && !waiting.takesBackDeletion(memory) {
            let effect: RowEffect<Row> = waiting.isUndo ? .remove : .none
            if insertMayArrive, waiting.baseVersion != nil || sent.request == .lookUp {
                waiting.kind = .delete
                waiting.base = nil
                waiting.baseVersion = nil
                change = waiting
                return (.again(.done), effect)
            }
            memory.deleted()
            end()
            return (.done, effect)
        }
        if waiting.kind == .insert, sent.request.isOfRow { return (.again(.done), .none) }
        if waiting.kind == .update, memory.isDeleted, waiting.makesRow {
            waiting.kind = .insert
            waiting.rebase(onto: nil)
            change = waiting
            return (.again(.done), .none)
        }
        if waiting.sent.contains(where: \.deletes) {
            // The own deletion was carried out, and left no tombstone, or one that the answer does not show.
            memory.deleted()
            waiting.kind = .insert
            waiting.rebase(onto: nil)
            waiting.sent = []
            change = waiting
            return (.again(.done), .none)
        }
        change?.shown = nil
        // Whoever gives the change up gets the row that was here before: it is to be asked for whether it is there.
        change?.asksForRow = true
        // What is conditional finds no row; a row that was sent may still be made.
        change?.sent.removeAll { $0.kind != .insert }
        return conflict(nil, sent, .conflict(nil))
    }

    /// The server has something else. A change that was edited meanwhile is sent again by the next push, which asks anew.
    private mutating func conflict(
        _ shown: Row?,
        _ sent: RequestUnderWay<Row>,
        _ outcome: ItemOutcome<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        if let shown {
            // A pull may have brought a newer row while the answer was on its way: which is the newer one, nobody can tell.
            if change?.asksForRow == true, change?.shown?.version != shown.version { needsRow = true }
            change?.shown = shown
            change?.sent.removeAll { $0.isDead(given: shown) }
        }
        change?.hasUnknownOutcome = false
        // What was decided before this was found says nothing of it.
        change?.isForced = false
        guard change?.editCounter == sent.editCounter else { return (.waits, .none) }
        change?.state = .conflicted
        return (outcome, .none)
    }
}

extension QueuedChange {
    /// Takes note that a tombstone is shown as it was, in a version: what was to write it next names that, and may still
    /// arrive.
    fileprivate mutating func followShowing(_ showing: SentRequest<Row>, in version: Row.Version?) {
        for entry in sent where entry.writesAfterShowing && entry.version == showing.version {
            willSend(SentRequest(.update, content: entry.content, version: version))
        }
    }

    /// Whether it is to bring a row back that this device has deleted.
    fileprivate func takesBackDeletion(_ memory: ItemMemory<Row>) -> Bool {
        switch kind {
        case .insert: memory.isDeleted
        case .update: base?.isDeleted == false && sent.contains(where: \.deletes)
        case .delete: false
        }
    }
}
