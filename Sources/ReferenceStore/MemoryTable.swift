package import SyncContract

/// One table in memory: rows by the form of their id under which the table finds them.
package struct MemoryTable: Sendable {
    package let definition: TableDefinition
    package private(set) var rows: [RecordID: Record] = [:]

    /// The keys of the rows in the order of ids.
    private var order: [RecordID] = []
    /// The columns of text that have an index.
    private let indexed: [String]
    /// The keys of the rows by the texts in these.
    private var keys: [String: [String: Set<RecordID>]]

    package init(_ definition: TableDefinition) {
        self.definition = definition
        indexed = Set(definition.indexes.joined()).sorted().filter { definition.type(of: $0) == .string }
        keys = Dictionary(uniqueKeysWithValues: indexed.map { ($0, [:]) })
    }

    /// The row of a key.
    package subscript(key: RecordID) -> Record? {
        get { rows[key] }
        set {
            let old = rows.updateValue(newValue, at: key)
            for column in indexed {
                let texts = (old?[column]?.stringValue, newValue?[column]?.stringValue)
                guard old == nil || newValue == nil || texts.0 != texts.1 else { continue }
                if let text = texts.0 { keys[column]?.remove(key, at: text) }
                if let text = texts.1 { keys[column]?[text, default: []].insert(key) }
            }
            guard (old == nil) != (newValue == nil) else { return }
            let place = place(of: key)
            if newValue == nil { order.remove(at: place) } else { order.insert(key, at: place) }
        }
    }

    /// Rows among which are all that a query gives; the fewest that can be told without looking at them.
    func candidates(for query: Query) -> [Record] {
        // Keys are in the order of ids where these are told apart as they are ordered.
        if definition.idComparison == .exact, query.predicate == nil, let limit = query.limit, limit >= 0,
            query.offset >= 0,
            query.order.allSatisfy({ $0.column == "id" && !$0.isFolded })
        {
            let count = query.offset.addingReportingOverflow(limit)
            let most = count.overflow ? .max : count.partialValue
            let isAscending = query.order.first?.direction != .descending
            return (isAscending ? order.prefix(most) : order.suffix(most)).compactMap { rows[$0] }
        }
        let found = query.predicate.map(texts)?.compactMap { column, text in keys[column].map { $0[text] ?? [] } }
        guard let keys = found?.min(by: { $0.count < $1.count }) else { return Array(rows.values) }
        return keys.compactMap { rows[$0] }
    }

    /// The texts that columns have in every row that satisfies a predicate.
    private func texts(_ predicate: QueryPredicate) -> [(column: String, text: String)] {
        switch predicate {
        case .all(let parts): parts.flatMap(texts)
        case .comparison(.column(let column), .equal, .value(.string(let text))): [(column, text)]
        default: []
        }
    }

    /// Where a key is in the order, or would be.
    private func place(of key: RecordID) -> Int {
        // New ids are mostly the highest.
        if let last = order.last, last.precedes(key) { return order.count }
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if order[middle].precedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RecordID {
    fileprivate func precedes(_ other: RecordID) -> Bool {
        fieldValue.compare(with: other.fieldValue).map { $0 < 0 } ?? false
    }
}

extension [RecordID: Record] {
    /// Sets or removes what is under a key, and gives what was.
    fileprivate mutating func updateValue(_ row: Record?, at key: RecordID) -> Record? {
        guard let row else { return removeValue(forKey: key) }
        return updateValue(row, forKey: key)
    }
}

extension [String: Set<RecordID>] {
    fileprivate mutating func remove(_ key: RecordID, at text: String) {
        self[text]?.remove(key)
        if self[text]?.isEmpty ?? false { self[text] = nil }
    }
}
