/// What is asked at the end, when nothing waits any more.
extension Ledger {
    /// The edits that are lost, and what came back although it was given up.
    func losses() -> [String] {
        order.compactMap { token in
            guard let edit = edits[token], edit.place.device >= 0 else { return nil }
            return lost(edit) ?? returned(edit)
        }
    }

    /// An edit has arrived, or something later of the same device took its place, or it was given up.
    private func lost(_ edit: Edit) -> String? {
        guard !edit.isReplaced, !edit.isGivenUp else { return nil }
        let row = server.history[edit.place.key]
        let history = row?.history ?? []
        let name = Device.name(edit.place.device)
        guard edit.isDeletion else {
            let hasArrived = history.contains { $0.content.values.values.contains(edit.token) }
            return hasArrived ? nil : "\(name)'s edit \(edit.token) of \(edit.place.key) is nowhere"
        }
        // What never arrived, or was deleted by somebody else, need not be deleted, nor what was deleted already.
        guard let row, !row.isGone, !edit.isOverDeletion,
            !row.removals.contains(where: { $0 >= edit.knownSequence }),
            let last = history.last, last.content.deletion == nil,
            history.contains(where: { !edit.follows.isDisjoint(with: $0.content.tokens) }),
            !history.contains(where: { $0.content.deletion == edit.token }),
            !history.contains(where: { $0.content.deletion != nil && $0.sequence >= edit.knownSequence })
        else { return nil }
        return "\(name)'s deletion \(edit.token) of \(edit.place.key) is nowhere"
    }

    /// What was given up before it arrived is there only when somebody else has built upon it.
    private func returned(_ edit: Edit) -> String? {
        guard edit.mustNotReturn, !edit.isDeletion, !edit.isReplaced, let row = server.row(edit.place.key),
            row.removals.isEmpty, row.current.content.deletion == nil, row.current.content.tokens.contains(edit.token),
            let arrival = row.history.firstIndex(where: { $0.content.tokens.contains(edit.token) }),
            !row.history[arrival...].contains(where: { $0.author != edit.place.device })
        else { return nil }
        return "\(Device.name(edit.place.device))'s edit \(edit.token) of \(edit.place.key) was given up and is there"
    }
}
