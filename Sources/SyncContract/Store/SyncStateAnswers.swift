/// Answers queries about ``SyncState`` for a backend that does not itself: the states of the rows that have one other
/// than ``SyncState/synced`` are read first, and conditions on the state become conditions on the id.
struct SyncStateAnswers {
    private let table: TableDefinition
    /// By the form in which the table compares ids.
    private let states: [RecordID: SyncState]

    init(_ table: TableDefinition, _ backend: any StoreReadBackend) throws {
        self.table = table
        states = try backend.syncStates(of: table)
    }

    /// The state of a row.
    func state(of id: RecordID) -> SyncState { states[id.folded(for: table.idComparison)] ?? .synced }

    /// The same query without the state in its condition.
    ///
    /// - Throws: ``StoreError/Code/invalidQuery`` for a query that is wrong, and for an order by the state.
    func plain(_ query: Query) throws(StoreError) -> Query {
        guard !query.order.contains(where: { $0.column == SyncStateTerm.name }) else {
            throw .invalidQuery(
                "This store cannot order by the sync state: it lacks the capability syncStates. Order the rows after"
                    + " reading them with their states."
            )
        }
        var plain = try query.validated(for: table, answersSyncStates: true)
        plain.predicate = plain.predicate.map(resolved)
        plain.includesSyncStates = false
        return plain
    }

    /// A normalized predicate without the state.
    private func resolved(_ predicate: QueryPredicate) -> QueryPredicate {
        switch predicate {
        case .all(let parts): return .all(parts.map(resolved))
        case .any(let parts): return .any(parts.map(resolved))
        case .not(let part): return .not(resolved(part))
        case .constant, .words: return predicate
        case .comparison, .match, .isAnyOf:
            if let states = predicate.syncStates { return isInOne(of: states) }
            guard predicate.asksForSyncState else { return predicate }
            return .any(SyncState.allCases.map { isInOne(of: [$0]) && predicate.settingSyncState($0) })
        }
    }

    private func isInOne(of wanted: Set<SyncState>) -> QueryPredicate {
        // Every row without an operation is synced.
        guard !wanted.contains(.synced) else { return !isInOne(of: Set(SyncState.allCases).subtracting(wanted)) }
        let ids = states.filter { wanted.contains($0.value) }.map(\.key.fieldValue)
        return .isAnyOf(.column("id"), ids)
    }
}

extension StoreReadBackend {
    /// The state of every row of a table that has an operation, by the id in the form in which the table compares ids.
    package func syncStates(of table: TableDefinition) throws -> [RecordID: SyncState] {
        let operations = Query(SystemTables.operations.name).filtered(by: Column("table") == .string(table.name))
            .selecting(["itemKey"] + SyncState.operationColumns)
        var states: [RecordID: SyncState] = [:]
        try forEach(operations) { operation in
            guard let key = operation["itemKey"]?.stringValue else { return }
            states[.string(key)] = SyncState(ofOperation: operation)
        }
        return states
    }

    /// Hands the rows of a query to a closure, also when the backend knows nothing of states.
    func forEachAnswered(_ query: Query, _ body: (Record) throws -> Void) throws {
        guard !answersSyncStates, query.asksForSyncStates else { return try forEach(query, body) }
        let answers = try SyncStateAnswers(definition(of: query.table), self)
        let plain = try answers.plain(query)
        guard query.includesSyncStates else { return try forEach(plain, body) }
        try forEach(plain) { row in
            var row = row
            row.syncState = answers.state(of: row.id)
            try body(row)
        }
    }

    /// A query that the backend can take.
    func answered(_ query: Query) throws -> Query {
        guard !answersSyncStates, query.asksForSyncStates else { return query }
        return try SyncStateAnswers(definition(of: query.table), self).plain(query)
    }
}

extension QueryPredicate {
    /// A comparison, match or list with a given state in place of that of the row.
    fileprivate func settingSyncState(_ state: SyncState) -> QueryPredicate {
        switch self {
        case .comparison(let left, let comparison, let right):
            .comparison(left.settingSyncState(state), comparison, right.settingSyncState(state))
        case .match(let text, let match, let pattern):
            .match(text.settingSyncState(state), match, pattern.settingSyncState(state))
        case .isAnyOf(let expression, let values): .isAnyOf(expression.settingSyncState(state), values)
        case .constant, .words, .all, .any, .not: self
        }
    }
}

extension QueryExpression {
    fileprivate func settingSyncState(_ state: SyncState) -> QueryExpression {
        switch self {
        case .column(SyncStateTerm.name): .value(.string(state.rawValue))
        case .column, .value: self
        case .function(let function, let operand): .function(function, operand.settingSyncState(state))
        case .operation(let left, let symbol, let right):
            .operation(left.settingSyncState(state), symbol, right.settingSyncState(state))
        case .substring(let text, let start, let count):
            .substring(
                text.settingSyncState(state),
                from: start.settingSyncState(state),
                count: count?.settingSyncState(state)
            )
        }
    }
}
