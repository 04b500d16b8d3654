extension Query {
    /// Refuses a query that names an undeclared column, has a negative limit or offset, or a predicate beyond the
    /// bounds said at ``QueryPredicate``.
    ///
    /// So does every store, before it reads a row. An order by folded text is for columns of text only.
    ///
    /// A query about ``SyncState`` is refused as well; see ``validate(for:answersSyncStates:)``.
    ///
    /// - Parameter table: The declaration of the table that is asked; the query's own table name is not looked at.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidQuery``; the message names what is wrong.
    public func validate(for table: TableDefinition) throws(StoreError) { _ = try validated(for: table) }

    /// The same for who may answer queries about ``SyncState``: those are taken for the app's tables then.
    ///
    /// - Throws: As ``validate(for:)``.
    public func validate(for table: TableDefinition, answersSyncStates: Bool) throws(StoreError) {
        _ = try validated(for: table, answersSyncStates: answersSyncStates)
    }

    /// The query with its predicate normalized.
    ///
    /// - Throws: As ``validate(for:)``.
    package func validated(for table: TableDefinition, answersSyncStates: Bool = false) throws(StoreError) -> Query {
        guard offset >= 0, limit ?? 0 >= 0 else {
            throw .invalidQuery("A query of '\(table.name)' has a negative limit or offset; use 0 or more.")
        }
        var validated = self
        validated.predicate = try predicate?.normalized()
        var columns = order.map(\.column) + (selection ?? [])
        validated.predicate?.collectColumns(into: &columns)
        // The tree is walked once more only where the name occurs.
        if includesSyncStates || columns.contains(SyncStateTerm.name), asksForSyncStates {
            guard answersSyncStates else { throw Self.unansweredSyncStates(of: table) }
            guard !SystemTables.all.contains(where: { $0.name == table.name }) else {
                throw .invalidQuery("Rows of '\(table.name)' have no sync state: the table is this device's own.")
            }
            // Not in a selection, nor among the columns of a search for words.
            let selected = Set(selection ?? []).union(validated.predicate?.searchedColumns ?? [])
            columns.removeAll { $0 == SyncStateTerm.name && !selected.contains($0) }
        }
        for column in columns where column != "id" && table.type(of: column) == nil {
            guard !column.hasPrefix("\\") else {
                throw .invalidQuery(
                    "'\(column)' in a query of '\(table.name)' is no stored property that a column holds: query stored ones,"
                        + " and let their types be optional or CaseIterable, or give the table an example."
                )
            }
            throw .invalidQuery("Table '\(table.name)' has no declared column '\(column)'; declare it to query it.")
        }
        for entry in order where entry.isFolded && entry.column != "id" && table.type(of: entry.column) != .string {
            throw .invalidQuery("Column '\(entry.column)' of '\(table.name)' is not text and cannot be ordered folded.")
        }
        return validated
    }

    private static func unansweredSyncStates(of table: TableDefinition) -> StoreError {
        .invalidQuery(
            "The sync state of rows of '\(table.name)' is not known here. Ask for it in a read or a transaction of the"
                + " local store."
        )
    }
}

extension QueryPredicate {
    /// How deep predicates may be nested, chains of one operator counted once.
    package static let maximumDepth = 64

    /// How many parts a predicate may have.
    package static let maximumSize = 100_000

    /// How many parts the expressions of one comparison may have together.
    package static let maximumExpressionSize = 100

    /// The same predicate with every chain of one operator as one list, so that whatever walks it may recurse.
    ///
    /// A predicate of any shape can be given: this itself goes no deeper than the bound.
    ///
    /// - Throws: ``StoreError/Code/invalidQuery`` beyond the bounds.
    public func normalized() throws(StoreError) -> QueryPredicate {
        var size = 0
        return try normalized(depth: 1, size: &size)
    }

    private func normalized(depth: Int, size: inout Int) throws(StoreError) -> QueryPredicate {
        guard depth <= Self.maximumDepth else {
            throw .invalidQuery("The predicate is nested too deep; \(Self.maximumDepth) levels are the most.")
        }
        size += 1
        switch self {
        case .all, .any:
            var parts: [QueryPredicate] = []
            for part in try chain(size: &size) { parts.append(try part.normalized(depth: depth + 1, size: &size)) }
            return isConjunction ? .all(parts) : .any(parts)
        case .not(let part): return .not(try part.normalized(depth: depth + 1, size: &size))
        case .constant, .words: return self
        case .isAnyOf(let expression, _):
            if !expression.isLeaf { try Self.check([expression]) }
        case .comparison(let left, _, let right), .match(let left, _, let right):
            if !left.isLeaf || !right.isLeaf { try Self.check([left, right]) }
        }
        return self
    }

    /// The parts of a chain of the same operator, however it is nested: `a && b && c` is one chain.
    private func chain(size: inout Int) throws(StoreError) -> [QueryPredicate] {
        var parts: [QueryPredicate] = []
        var pending = [self]
        while let next = pending.popLast() {
            guard size + parts.count + pending.count < Self.maximumSize else {
                throw .invalidQuery(
                    "The predicate has too many parts; \(Self.maximumSize) are the most, a list of values counts once."
                )
            }
            switch (self, next) {
            case (.all, .all(let inner)), (.any, .any(let inner)):
                size += 1
                pending.append(contentsOf: inner.reversed())
            default: parts.append(next)
            }
        }
        return parts
    }

    private var isConjunction: Bool {
        if case .all = self { true } else { false }
    }

    private static func check(_ expressions: [QueryExpression]) throws(StoreError) {
        var pending = expressions
        var size = 0
        while let next = pending.popLast() {
            size += 1
            guard size <= maximumExpressionSize else {
                throw .invalidQuery(
                    "The expressions of a comparison have too many parts; \(maximumExpressionSize) are the most."
                )
            }
            pending.append(contentsOf: next.operands)
        }
    }
}

extension QueryPredicate {
    /// Adds the name of every column in the tree. The tree must be normalized.
    package func collectColumns(into columns: inout [String]) {
        switch self {
        case .constant: break
        case .words(_, _, let names): columns += names
        case .all(let parts), .any(let parts): for part in parts { part.collectColumns(into: &columns) }
        case .not(let part): part.collectColumns(into: &columns)
        case .isAnyOf(let expression, _): expression.collectColumns(into: &columns)
        case .comparison(let left, _, let right), .match(let left, _, let right):
            left.collectColumns(into: &columns)
            right.collectColumns(into: &columns)
        }
    }
}

extension QueryPredicate {
    /// The columns that are searched for words. The tree must be normalized.
    fileprivate var searchedColumns: Set<String> {
        switch self {
        case .words(_, _, let names): Set(names)
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.searchedColumns) }
        case .not(let part): part.searchedColumns
        case .constant, .isAnyOf, .comparison, .match: []
        }
    }
}

extension QueryExpression {
    /// Whether it is a column or a value: most are.
    var isLeaf: Bool {
        switch self {
        case .column, .value: true
        case .function, .operation, .substring: false
        }
    }

    /// What the expression is computed from.
    package var operands: [QueryExpression] {
        switch self {
        case .column, .value: []
        case .function(_, let operand): [operand]
        case .operation(let left, _, let right): [left, right]
        case .substring(let text, let start, let count): [text, start] + (count.map { [$0] } ?? [])
        }
    }

    /// Adds the name of every column in the expression. The expression must be part of a normalized predicate.
    package func collectColumns(into columns: inout [String]) {
        if case .column(let name) = self { columns.append(name) }
        for operand in operands { operand.collectColumns(into: &columns) }
    }
}
