/// What a pull does with a row.
package enum PulledRow: Hashable, Sendable {
    /// It takes the place of the local one.
    case apply
    /// It is passed over: a change waits.
    case passOver
}

// Rows that a pull brings.
extension ItemMachine {
    /// Takes a row or tombstone that a pull brings.
    ///
    /// - Parameters:
    ///   - pulled: The server's row.
    ///   - isHere: Whether there is a local row.
    ///   - comparison: How contents are compared.
    /// - Returns: What the pull does with it, and what becomes of the local row when it is passed over.
    package mutating func pulled(
        _ pulled: Row,
        isHere: Bool,
        _ comparison: some RowComparison<Row>
    ) -> (PulledRow, RowEffect<Row>) {
        let own = memory.sent.first { $0.writesRow && $0.content.map { comparison.wrote($0, pulled) } ?? false }
        let kept = memory.kept
        guard var waiting = change else {
            if isHere, let kept, let version = kept.version, version == pulled.version,
                kept.content?.contradicts(pulled) != true
            {
                // It is what the local row was kept over. Where there is none, it may have been purged.
                return (.passOver, .none)
            }
            if isHere, kept?.isOfNoRow == true, pulled.isDeleted, pulled.version == nil {
                // The local row was kept where there was none, and there is none.
                return (.passOver, .none)
            }
            let isOwnDeletion = memory.sent.contains { $0.mayHaveLeft(pulled, over: nil, comparison) }
            memory.sent.removeAll { $0.isDead(given: pulled) }
            if pulled.isDeleted {
                if isHere { memory.deleted() }
                // A deletion that was given up has arrived, or one that was to take an insert back.
                if isOwnDeletion { memory.isDeleted = true }
            } else if let own, own.version != pulled.version {
                // It has arrived.
                memory.wrote(pulled.version, over: own.version)
            } else {
                memory.replaced(by: pulled.version)
            }
            return (.apply, .none)
        }
        let isSameVersion = pulled.version != nil && pulled.version == waiting.baseVersion
        let base = kept.flatMap { $0.version == waiting.baseVersion ? $0.content : nil } ?? waiting.base
        if isSameVersion, base?.contradicts(pulled) != true {
            // It is not news, and the newest: what was kept before is out of date.
            waiting.shown = nil
            change = waiting
            return (.passOver, .none)
        }
        if waiting.state == .pending, !waiting.wasSent, waiting.sent.isEmpty, memory.sent.isEmpty,
            !waiting.isBasedOnOlderRow, !pulled.isDeleted, let base = waiting.base, !base.isDeleted,
            comparison.isUnchanged(base, pulled)
        {
            // Nobody changed anything that the app knows of, and nothing was sent that somebody could have undone.
            memory.wentOver(pulled.version, from: waiting.baseVersion)
            waiting.rebase(onto: pulled)
            // It is the newest there is.
            waiting.asksForRow = false
            change = waiting
            return (.passOver, waiting.kind == .delete ? .none : .adopt(pulled))
        }
        if let own, own.version != pulled.version, !pulled.isDeleted, !memory.holdsRowOfOthers {
            // It has arrived: who gives the change up has an own row.
            memory.wentOver(pulled.version, from: own.version)
        }
        // A version used twice says nothing any more: the row is looked up before anything is sent.
        if isSameVersion { waiting.baseVersion = nil }
        waiting.shown = pulled
        waiting.asksForRow = true
        change = waiting
        return (.passOver, .none)
    }
}
