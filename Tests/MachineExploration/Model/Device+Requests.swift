import SyncMachines

// What the engine of a device does: it sends, records answers, and applies what pulls bring.
extension Device {
    /// Stores what goes out.
    mutating func prepare() -> Consequence? {
        guard case .free = slot, machine.change?.state == .pending,
            let sent = machine.prepare(row?.sendable, after: lookUp, restoresInSteps: restoresInSteps)
        else { return nil }
        switch sent.request {
        case .insert(let row):
            values.insert(.row(row.content))
            // Whoever inserts where a deletion was seen goes over a tombstone knowingly.
            if machine.memory.isDeleted { values.formUnion(.tombstones) }
        case .update(let row, _, _): values.insert(.row(row.content))
        case .delete: values.formUnion(machine.change?.base.map { .tombstone($0.content) } ?? .tombstones)
        case .tombstone(let row, _): values.formUnion(row.map { .tombstone($0.content) } ?? .tombstones)
        case .fillTombstone(let row, _):
            values.insert(.row(row.content))
            // Nobody else knows of it.
            known.insert(.touch)
        case .lookUp: break
        }
        // What somebody else brings back as it was may be taken for that.
        for entry in machine.change?.sent ?? [] where entry.kind == .restore {
            if let content = entry.content, content.isDeleted { values.insert(.row(content.content)) }
        }
        let message = Message(sent.request, from: side, history: known, tip: tip, values: values)
        slot = .ready(sent, message)
        return Consequence()
    }

    mutating func answered(_ answer: Answer) -> Consequence? {
        switch slot {
        case .ready(let sent, let message), .again(let sent, let message):
            slot = .answered(sent, message, answer)
            return Consequence()
        case .free, .answered: return nil
        }
    }

    mutating func sendAgain() -> Consequence? {
        guard case .ready(let sent, let message) = slot else { return nil }
        slot = .again(sent, message)
        return Consequence()
    }

    /// Records the answer that has arrived.
    mutating func record() -> Consequence? {
        guard case .answered(let sent, let message, let answer) = slot else { return nil }
        let waiting = pending
        if message.kind != .fill, answer.kind.isTaken {
            pending.subtract(message.history)
        }
        if let shown = answer.shownRow { pending.subtract(shown.history) }
        if !pending.contains(Edits(tip: decisionTip)) { (decided, decisionTip) = ([], 0) }
        let base = machine.change?.base
        let consequence = receive(answer.machineAnswer, to: sent, message, answer.shownRow)
        if let shown = answer.shownRow {
            noteRebase(from: base, onto: shown, waiting)
            // What says the same as an own write counts as one, and a tombstone of what was deleted here as an own one.
            if !shown.isDeleted || machine.change != nil, message.values.contains(.of(shown)),
                !Edits(tip: shown.tip).isSubset(of: .all(of: side)),
                machine.change == nil || machine.change?.baseVersion == shown.version
            {
                equalled.formUnion(shown.history.intersection(.all(of: side.other)))
                overruled.formUnion(equalled)
            }
        }
        return consequence
    }

    /// Records that the request ended without an answer that shows anything.
    mutating func end(with answer: ItemAnswer<ModelRow>) -> Consequence? {
        switch slot {
        case .free: nil
        case .ready(let sent, let message), .again(let sent, let message), .answered(let sent, let message, _):
            receive(answer, to: sent, message, nil)
        }
    }

    private mutating func receive(
        _ answer: ItemAnswer<ModelRow>,
        to sent: RequestUnderWay<ModelRow>,
        _ message: Message,
        _ shown: ModelRow?
    ) -> Consequence {
        guard !isOutlived else {
            (slot, isOutlived) = (.free, false)
            page?.isOutrun = true
            return Consequence()
        }
        let before = machine.change
        let (outcome, effect) = machine.receive(answer, to: sent, row?.sendable, ModelComparison())
        slot = .free
        page?.isOutrun = true
        apply(effect)
        lookUp = if case .again(let next) = outcome { next } else { .notDone }
        var consequence = Consequence()
        switch outcome {
        case .conflict(let server):
            conflict = server.map { .row($0) } ?? .nothing
            let others = Edits.all(of: side.other).union(.touch)
            // Whose deletion a tombstone is, nobody can tell: what an editor holds from before it is in conflict with it.
            let isOlderThanDeletion = server?.isDeleted == true && before?.isBasedOnOlderRow == true
            // A tombstone with another content than the own one, or with another version than after the own content was
            // written to it, is about to be brought back by the other device.
            let isFilledElsewhere =
                restoresInSteps && server?.isDeleted == true
                && (server?.content != written || message.kind == .restore)
            // Whose write it was, the version tells that an editor holds from before.
            let seen = before?.isBasedOnOlderRow == true ? known.subtracting(equalled) : known
            if server?.history.intersection(others).subtracting(seen).isEmpty ?? true, !isOlderThanDeletion,
                !isFilledElsewhere, !hasLeft
            {
                consequence.violation = .conflictWithOneself
            }
        case .hiddenConflict: conflict = .hidden
        case .parked: conflict = .refused
        case .done, .again, .waits, .unknown, .ignored: break
        }
        guard let before, machine.change == nil else { return consequence }
        let isSame = shown.map { $0.value == written } ?? (written == ModelRow.deletion)
        if before.isUndo || isSame { consequence.satisfied.formUnion(pending) }
        known = shown?.history ?? known.union(message.history)
        row?.history = known
        return consequence
    }

    /// Dies: what was in memory is gone.
    mutating func die() -> Consequence? {
        (slot, isOutlived) = (.free, false)
        page = nil
        lookUp = .notDone
        return Consequence()
    }

    /// A page with the row was read, or the row by its id.
    mutating func request(_ server: ModelRow, isLookUp: Bool) -> Consequence? {
        guard page == nil else { return nil }
        page = Page(row: server, isLookUp: isLookUp)
        return Consequence()
    }

    /// Applies what was read.
    mutating func applyPage() -> Consequence? {
        guard let page else { return nil }
        self.page = nil
        if !page.isLookUp, let version = page.row.version { token = max(token, version) }
        guard !page.isOutrun else {
            machine.needsRow = true
            return Consequence()
        }
        if page.isLookUp { machine.needsRow = false }
        var server = page.row
        if server.version == nil {
            guard page.isLookUp else { return Consequence() }
            // What the server does not have is gone.
            server.isDeleted = true
        }
        let base = machine.change?.base
        let (decision, effect) = machine.pulled(server, isHere: row != nil, ModelComparison())
        guard case .apply = decision else {
            apply(effect)
            noteRebase(from: base, onto: server, pending)
            return Consequence()
        }
        // A tombstone of a row that was not here shows nobody anything.
        if row != nil || !server.isDeleted { known = server.history }
        row = server.isDeleted ? nil : server
        return Consequence()
    }

    /// A change that is based on a row with the same content as its base goes over nothing that anybody would miss, as long
    /// as nobody has seen a part of the change before: then it was put back on purpose.
    private mutating func noteRebase(from base: ModelRow?, onto shown: ModelRow, _ waiting: Edits) {
        guard machine.change?.baseVersion == shown.version, let base, base.version != shown.version,
            base.value == shown.value, shown.history.isDisjoint(with: waiting)
        else { return }
        overruled.formUnion(shown.history.subtracting(.all(of: side)).subtracting(known))
        known.formUnion(shown.history)
    }
}
