import ReferenceStore
import Synchronization
import SyncContract

extension Mutant {
    static let transactions: [Mutant] = [
        Mutant("transaction.rollback-inserts", "keeps one row of a transaction that threw") {
            $0.rollBack = { before, made in
                mixing(before, made) { before, made in
                    guard let row = made.rows.first(where: { before.rows[$0.key] == nil }) else { return before }
                    var table = before
                    table[row.key] = row.value
                    return table
                }
            }
        },
        Mutant("transaction.rollback-merges", "keeps merged values of a transaction that threw") {
            $0.rollBack = { before, made in
                mixing(before, made) { before, made in
                    var table = before
                    for (key, row) in made.rows where before.rows[key] != nil { table[key] = row }
                    return table
                }
            }
        },
        Mutant("transaction.rollback-deletes", "keeps deletes of a transaction that threw") {
            $0.rollBack = { before, made in
                mixing(before, made) { before, made in
                    var table = before
                    for key in before.rows.keys where made.rows[key] == nil { table[key] = nil }
                    return table
                }
            }
        },
        Mutant("transaction.rollback-system-tables", "does not roll the system tables back") {
            $0.rollBack = { before, made in
                before.merging(made.filter { $0.key.hasPrefix("MS_") }) { $1 }
            }
        },
        Mutant("transaction.rollback-large", "rolls back 1,000 rows at most") {
            $0.rollBack = { before, made in
                made.values.contains { $0.rows.count > 1_000 }
                    ? made
                    : mixing(before, made) { before, made in
                        made.rows.count == 100 ? made : before
                    }
            }
        },
        Mutant("transaction.rollback-random", "keeps a row whose id is '7'") {
            $0.rollBack = { before, made in
                mixing(before, made) { before, made in
                    var table = before
                    if made.definition.name == "items" { table["7"] = made.rows["7"] }
                    return table
                }
            }
        },
        Mutant("transaction.commits-all", "loses what was written to the third table") {
            $0.upsert = { records, table, inner in
                if table == "folding", inner.touched.count >= 2 { return }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("transaction.large", "keeps 1,500 rows at most") {
            $0.upsert = { records, table, inner in
                if try inner.count(Query(table)) < 1_500 { try inner.upsert(records, into: table) }
            }
        },
        Mutant("transaction.rethrows", "wraps the error of the closure") {
            $0.rethrow = { $0 is StoreError ? $0 : StoreError(.internal, "the closure failed", cause: $0) }
        },
        Mutant("transaction.rethrows", "makes a new StoreError of one that the closure threw") {
            $0.rethrow = { ($0 as? StoreError).map { StoreError($0.code, $0.message) } ?? $0 }
        },
        Mutant("transaction.next-read-sees-it", "reads the state before the last write") { $0.store.readsStale = true },
        Mutant("concurrency.own-writes", "reads the state before the last write") { $0.store.readsStale = true },
        Mutant("transaction.reads-its-writes", "counts without what the transaction deleted") {
            $0.deleteIDs = { ids, table, inner in
                if table == "items", ids == ["a"] { return 1 }
                return try inner.delete(ids, from: table)
            }
        },
        Mutant("transaction.reads-its-writes", "computes from the rows before the transaction") {
            $0.looksBack = [.aggregates]
        },
        Mutant("transaction.reads-its-writes", "looks for words in the rows before the transaction") {
            $0.looksBack = [.words]
        },
        Mutant("transaction.reads-its-writes", "expects the row before the transaction") {
            $0.looksBack = [.expectedRows]
        },
        Mutant("transaction.cancelled-before", "runs the transaction of a cancelled task") {
            $0.store.ignoresCancellation = true
        },
        Mutant("transaction.cancelled-while-waiting", "looks for cancellation before it waits, not after") {
            $0.store.looksForCancellationOnlyAtFirst = true
        },
        Mutant("concurrency.merges-of-one-row", "merges into the row as it was before it waited") {
            $0.store.losesUpdates = true
        },
        Mutant("transaction.cancelled-after-commit", "reports a committed transaction as cancelled") {
            $0.store.checksCancellationAfterCommit = true
        },
        Mutant("transaction.refused-call-leaves-no-half", "commits the half of a batch that was refused") {
            $0.upsert = { records, table, inner in for record in records { try inner.upsert([record], into: table) } }
        },
        Mutant("transaction.after-rollback", "brings a rolled back row back with the next write") {
            $0.rollBack = { before, made in
                mixing(before, made) { before, made in
                    var table = before
                    table["lost"] = made.rows["lost"]
                    return table
                }
            }
        },
        Mutant("concurrency.no-lost-update", "reads before it waits for its turn") { $0.store.losesUpdates = true },
        Mutant("concurrency.all-writes-kept", "overwrites what others wrote meanwhile") {
            $0.store.losesUpdates = true
        },
        Mutant("concurrency.no-half-transactions", "shows others what is not committed") {
            $0.store.readsUncommitted = true
        },
        Mutant("concurrency.snapshot-stands-still", "reads what others write while it reads") {
            $0.store.readsUncommitted = true
        },
        Mutant("failure.never-an-empty-result", "finds no rows when a query fails") {
            $0.rows = { query, inner in
                var rows: [Record] = []
                do {
                    try inner.forEach(query) { rows.append($0) }
                } catch {
                    return []
                }
                return rows
            }
        },
        Mutant("failure.inside-a-transaction", "commits what came before a failure") { $0.rollBack = { $1 } },
        Mutant("failure.store-goes-on", "does nothing any more after an error") { $0.store.breaksAfterError = true },
        Mutant("failure.no-content-in-messages", "puts the refused value into the message") {
            $0.upsert = { records, table, inner in
                do {
                    try inner.upsert(records, into: table)
                } catch let error as StoreError where error.code == .invalidRecord {
                    throw StoreError(.invalidRecord, "\(error.message): \(records)")
                }
            }
        },
        Mutant("failure.closed-store-refuses", "works on after it was closed") { $0.store.worksWhenClosed = true },
    ]

    static let changes: [Mutant] = [
        Mutant("changes.after-commit", "tells subscribers before the commit") { $0.store.firesInClosure = true },
        Mutant("changes.rollback-is-silent", "tells subscribers of a rolled back transaction") {
            $0.store.firesOnRollback = true
        },
        Mutant("changes.before-write-returns", "tells subscribers some time later") { $0.store.firesLate = true },
        Mutant("changes.state-is-there", "never tells anybody") { $0.store.firesNever = true },
        Mutant("changes.merge", "delivers every change on its own") { $0.store.streamsWithoutMerging = true },
        Mutant("changes.system-tables", "does not tell of system tables") {
            $0.touched = { touched, _, _ in touched.filter { !$0.hasPrefix("MS_") } }
        },
        Mutant("changes.names-tables", "names every table") {
            $0.touched = { touched, _, after in touched.isEmpty ? [] : Set(after.keys) }
        },
        Mutant("changes.names-tables", "names one table only") {
            $0.touched = { touched, _, _ in Set(touched.sorted().prefix(1)) }
        },
        Mutant("changes.names-tables", "does not tell of deleted rows") {
            $0.touched = { touched, before, after in
                touched.filter { (after[$0]?.rows.count ?? 0) >= (before[$0]?.rows.count ?? 0) }
            }
        },
        Mutant("changes.inserts", "does not tell of rows that were inserted without merging") {
            let inserted = Memory()
            $0.insert = { record, table, inner in
                inserted.table.withLock { $0 = table }
                return try inner.insert(record, into: table)
            }
            $0.touched = { touched, _, _ in
                inserted.table.withLock { table in
                    defer { table = nil }
                    return touched.subtracting(table.map { [$0] } ?? [])
                }
            }
        },
        Mutant("changes.inserts", "tells of inserts that found a row") {
            $0.insert = { record, table, inner in
                try touch(table, inner)
                return try inner.insert(record, into: table)
            }
        },
        Mutant("changes.deletes", "does not tell of rows deleted by a query") {
            let deleted = Memory()
            $0.deleteQuery = { query, inner in
                deleted.table.withLock { $0 = query.table }
                return try inner.delete(query)
            }
            $0.touched = { touched, _, _ in
                deleted.table.withLock { table in
                    defer { table = nil }
                    return touched.subtracting(table.map { [$0] } ?? [])
                }
            }
        },
        Mutant("changes.merge", "keeps only the newest of the changes that were not read") {
            $0.store.streamsNewestOnly = true
        },
        Mutant("changes.refused-is-silent", "tells of a batch that was refused") {
            $0.store.firesOnRollback = true
            $0.upsert = { records, table, inner in
                try touch(table, inner)
                try inner.upsert(records, into: table)
            }
        },
        Mutant("changes.equal-values", "keeps silent when the values were equal") {
            $0.touched = { touched, before, after in touched.filter { before[$0]?.rows != after[$0]?.rows } }
        },
        Mutant("changes.absent-rows-are-silent", "tells of tables from which nothing was deleted") {
            $0.deleteIDs = { ids, table, inner in
                if table == "items" { try touch(table, inner) }
                return try inner.delete(ids, from: table)
            }
        },
        Mutant("changes.nothing-written-is-silent", "tells of transactions that wrote nothing") {
            $0.touched = { touched, _, _ in touched.isEmpty ? ["items"] : touched }
        },
        Mutant("changes.subscribed-at-once", "subscribes when the stream is first read") {
            $0.store.subscribesLazily = true
        },
        Mutant("changes.any-number", "tells the newest subscriber only") { $0.store.streamsToOneOnly = true },
        Mutant("changes.from-now-on", "begins with the change before") { $0.store.replaysLastChange = true },
        Mutant("changes.end-on-close", "leaves streams open when it is closed") { $0.store.keepsStreamsOpen = true },
    ]

    /// A row written and deleted again marks the table as touched.
    private static func touch(_ table: String, _ inner: Faults.Inner) throws {
        try inner.upsert([Record(id: "ghost")], into: table)
        _ = try inner.delete(["ghost"], from: table)
    }

    private static func mixing(
        _ before: [String: MemoryTable],
        _ made: [String: MemoryTable],
        _ mix: (MemoryTable, MemoryTable) -> MemoryTable
    ) -> [String: MemoryTable] {
        before.merging(made) { mix($0, $1) }
    }
}

/// What a fault remembers from one call to the next.
private final class Memory: Sendable {
    let table = Mutex<String?>(nil)
}
