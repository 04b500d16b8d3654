import SyncMachines

/// What an event does beyond the device: notes about edits, and what was found wrong.
struct Consequence: Hashable {
    /// Edits that somebody decided to give up.
    var givenUp: Edits = []
    /// Edits that need not arrive: the server has what they say, or it does not matter.
    var satisfied: Edits = []
    /// Edits that were given up and that the server did not let be taken back, which somebody was told of and took for what
    /// it is: they may be there, and may still come.
    var leftToServer: Edits = []
    /// Edits of others of which nothing was decided after all.
    var revived: Edits = []
    var violation = Violation.none
}

// What a person does on a device.
extension Device {
    /// Numbers an edit or decision.
    private mutating func countEdit() {
        edits = min(edits + 1, Edits.perDevice)
        tip = edits + (side == .a ? 0 : Edits.perDevice)
        pending.formUnion(Edits(tip: tip))
        known.formUnion(Edits(tip: tip))
    }

    mutating func update(_ content: ModelRow.Content, seen: ModelRow?) -> Consequence? {
        guard var stored = row, machine.change?.kind != .delete else { return nil }
        stored.history = known
        guard let effect = try? machine.update(stored, seen: seen?.version) else { return nil }
        if let seen {
            known = known.intersection(.all(of: side)).union(overruled).union(seen.history)
        }
        countEdit()
        apply(effect)
        row?.content = content
        written = content
        return Consequence()
    }

    mutating func insert(_ content: ModelRow.Content) -> Consequence? {
        guard row == nil, (try? machine.insert()) != nil else { return nil }
        countEdit()
        row = ModelRow(content: content, version: nil)
        written = content
        return Consequence()
    }

    mutating func delete() -> Consequence? {
        guard var stored = row, machine.change?.kind != .delete else { return nil }
        stored.history = known
        guard let cancelled = try? machine.delete(stored, seen: nil) else { return nil }
        countEdit()
        row = nil
        written = ModelRow.deletion
        guard cancelled else { return Consequence() }
        return Consequence(givenUp: pending)
    }

    mutating func discard() -> Consequence? {
        guard let waiting = machine.change, !waiting.isUndo else { return nil }
        return giveUp(for: waiting.shown) { $0.discard() }
    }

    mutating func takeServer() -> Consequence? {
        guard let waiting = machine.change, let seen = seenOnServer else { return nil }
        if waiting.isUndo {
            apply(machine.takeServer(seen))
            let revived = giveUpDecision()
            known = waiting.base?.history ?? []
            hasLeft = true
            return Consequence(leftToServer: .all(of: side), revived: revived)
        }
        var newest = waiting.shown
        if newest == nil, case .row(let shown) = seen { newest = shown }
        return giveUp(for: newest) { $0.takeServer(seen) }
    }

    /// A change is dropped for a row of the server; while something may arrive, for the one that it is based on.
    private mutating func giveUp(
        for newest: ModelRow?,
        _ decision: (inout ItemMachine<ModelRow>) -> RowEffect<ModelRow>
    ) -> Consequence {
        let there = newest ?? machine.change?.base
        apply(decision(&machine))
        // What takes it back has the row that it gives back.
        let back = (machine.change.map(\.base) ?? there)?.history ?? []
        let givenUp = pending.subtracting(back)
        let revived = giveUpDecision()
        guard machine.change != nil else {
            known = back
            return Consequence(givenUp: givenUp, revived: revived)
        }
        // What takes it back is silent: nobody waits for it.
        known.formUnion(back)
        countEdit()
        written = row?.content ?? ModelRow.deletion
        return Consequence(givenUp: givenUp, satisfied: Edits(tip: tip), revived: revived)
    }

    /// What a decision would have gone over is what there is.
    private mutating func giveUpDecision() -> Edits {
        defer { (decided, decisionTip) = ([], 0) }
        overruled.subtract(decided)
        return decided
    }

    mutating func keepMine() -> Consequence? {
        decide { $0.machine.keepMine($1) }
    }

    /// Another content goes over what the server has: what a merge gives. What the other device has done is in it.
    mutating func keepMerged(_ content: ModelRow.Content) -> Consequence? {
        decide(isMerge: true) { device, seen in
            if device.machine.change?.kind == .delete { device.row = device.machine.change?.deletedRow }
            if device.row == nil { device.row = ModelRow(content: content, version: nil) }
            device.row?.content = content
            device.written = content
            device.machine.keepContent()
            return device.machine.keepMine(seen, isMerged: true)
        }
    }

    mutating func deleteInstead() -> Consequence? {
        guard machine.change?.kind != .delete else { return nil }
        return decide { device, seen in
            device.written = ModelRow.deletion
            return device.machine.deleteInstead(device.row, seen)
        }
    }

    /// Something of this device goes over what the server has shown.
    private mutating func decide(
        isMerge: Bool = false,
        _ decision: (inout Device, SeenOnServer<ModelRow>) -> RowEffect<ModelRow>
    ) -> Consequence? {
        guard let seen = seenOnServer else { return nil }
        if case .row(let shown) = seen {
            let others = shown.history.intersection(.all(of: side.other)).subtracting(known)
            if !isMerge {
                decided.formUnion(others)
                overruled.formUnion(others)
            }
            known.formUnion(shown.history)
        }
        countEdit()
        decisionTip = tip
        apply(decision(&self, seen))
        guard machine.change != nil else { return Consequence(satisfied: pending) }
        return Consequence(satisfied: overruled)
    }

    /// What whoever decides has seen.
    private var seenOnServer: SeenOnServer<ModelRow>? {
        switch machine.change?.state {
        case .conflicted: conflict
        case .parked: .refused
        case .pending, nil: nil
        }
    }

    mutating func undoDelete() -> Consequence? {
        guard machine.change?.kind == .delete, row == nil, let effect = machine.undoDelete(ModelComparison()) else {
            return nil
        }
        countEdit()
        apply(effect)
        let revived = machine.change?.isUndo ?? true ? giveUpDecision() : []
        guard machine.change != nil else {
            known = row?.history ?? []
            return Consequence(givenUp: pending, revived: revived)
        }
        written = row?.content ?? ModelRow.deletion
        return Consequence(revived: revived)
    }

    /// A refused change is to be sent again.
    mutating func retry() -> Consequence? {
        guard machine.change?.state == .parked else { return nil }
        apply(machine.keepMine(.refused))
        return Consequence()
    }

    mutating func apply(_ effect: RowEffect<ModelRow>) {
        switch effect {
        case .none: break
        case .server(let server):
            // A store keeps what an answer does not say.
            let version = server.version ?? row?.version
            row = server
            row?.version = version
        case .adopt(let server): if let version = server.version { row?.version = version }
        case .local(let local): row = local
        case .version(let version): row?.version = version
        case .remove: row = nil
        }
    }
}
