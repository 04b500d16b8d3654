import ReferenceStore
import SyncContract

// Faults in what stores say about the states of rows. Most are of stores that answer by themselves.
extension Mutant {
    static let states: [Mutant] = [
        Mutant("state.conditions", "takes conflicts for failures") {
            $0.answersSyncStates = true
            $0.testing { leaf in
                leaf == (Column.syncState == .failed) ? Column.syncState.isAny(of: [.failed, .conflicted]) : leaf
            }
        },
        Mutant("state.conditions", "finds nothing synced, having no operation to look at") {
            $0.answersSyncStates = true
            $0.testing { $0 == (Column.syncState == .synced) ? .constant(false) : $0 }
        },
        Mutant("state.beside-rows", "forgets states where columns are selected") {
            $0.answersSyncStates = true
            $0.arranging { rows, query in query.selection == nil ? rows : rows.map { $0.in(nil) } }
        },
        Mutant("state.ids", "looks for operations under the id as it is written") {
            $0.answersSyncStates = true
            $0.arranging { rows, query in
                guard query.includesSyncStates, query.table == "folding" else { return rows }
                return rows.map { $0.id == $0.id.folded(for: .asciiCaseInsensitive) ? $0 : $0.in(.synced) }
            }
        },
        Mutant("state.combined", "takes the opposite of a condition on the state for true") {
            $0.answersSyncStates = true
            $0.testing { if case .not(let part) = $0, part.asksForSyncState { .constant(true) } else { $0 } }
        },
        Mutant("state.deletes", "deletes the rows of a state whatever the limit") {
            $0.answersSyncStates = true
            $0.deleteQuery = { query, inner in
                var query = query
                if query.asksForSyncStates { (query.offset, query.limit) = (0, nil) }
                return try inner.delete(query)
            }
        },
        Mutant("state.follows-transactions", "writes to rows when their operations change") {
            $0.touched = { touched, _, _ in
                touched.contains(SystemTables.operations.name) ? touched.union(["items"]) : touched
            }
        },
        Mutant("state.not-stored", "gives rows a state that nobody asked for") {
            $0.record = { try $2.record($0, in: $1).map { $0.in(.synced) } }
        },
        Mutant("state.live-queries", "tells of no change of operations") {
            $0.touched = { touched, _, _ in touched.subtracting([SystemTables.operations.name]) }
        },
        Mutant("state.uploading", "takes everything that waits for under way") {
            $0.answersSyncStates = true
            $0.testing { leaf in
                leaf == (Column.syncState == .uploading) ? Column.syncState.isAny(of: [.uploading, .pending]) : leaf
            }
        },
        Mutant("state.order", "orders states the wrong way round") {
            $0.answersSyncStates = true
            $0.evaluating { query in
                var query = query
                for index in query.order.indices where query.order[index].column == Column.syncState.name {
                    query.order[index].direction = .descending
                }
                return query
            }
        },
        Mutant("state.refusals", "leaves out what it cannot select") {
            $0.evaluating { query in
                var query = query
                query.selection?.removeAll { $0 == Column.syncState.name }
                return query
            }
        },
    ]
}

extension Record {
    /// This row with another state.
    fileprivate func `in`(_ state: SyncState?) -> Record {
        var row = self
        row.syncState = state
        return row
    }
}
