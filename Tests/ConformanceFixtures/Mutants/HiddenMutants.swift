import ReferenceStore
import SyncContract
import Synchronization

// Faults that show in one form of a value only, on one side, in large calls, or after a cancellation.
extension Mutant {
    static let hidden: [Mutant] = hiddenOrders + hiddenIDs + hiddenWrites + hiddenClosures

    private static let hiddenOrders: [Mutant] = [
        Mutant("order.dates-finer-text", "orders finer dates behind whole ones of their millisecond") {
            $0.arranging { rows, query in
                guard query.order == [QueryOrder(column: "date")] else { return rows }
                return finerLast(rows)
            }
        },
        Mutant("order.indexed-dates-finer-text", "orders finer dates last in an index") {
            $0.rows = { query, inner in
                let rows = try all(query, inner)
                guard query.order.first?.column == "date", try isIndexed(query.table, inner) else { return rows }
                return finerLast(rows)
            }
        },
        Mutant("order.indexed-dates-finer-text", "finds no finer dates in an index") {
            $0.rows = { query, inner in
                let rows = try all(query, inner)
                guard case .comparison(.column("date"), .equal, _) = query.predicate, try isIndexed(query.table, inner)
                else { return rows }
                return rows.filter { $0["date"]?.dateValue?.finerText == nil }
            }
        },
        Mutant("order.text-utf8", "orders the text of a second column by UTF-16") {
            $0.arranging { rows, query in
                guard query.order == [QueryOrder(column: "int"), QueryOrder(column: "text")] else { return rows }
                return rows.sorted {
                    utf16($0["text"]?.stringValue).lexicographicallyPrecedes(utf16($1["text"]?.stringValue))
                }
            }
        },
        Mutant("order.text-utf8", "orders ids by UTF-16") {
            $0.arranging { rows, query in
                guard query.order.isEmpty, rows.contains(where: { utf16($0.id.stringValue).contains(0xD800) }) else {
                    return rows
                }
                return rows.sorted { utf16($0.id.stringValue).lexicographicallyPrecedes(utf16($1.id.stringValue)) }
            }
        },
    ]

    private static let hiddenIDs: [Mutant] = [
        Mutant("query.id-on-the-right", "compares an id on the right with case") {
            $0.testing { leaf in
                guard case .comparison(.value(let value), let comparison, .column("id")) = leaf else { return leaf }
                return .comparison(.value(value), comparison, .substring(.column("id"), from: .value(0), count: nil))
            }
        },
        Mutant("query.empty-id", "has no row with the empty id") {
            $0.record = { id, table, inner in id == "" ? nil : try inner.record(id, in: table) }
        },
        Mutant("query.empty-id", "refuses the empty id") {
            $0.upsert = { records, table, inner in
                guard !records.contains(where: { $0.id == "" }) else {
                    throw StoreError(.invalidRecord, "the id is empty; choose one")
                }
                try inner.upsert(records, into: table)
            }
        },
    ]

    private static let hiddenWrites: [Mutant] = [
        Mutant("search.long-texts", "looks at the first 64 words of a text") {
            $0.rows = { query, inner in
                let rows = try all(query, inner)
                guard case .words(let words, _, let columns) = query.predicate else { return rows }
                return rows.filter { row in
                    let first = (row[columns[0]]?.stringValue ?? "").split(separator: " ").prefix(64)
                    return words.split(separator: " ").allSatisfy(first.contains)
                }
            }
        },
        Mutant("search.casings", "deletes a row under its own casing only") {
            $0.deleteIDs = { ids, table, inner in
                try inner.delete(try ids.filter { try inner.record($0, in: table)?.id == $0 }, from: table)
            }
        },
        Mutant("upsert.random-casings", "keeps the first casing of several in one call") {
            $0.upsert = { records, table, inner in
                var first: [String: RecordID] = [:]
                let kept = records.map { record in
                    var record = record
                    let key = (record.id.stringValue ?? "").lowercased()
                    record.id = first[key] ?? record.id
                    first[key] = record.id
                    return record
                }
                try inner.upsert(kept, into: table)
            }
        },
        Mutant("upsert.undeclared-key-doubles", "makes whole numbers of whole doubles under undeclared keys") {
            $0.changingUndeclared { value in
                value.doubleValue.flatMap { Int64(exactly: $0) }.map(FieldValue.int64) ?? value
            }
        },
        Mutant("upsert.undeclared-key-doubles", "makes nulls of infinities under undeclared keys") {
            $0.changingUndeclared { $0.doubleValue?.isInfinite == true ? .null : $0 }
        },
        Mutant("delete.refused-ids-leave-no-half", "deletes one id after the other until one is refused") {
            $0.deleteIDs = { ids, table, inner in
                var count = try inner.delete([], from: table)
                for id in ids { count += try inner.delete([id], from: table) }
                return count
            }
        },
        Mutant("delete.refused-query-leaves-no-half", "deletes before it looks at the order of a query") {
            $0.deleteQuery = { query, inner in
                do {
                    return try inner.delete(query)
                } catch let error as StoreError where error.code == .invalidQuery {
                    var rest = query
                    (rest.order, rest.limit, rest.selection) = ([], nil, nil)
                    _ = try inner.delete(rest)
                    throw error
                }
            }
        },
        Mutant("transaction.rollback-one-large-call", "commits after 5,000 records of one call") {
            let committed = Committed()
            $0.upsert = { records, table, inner in
                guard records.count > 5_000 else { return try inner.upsert(records, into: table) }
                try inner.upsert(Array(records.prefix(5_000)), into: table)
                committed.tables.withLock { $0 = inner.tables }
                try inner.upsert(Array(records.dropFirst(5_000)), into: table)
            }
            $0.rollBack = { before, _ in
                committed.tables.withLock { tables in
                    defer { tables = nil }
                    return tables ?? before
                }
            }
        },
        Mutant("transaction.rollback-one-large-call", "deletes 1,000 ids at a time, each in a transaction") {
            let committed = Committed()
            $0.deleteIDs = { ids, table, inner in
                guard ids.count > 1_000 else { return try inner.delete(ids, from: table) }
                let first = try inner.delete(Array(ids.prefix(1_000)), from: table)
                committed.tables.withLock { $0 = inner.tables }
                return try first + inner.delete(Array(ids.dropFirst(1_000)), from: table)
            }
            $0.rollBack = { before, _ in
                committed.tables.withLock { tables in
                    defer { tables = nil }
                    return tables ?? before
                }
            }
        },
        Mutant("transaction.refused-large-call", "looks at 1,000 records before it writes them") {
            $0.upsert = { records, table, inner in
                if records.isEmpty { try inner.upsert([], into: table) }
                for start in stride(from: 0, to: records.count, by: 1_000) {
                    try inner.upsert(Array(records[start..<min(start + 1_000, records.count)]), into: table)
                }
            }
        },
        Mutant(
            "transaction.rollback-configuration",
            "keeps settings of a transaction that threw and wrote nothing else"
        ) {
            $0.rollBack = { before, made in
                let changed = made.keys.filter { made[$0]?.rows != before[$0]?.rows }
                return changed == [SystemTables.configuration.name] ? made : before
            }
        },
    ]

    private static let hiddenClosures: [Mutant] = [
        Mutant("transaction.runs-once", "runs a closure that throws once more") { $0.store.runsClosuresAgain = true },
        Mutant("transaction.cancelled-inside", "rolls back when its task was cancelled meanwhile") {
            $0.store.checksCancellationBeforeCommit = true
        },
        Mutant("transaction.own-error-after-cancellation", "takes every error of a cancelled task for its cancellation")
        {
            $0.store.takesErrorsForCancellation = true
        },
        Mutant("transaction.cancelled-while-reading", "ends a walk of a cancelled task as if there were no more rows") {
            $0.walk = { rows, body in
                for row in rows {
                    if Task.isCancelled { return }
                    try body(row)
                }
            }
        },
        Mutant("transaction.cancelled-while-writing", "writes 1,000 rows of a call at most when its task is cancelled")
        {
            $0.upsert = { records, table, inner in
                try inner.upsert(Task.isCancelled ? Array(records.prefix(1_000)) : records, into: table)
            }
        },
        Mutant("transaction.cancelled-while-writing", "ends walks in a write whose task is cancelled") {
            $0.walk = { rows, body in
                for row in rows {
                    try Task.checkCancellation()
                    try body(row)
                }
            }
        },
        Mutant("locking.refuses", "works on when it is locked") { $0.store.worksWhenLocked = true },
        Mutant("locking.feeds", "tells nothing when it is unlocked") { $0.store.tellsNothingWhenUnlocked = true },
        Mutant("locking.live-queries", "ends its feeds when it is locked") { $0.store.endsStreamsWhenLocked = true },
        Mutant("locking.beside-writes", "refuses a write when it is locked, and does it") {
            $0.store.writesWhenLocked = true
        },
        Mutant("concurrency.rollback-of-everything", "shows others everything that is rolled back afterwards") {
            $0.store.readsUncommitted = true
        },
        Mutant("concurrency.snapshot-of-everything", "adds up what is there by now") { $0.looksAhead = [.aggregates] },
        Mutant("concurrency.reads-beside-a-write", "lets reads wait for writes") {
            $0.store.readsWaitForWriters = true
        },
    ]

    private static func all(_ query: Query, _ inner: Faults.Inner) throws -> [Record] {
        var rows: [Record] = []
        try inner.forEach(query) { rows.append($0) }
        return rows
    }

    private static func isIndexed(_ table: String, _ inner: Faults.Inner) throws -> Bool {
        try inner.definition(of: table).indexes.contains(["date"])
    }

    /// Rows in their order by milliseconds, those with finer dates behind others of the same.
    private static func finerLast(_ rows: [Record]) -> [Record] {
        func key(_ row: Record) -> (Int64, Int) {
            let date = row["date"]?.dateValue
            return (date?.milliseconds ?? .min, date?.finerText == nil ? 0 : 1)
        }
        return rows.sorted { key($0) < key($1) }
    }

    private static func utf16(_ text: String?) -> [UInt16] { Array((text ?? "").utf16) }
}

extension Faults {
    /// Changes every value under an undeclared key before it is written.
    mutating func changingUndeclared(_ change: @escaping @Sendable (FieldValue) -> FieldValue) {
        upsert = { records, table, inner in
            let definition = try inner.definition(of: table)
            let changed = records.map { record in
                var result = record
                for (name, value) in record.fields where definition.type(of: name) == nil {
                    result[name] = change(value)
                }
                return result
            }
            try inner.upsert(changed, into: table)
        }
    }
}

/// What a fault has committed in the middle of a call.
final class Committed: Sendable {
    let tables = Mutex<[String: MemoryTable]?>(nil)
}
