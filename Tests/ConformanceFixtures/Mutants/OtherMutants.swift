import ReferenceStore
import SyncContract
import Synchronization

// Faults for rules that look at combinations: random ones, tables with indexes, declarations, several tasks.
extension Mutant {
    static let others: [Mutant] = randomised + otherQueries + otherWrites + declarations + otherTransactions

    private static let randomised: [Mutant] = [
        Mutant("sql.reads-only", "gives nothing where it has no SQL") { $0.ignoresSQL = true },
        Mutant("values.random", "writes '99.95' with a zero more") {
            $0.changing { value in
                guard value.decimalValue?.text == "99.95", let longer = DecimalText("99.950") else { return value }
                return .decimal(longer)
            }
        },
        Mutant("query.random", "forgets 'not' before a list") {
            $0.testing { if case .not(.isAnyOf(let left, let values)) = $0 { .isAnyOf(left, values) } else { $0 } }
        },
        Mutant("query.random-folding", "looks at three conditions at most") {
            $0.testing { if case .any(let parts) = $0 { .any(Array(parts.prefix(3))) } else { $0 } }
        },
        Mutant("delete.random", "ignores the offset of a query it deletes") {
            $0.deleteQuery = { query, inner in
                var query = query
                query.offset = 0
                return try inner.delete(query)
            }
        },
        Mutant("schema.indexes-change-nothing", "walks an index the wrong way round") {
            $0.rows = { query, inner in
                var rows: [Record] = []
                try inner.forEach(query) { rows.append($0) }
                let isIndexed = try !inner.definition(of: query.table).indexes.isEmpty
                return isIndexed && query.order.first?.column == "int" ? rows.reversed() : rows
            }
        },
    ]

    private static let otherQueries: [Mutant] = [
        Mutant("query.null-columns-are-equal", "never finds two nulls equal, as SQL does") {
            $0.testing { leaf in
                guard case .comparison(.column(let left), _, .column(let right)) = leaf else { return leaf }
                return .all([leaf, Column(left) != .null, Column(right) != .null])
            }
        },
        Mutant("query.dates-milliseconds", "finds no date by one with more digits") {
            $0.testing { leaf in
                guard case .comparison(_, _, .value(.date(let date))) = leaf, date.finerText != nil else { return leaf }
                return .constant(false)
            }
        },
        Mutant("query.id-column", "takes the column 'id' for null") {
            $0.testing { leaf in
                guard case .comparison(.column("id"), let comparison, let right) = leaf else { return leaf }
                return .comparison(.value(.null), comparison, right)
            }
        },
        Mutant("query.undeclared-key-not-queryable", "finds no rows for a query that names an undeclared key") {
            $0.rows = { query, inner in
                do {
                    var rows: [Record] = []
                    try inner.forEach(query) { rows.append($0) }
                    return rows
                } catch let error as StoreError where error.code == .invalidQuery {
                    return []
                }
            }
        },
        Mutant("match.not-text", "looks for text in numbers") {
            $0.testing { if case .match(.column("int"), _, _) = $0 { .constant(true) } else { $0 } }
        },
        Mutant("match.nul-and-unicode", "cuts what it looks for at a U+0000") {
            $0.testing { leaf in
                guard case .match(let text, let match, .value(.string(let pattern))) = leaf else { return leaf }
                let cut = String(decoding: pattern.utf8.prefix { $0 != 0 }, as: UTF8.self)
                return .match(text, match, .value(.string(cut)))
            }
        },
        Mutant("match.column-in-column", "finds nothing when it looks for the text of a column") {
            $0.testing { if case .match(_, _, .column) = $0 { .constant(false) } else { $0 } }
        },
        Mutant("compute.size", "refuses more than 10,000 conditions") {
            $0.rows = { query, inner in
                if case .any(let parts) = query.predicate, parts.count > 10_000 {
                    throw StoreError(.invalidQuery, "too many conditions")
                }
                var rows: [Record] = []
                try inner.forEach(query) { rows.append($0) }
                return rows
            }
        },
        Mutant("compute.expression-size", "refuses expressions of more than 90 parts") {
            $0.rows = { query, inner in
                if case .comparison(let left, _, let right) = query.predicate, size(left) + size(right) > 90 {
                    throw StoreError(.invalidQuery, "the expression is too large")
                }
                var rows: [Record] = []
                try inner.forEach(query) { rows.append($0) }
                return rows
            }
        },
        Mutant("order.first", "skips a row when one is asked for") {
            $0.evaluating { $0.limit == 1 ? $0.skipping($0.offset + 1) : $0 }
        },
        Mutant("concurrency.many-reads", "loses a row in one of 50 queries") {
            let queries = Counter()
            $0.arranging { rows, _ in queries.next() % 50 == 0 ? rows.dropLast() : rows }
        },
    ]

    private static func size(_ expression: QueryExpression) -> Int {
        switch expression {
        case .column, .value: 1
        case .function(_, let operand): 1 + size(operand)
        case .operation(let left, _, let right): 1 + size(left) + size(right)
        case .substring(let text, let start, let count): 1 + size(text) + size(start) + (count.map(size) ?? 0)
        }
    }

    private static let otherWrites: [Mutant] = [
        Mutant("upsert.twice-is-once", "inserts a row once more when it is written again") {
            $0.upsert = { records, table, inner in
                for record in records {
                    let isThere = try inner.record(record.id, in: table) != nil
                    try inner.upsert([record], into: table)
                    if isThere, let id = record.id.stringValue {
                        try inner.upsert([Record(id: .string(id + " again"), record.fields)], into: table)
                    }
                }
            }
        },
        Mutant("delete.no-ids", "deletes all rows when no ids are given") {
            $0.deleteIDs = { ids, table, inner in
                ids.isEmpty ? try inner.delete(Query(table)) : try inner.delete(ids, from: table)
            }
        },
        Mutant("delete.by-query-ignoring-case", "compares ids with case in a query it deletes") {
            $0.deleteQuery = { query, inner in
                var query = query
                query.predicate = query.predicate?
                    .mapping { leaf in
                        guard case .comparison(.column("id"), let comparison, let right) = leaf else { return leaf }
                        return .comparison(.substring(.column("id"), from: .value(0), count: nil), comparison, right)
                    }
                return try inner.delete(query)
            }
        },
        Mutant("system.tables-exist", "has no table of operation errors") {
            $0.upsert = { records, table, inner in
                if table == SystemTables.operationErrors.name { throw StoreError.tableNotFound(table) }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("system.error-columns", "has no column 'editCounter' in the table of errors") {
            $0.leavingOut("editCounter", of: SystemTables.operationErrors.name)
        },
        Mutant("system.configuration-columns", "has no column 'query' in the table of settings") {
            $0.leavingOut("query", of: SystemTables.configuration.name)
        },
        Mutant("system.operation-by-item", "deletes another operation of the item as well") {
            $0.deleteIDs = { ids, table, inner in
                guard table == SystemTables.operations.name else { return try inner.delete(ids, from: table) }
                return try inner.delete(ids + ids.compactMap { $0.int64Value.map { .int64($0 + 50) } }, from: table)
            }
        },
        Mutant("schema.awkward-names", "keeps nothing in a column named 'limit'") { $0.leavingOut("limit", of: nil) },
        Mutant("schema.many-columns", "keeps 255 columns at most") {
            $0.upsert = { records, table, inner in
                let cut = records.map { record in
                    Record(id: record.id, record.fields.filter { name, _ in Int(name.dropFirst()) ?? 0 < 255 })
                }
                try inner.upsert(cut, into: table)
            }
        },
    ]

    private static let declarations: [Mutant] = [
        Mutant("schema.is-as-declared", "declares its first table only") {
            $0.store.declares = { (try? StoreSchema(Array($0.tables.prefix(1)))) ?? $0 }
        },
        Mutant("schema.literal-is-checked", "opens with any schema") { $0.store.takesAnySchema = true },
        Mutant("system.properties", "declares every system property for every table") {
            $0.store.declares = { schema in
                let tables = schema.tables.map {
                    TableDefinition(
                        $0.name,
                        columns: $0.columns,
                        systemProperties: [.createdAt, .updatedAt, .version, .deleted]
                    )
                }
                return (try? StoreSchema(tables)) ?? schema
            }
        },
        Mutant("schema.attributes", "gives declarations without what is said of the wire and of this device") {
            $0.definition = { name, inner in
                let table = try inner.definition(of: name)
                return TableDefinition(name, idKind: table.idKind, table.columns, table.systemProperties, table.indexes)
            }
        },
        Mutant("system.constant-manifest", "declares one more capability after a write") {
            $0.store.growsCapabilities = true
        },
    ]

    private static let otherTransactions: [Mutant] = [
        Mutant("system.one-transaction", "keeps the settings of a transaction that threw") {
            $0.rollBack = { before, made in before.merging(made.filter { $0.key == "MS_TableConfig" }) { $1 } }
        },
        Mutant("transaction.returns-value", "gives no list back") { $0.store.returnsEmptyLists = true },
        Mutant("transaction.read-only-write", "brings the state before back when a transaction writes nothing") {
            $0.store.revertsWhenNothingIsWritten = true
        },
        Mutant("concurrency.writers-do-not-overlap", "runs several write closures at a time") {
            $0.store.overlapsWriters = true
        },
        Mutant("concurrency.readers-of-a-rollback", "shows others what is rolled back afterwards") {
            $0.store.readsUncommitted = true
        },
        Mutant("changes.reads-are-silent", "tells of tables that were read") { $0.store.firesOnRead = true },
        Mutant("changes.cancelled-subscriber", "tells nobody any more when one subscriber has gone") {
            $0.store.streamsEndTogether = true
        },
        Mutant("failure.close-beside-writes", "throws an error of another kind when it was closed") {
            $0.store.namesClosingInternal = true
        },
    ]
}

extension Faults {
    /// Does not write one column, of one table or of all.
    fileprivate mutating func leavingOut(_ column: String, of only: String?) {
        upsert = { records, table, inner in
            guard only == nil || only == table else { return try inner.upsert(records, into: table) }
            let reduced = records.map { Record(id: $0.id, $0.fields.filter { $0.key != column }) }
            try inner.upsert(reduced, into: table)
        }
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
