// A server that was set up anew, or has lost its history.
extension ItemMachine {
    /// What waits is held against what the server has now, as if the row had just been looked up.
    ///
    /// What was remembered of versions says nothing any more: they may be used again for other rows. A conflict or a refusal
    /// from before says nothing either, and the change is tried again.
    ///
    /// - Parameters:
    ///   - seen: What the server has; hidden where that was not asked for: then the row is looked up before anything is sent.
    ///   - row: The local row.
    ///   - comparison: How contents are compared.
    /// - Returns: `done` when the server has it already, `again` or `waits` when it is to be sent, or a conflict; and what
    ///   becomes of the local row.
    package mutating func reset(
        onto seen: SeenOnServer<Row>,
        _ row: Row?,
        _ comparison: some RowComparison<Row>
    ) -> (ItemOutcome<Row>, RowEffect<Row>) {
        takeOverKept()
        memory.forgetVersions()
        guard var waiting = change else { return (.ignored, .none) }
        waiting.state = .pending
        waiting.hasUnknownOutcome = false
        waiting.shown = nil
        waiting.asksForRow = false
        change = waiting
        let lookUp = RequestUnderWay<Row>(
            request: .lookUp,
            editCounter: waiting.editCounter,
            sentBefore: waiting.sent,
            wasSentBefore: waiting.wasSent
        )
        switch seen {
        case .row(let shown):
            // A version that is used again names another row where the content is another one.
            let isSame = waiting.base.map { base in
                base.isDeleted == shown.isDeleted
                    && (comparison.isUnchanged(base, shown) || comparison.isBase(base, shown))
            }
            if isSame != true { change?.baseVersion = nil }
            return receive(.shown(shown), to: lookUp, row, comparison)
        case .nothing: return receive(.absent, to: lookUp, row, comparison)
        case .hidden, .refused:
            change?.baseVersion = nil
            return (.waits, .none)
        }
    }

    /// What waits is given up for what the server has now.
    ///
    /// While something is on its way that may still arrive, the change becomes one that takes it back.
    ///
    /// - Parameter shown: The server's row or tombstone; nil when it has none.
    /// - Returns: What becomes of the local row.
    package mutating func giveUp(for shown: Row?) -> RowEffect<Row> {
        memory.forgetVersions()
        memory.sent.removeAll { $0.kind == .none }
        guard change != nil else { return .none }
        change?.rebase(onto: shown)
        change?.asksForRow = false
        if shown == nil {
            // What is conditional finds no row; a row that was sent may still be made.
            change?.kind = .insert
            change?.sent.removeAll { $0.kind != .insert }
        }
        guard change?.sent.isEmpty ?? true else {
            change?.isUndo = false
            return discard()
        }
        change = nil
        return shown.flatMap { $0.isDeleted ? nil : .server($0) } ?? .remove
    }
}
