import ReferenceStore
package import StoreConformance
package import SyncContract

/// A store that breaks one sentence of the contract.
package struct Mutant: Sendable, CustomStringConvertible {
    /// What it does wrong.
    package let fault: String
    /// The rule that must name it.
    package let rule: String
    package let faults: Faults

    package var description: String { "\(rule): \(fault)" }

    init(_ rule: String, _ fault: String, _ edit: (inout Faults) -> Void) {
        var faults = Faults()
        edit(&faults)
        self.rule = rule
        self.fault = fault
        self.faults = faults
    }

    package static let all =
        values + reading + queries + computing + ordering + aggregates + upserts + deletions + transactions + changes
        + states + others + hidden + lost + limits

    package func harness() -> MutantHarness { MutantHarness(name: fault, faults: faults) }
}

/// How the kit gets at a mutant.
package struct MutantHarness: StoreHarness {
    package let name: String
    let faults: Faults

    package init(name: String, faults: Faults) {
        self.name = name
        self.faults = faults
    }

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MutantStore {
        if !faults.store.takesAnySchema { try schema.check() }
        return MutantStore(schema, faults)
    }

    package func closeStore(_ store: MutantStore) async throws { store.close() }

    package func lockStore(_ store: MutantStore) async throws { store.lock() }

    package func unlockStore(_ store: MutantStore, at place: StoreLocation) async throws { store.unlock() }
}

extension Faults {
    /// Changes every value of a column of one type before it is written.
    mutating func changing(_ change: @escaping @Sendable (FieldValue) -> FieldValue) {
        upsert = { records, table, inner in
            let changed = records.map { record in
                var result = record
                for (name, value) in record.fields { result[name] = change(value) }
                return result
            }
            try inner.upsert(changed, into: table)
        }
    }

    /// Changes every value before a row is handed out.
    mutating func handingOut(_ change: @escaping @Sendable (FieldValue) -> FieldValue) {
        let altered: @Sendable (Record) -> Record = { record in
            var result = record
            for (name, value) in record.fields { result[name] = change(value) }
            return result
        }
        record = { try $2.record($0, in: $1).map(altered) }
        rows = { query, inner in
            var rows: [Record] = []
            try inner.forEach(query) { rows.append(altered($0)) }
            return rows
        }
    }

    /// Evaluates another query.
    mutating func evaluating(_ change: @escaping @Sendable (Query) -> Query) {
        rows = { query, inner in
            var rows: [Record] = []
            try inner.forEach(change(query)) { rows.append($0) }
            return rows
        }
        count = { try $1.count(change($0)) }
    }

    /// Evaluates another predicate: every leaf is changed.
    mutating func testing(_ change: @escaping @Sendable (QueryPredicate) -> QueryPredicate) {
        evaluating { query in
            var query = query
            query.predicate = query.predicate.map { $0.mapping(change) }
            return query
        }
    }

    /// Changes the rows of a query after it was evaluated.
    mutating func arranging(_ change: @escaping @Sendable ([Record], Query) -> [Record]) {
        rows = { query, inner in
            var rows: [Record] = []
            try inner.forEach(query) { rows.append($0) }
            return change(rows, query)
        }
    }

    /// Orders rows by a rule of its own, then cuts them as asked.
    mutating func sorting(_ precedes: @escaping @Sendable (Record, Record, Query) -> Bool) {
        rows = { query, inner in
            var all = query
            (all.limit, all.offset, all.order, all.selection) = (nil, 0, [], nil)
            var rows: [Record] = []
            try inner.forEach(query.limited(to: 0)) { _ in }
            try inner.forEach(all) { rows.append($0) }
            rows.sort { precedes($0, $1, query) }
            let cut = rows.dropFirst(query.offset).prefix(query.limit ?? .max)
            return query.selection.map { names in cut.map { $0.selecting(names) } } ?? Array(cut)
        }
    }
}

extension QueryPredicate {
    /// This tree with every leaf and every inner node changed, from the leaves up.
    func mapping(_ change: (QueryPredicate) -> QueryPredicate) -> QueryPredicate {
        switch self {
        case .all(let parts): change(.all(parts.map { $0.mapping(change) }))
        case .any(let parts): change(.any(parts.map { $0.mapping(change) }))
        case .not(let part): change(.not(part.mapping(change)))
        default: change(self)
        }
    }
}
