/// The ``SyncState`` of a row in a query: see ``Column/syncState``.
package enum SyncStateTerm {
    /// The name under which predicates and orders mean the state. No column that is declared has a colon in its name.
    package static let name = "sync:state"
}

extension Column where Value == SyncState {
    /// Where the row stands between this device and the server:
    /// `Column.syncState != .synced && Column("complete") == true`.
    ///
    /// In expressions it is the text of the state's name, and is never null. It combines with everything but a search for
    /// words. Orders take its name, `query.ordered(by: Column.syncState.name)`, in stores with the capability
    /// ``StoreCapabilities/syncStates``; rows come by the names of their states then.
    ///
    /// For rows of the app's tables in the local store: a query with it cannot be sent to a server.
    public static var syncState: Column<SyncState> { Column<SyncState>(SyncStateTerm.name) }
}

extension QueryPredicate {
    /// The states for which a condition holds that compares nothing but the state with given values; nil for any other.
    package var syncStates: Set<SyncState>? {
        switch self {
        case .comparison(.column(SyncStateTerm.name), .equal, .value(let value)),
            .comparison(.value(let value), .equal, .column(SyncStateTerm.name)):
            return Self.states([value])
        case .comparison(.column(SyncStateTerm.name), .notEqual, .value(let value)),
            .comparison(.value(let value), .notEqual, .column(SyncStateTerm.name)):
            return Set(SyncState.allCases).subtracting(Self.states([value]))
        case .isAnyOf(.column(SyncStateTerm.name), let values): return Self.states(values)
        default: return nil
        }
    }

    private static func states(_ values: [FieldValue]) -> Set<SyncState> {
        Set(values.compactMap { $0.stringValue.flatMap(SyncState.init(rawValue:)) })
    }

    /// Whether the state of the row is part of this. The predicate may be of any shape.
    package var asksForSyncState: Bool {
        var pending = [self]
        while let next = pending.popLast() {
            switch next {
            case .constant, .words: break
            case .all(let parts), .any(let parts): pending.append(contentsOf: parts)
            case .not(let part): pending.append(part)
            case .isAnyOf(let expression, _): if expression.asksForSyncState { return true }
            case .comparison(let left, _, let right), .match(let left, _, let right):
                if left.asksForSyncState || right.asksForSyncState { return true }
            }
        }
        return false
    }
}

extension QueryExpression {
    fileprivate var asksForSyncState: Bool {
        if case .column(let name) = self { return name == SyncStateTerm.name }
        guard !isLeaf else { return false }
        var pending = [self]
        while let next = pending.popLast() {
            if case .column(SyncStateTerm.name) = next { return true }
            pending.append(contentsOf: next.operands)
        }
        return false
    }
}

extension Query {
    /// Whether the state is part of the predicate, of the order, or of what is asked for.
    package var asksForSyncStates: Bool {
        includesSyncStates || order.contains { $0.column == SyncStateTerm.name } || predicate?.asksForSyncState == true
    }

    /// The tables that decide what the query gives.
    package var readTables: Set<String> {
        asksForSyncStates ? [table, SystemTables.operations.name] : [table]
    }
}
