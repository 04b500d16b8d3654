import ReferenceStore
import SyncContract
import Synchronization

extension Mutant {
    static let upserts: [Mutant] = [
        Mutant("upsert.keeps-absent-columns", "clears the columns that a record lacks") {
            $0.upsert = { records, table, inner in
                for record in records {
                    var whole = record
                    if let row = try inner.record(record.id, in: table) {
                        for name in row.names where whole[name] == nil { whole[name] = .null }
                    }
                    try inner.upsert([whole], into: table)
                }
            }
        },
        Mutant("upsert.null-clears", "takes null for an absent key") {
            $0.upsert = { records, table, inner in
                try inner.upsert(records.map { Record(id: $0.id, $0.fields.filter { !$0.value.isNull }) }, into: table)
            }
        },
        Mutant("upsert.id-only", "writes nothing for a record without values") {
            $0.upsert = { records, table, inner in
                try inner.upsert(records.filter { !$0.fields.isEmpty }, into: table)
            }
        },
        Mutant("upsert.inserts", "does not write a second new row") {
            $0.upsert = { records, table, inner in
                if table == "items", try inner.record("a", in: "items") != nil, try inner.count(Query("items")) == 1,
                    records.count == 1, records[0].id != "a"
                {
                    return
                }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("upsert.later-wins", "lets the first of two records with one id win") {
            $0.upsert = { records, table, inner in try inner.upsert(records.reversed(), into: table) }
        },
        Mutant("upsert.sets-nothing-itself", "sets updatedAt whenever a row is written") {
            $0.upsert = { records, table, inner in
                guard table == "items" else { return try inner.upsert(records, into: table) }
                let stamped = records.map { Record(id: $0.id, ["updatedAt": .date(Timestamp(milliseconds: 1))]) }
                try inner.upsert(stamped, into: table)
                try inner.upsert(records, into: table)
            }
        },
        Mutant("upsert.sets-nothing-itself", "takes an insert after a delete for an undelete") {
            $0.upsert = { records, table, inner in
                guard table == "items" else { return try inner.upsert(records, into: table) }
                for record in records {
                    let isNew = try inner.record(record.id, in: table) == nil
                    let flag: [String: FieldValue] = isNew ? ["deleted": false] : [:]
                    try inner.upsert([Record(id: record.id, flag), record], into: table)
                }
            }
        },
        Mutant("upsert.insert-new", "says that nothing was inserted") {
            $0.insert = { record, table, inner in
                _ = try inner.insert(record, into: table)
                return false
            }
        },
        Mutant("upsert.insert-keeps-a-row", "merges into the row that is there") {
            $0.insert = { record, table, inner in
                let isNew = try inner.record(record.id, in: table) == nil
                try inner.upsert([record], into: table)
                return isNew
            }
        },
        Mutant("upsert.insert-compares-ids", "tells ids apart by their bytes where the table does not") {
            $0.insert = { record, table, inner in
                guard try inner.record(record.id, in: table)?.id != record.id else { return false }
                try inner.upsert([record], into: table)
                return true
            }
        },
        Mutant("upsert.insert-refuses", "takes a NaN for a null") {
            $0.insert = { record, table, inner in
                let values = record.fields.mapValues { $0.doubleValue?.isNaN == true ? .null : $0 }
                return try inner.insert(Record(id: record.id, values), into: table)
            }
        },
        Mutant("upsert.insert-values", "leaves empty bytes out of a row that it inserts") {
            $0.inserting { value in value == .bytes([]) ? .null : value }
        },
        Mutant("upsert.insert-values", "cuts a date to milliseconds where it inserts") {
            $0.inserting { value in value.dateValue.map { .date(Timestamp(milliseconds: $0.milliseconds)) } ?? value }
        },
        Mutant("upsert.insert-undeclared-keys", "inserts declared columns only") {
            $0.insert = { record, table, inner in
                let names = try inner.definition(of: table).allColumns.map(\.name)
                return try inner.insert(record.selecting(names), into: table)
            }
        },
        Mutant("upsert.insert-rolls-back", "keeps an inserted row of a transaction that threw") {
            $0.rollBack = { before, made in
                before.merging(made) { before, made in
                    var table = before
                    table["inserted"] = made.rows["inserted"]
                    return table
                }
            }
        },
        Mutant("upsert.insert-is-searched", "looks for words in the rows before the transaction") {
            $0.looksBack = [.words]
        },
        Mutant("upsert.insert-is-searched", "leaves rows that were inserted out of a search for words") {
            let inserted = InsertedRows()
            $0.insert = { record, table, inner in
                inserted.ids.withLock { _ = $0.insert(record.id) }
                return try inner.insert(record, into: table)
            }
            $0.arranging { rows, query in
                guard case .words? = query.predicate else { return rows }
                return rows.filter { row in !inserted.ids.withLock { $0.contains(row.id) } }
            }
        },
        Mutant("upsert.random-merges", "loses every 50th merge") {
            $0.upsert = { records, table, inner in
                let kept = records.filter { record in
                    guard case .int64(let number) = record["int"] else { return true }
                    return number != 100
                }
                try inner.upsert(kept, into: table)
            }
        },
        Mutant("upsert.new-casing", "keeps the old casing of an id") {
            $0.upsert = { records, table, inner in
                for record in records {
                    var record = record
                    if let row = try inner.record(record.id, in: table) { record.id = row.id }
                    try inner.upsert([record], into: table)
                }
            }
        },
        Mutant("upsert.batch", "writes 999 records at most") {
            $0.upsert = { try $2.upsert(Array($0.prefix(999)), into: $1) }
        },
        Mutant("upsert.batch-all-or-nothing", "keeps the records before one that is refused") {
            $0.upsert = { records, table, inner in for record in records { try inner.upsert([record], into: table) } }
            $0.rollBack = { $1 }
        },
        Mutant("upsert.batch-all-or-nothing", "leaves out a refused record without a word") {
            $0.upsert = { records, table, inner in
                for record in records {
                    do {
                        try inner.upsert([record], into: table)
                    } catch let error as StoreError where error.code == .invalidRecord {
                        continue
                    }
                }
            }
        },
        Mutant("upsert.id-kind", "writes the number of an id as text") {
            $0.upsert = { records, table, inner in
                let changed = records.map { record in
                    var record = record
                    if case .int64(let number) = record.id, table == "items" { record.id = .string("\(number)") }
                    return record
                }
                try inner.upsert(changed, into: table)
            }
        },
        Mutant("upsert.unknown-table", "does not look at the table of an empty list") {
            $0.upsert = { records, table, inner in if !records.isEmpty { try inner.upsert(records, into: table) } }
        },
        Mutant("upsert.nothing", "refuses an empty list") {
            $0.upsert = { records, table, inner in
                guard !records.isEmpty else { throw StoreError(.invalidRecord, "no records") }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("upsert.undeclared-key", "drops undeclared keys that it declares to keep") {
            $0.upsert = { records, table, inner in
                try inner.upsert(
                    records.map { Record(id: $0.id, $0.fields.filter { !$0.key.hasPrefix("extra") }) },
                    into: table
                )
            }
        },
        Mutant("upsert.undeclared-key", "refuses undeclared keys instead of dropping them") {
            $0.keepsUnknownColumns = false
            $0.upsert = { records, table, inner in
                if records.contains(where: { $0["extra"] != nil }) {
                    throw StoreError(.invalidRecord, "unknown column")
                }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("upsert.undeclared-key-merges", "leaves out a record with undeclared keys that it cannot keep") {
            $0.keepsUnknownColumns = false
            $0.upsert = { records, table, inner in
                let declared = Set(try inner.definition(of: table).allColumns.map(\.name))
                try inner.upsert(records.filter { $0.names.allSatisfy(declared.contains) }, into: table)
            }
        },
        Mutant("upsert.undeclared-key-merges", "replaces all undeclared keys") {
            $0.upsert = { records, table, inner in
                for record in records {
                    guard let row = try inner.record(record.id, in: table) else {
                        try inner.upsert([record], into: table)
                        continue
                    }
                    _ = try inner.delete([record.id], from: table)
                    var merged = Record(id: record.id, row.fields.filter { !["x", "y", "z"].contains($0.key) })
                    merged.merge(record)
                    try inner.upsert([merged], into: table)
                }
            }
        },
        Mutant("upsert.undeclared-key-null", "forgets a null under an undeclared key") {
            $0.upsert = { records, table, inner in
                let declared = Set(["bool", "int", "text", "x"])
                try inner.upsert(
                    records.map {
                        Record(id: $0.id, $0.fields.filter { !$0.value.isNull || declared.contains($0.key) })
                    },
                    into: table
                )
            }
        },
    ]

    static let deletions: [Mutant] = [
        Mutant("delete.absent-ids", "throws for an absent id") {
            $0.deleteIDs = { ids, table, inner in
                for id in ids where try inner.record(id, in: table) == nil {
                    throw StoreError(.notFound, "no such row")
                }
                return try inner.delete(ids, from: table)
            }
        },
        Mutant("delete.same-id-twice", "counts the ids it was given") {
            $0.deleteIDs = { ids, table, inner in
                _ = try inner.delete(ids, from: table)
                return ids.count
            }
        },
        Mutant("delete.by-id", "deletes the first id only") {
            $0.deleteIDs = { try $2.delete(Array($0.prefix(1)), from: $1) }
        },
        Mutant("delete.many-ids", "deletes 999 ids at most") {
            $0.deleteIDs = { try $2.delete(Array($0.prefix(999)), from: $1) }
        },
        Mutant("delete.ignoring-case", "deletes with case") {
            $0.deleteIDs = { ids, table, inner in
                try inner.delete(ids.filter { try inner.record($0, in: table)?.id == $0 }, from: table)
            }
        },
        Mutant("delete.id-kind", "finds nothing to delete for an id of the wrong kind") {
            $0.deleteIDs = { ids, table, inner in
                do {
                    return try inner.delete(ids, from: table)
                } catch let error as StoreError where error.code == .invalidRecord {
                    return 0
                }
            }
        },
        Mutant("delete.all-or-nothing", "deletes the ids before one that is refused") {
            $0.deleteIDs = { ids, table, inner in try ids.reduce(0) { $0 + (try inner.delete([$1], from: table)) } }
            $0.rollBack = { $1 }
        },
        Mutant("delete.unknown-table", "deletes nothing from an unknown table") {
            $0.deleteIDs = { ids, table, inner in
                do {
                    return try inner.delete(ids, from: table)
                } catch let error as StoreError where error.code == .tableNotFound {
                    return 0
                }
            }
        },
        Mutant("delete.by-query-cut", "ignores the limit of a query it deletes") {
            $0.deleteQuery = { query, inner in
                var query = query
                query.limit = query.limit == 0 ? 0 : nil
                return try inner.delete(query)
            }
        },
        Mutant("delete.by-query-cut", "ignores the order of a query it deletes") {
            $0.deleteQuery = { query, inner in
                var query = query
                query.order = []
                return try inner.delete(query)
            }
        },
        Mutant("delete.by-query", "deletes rows with nulls as well") {
            $0.deleteQuery = { query, inner in
                var query = query
                query.predicate = query.predicate.map { $0 || Column("int") == .null }
                return try inner.delete(query)
            }
        },
        Mutant("delete.by-query", "returns 1 whatever it deletes") {
            $0.deleteQuery = { min(1, try $1.delete($0)) }
        },
        Mutant("delete.by-query-many", "deletes 1,000 rows at most by a query") {
            $0.deleteQuery = { query, inner in try inner.delete(query.limited(to: min(query.limit ?? 1_000, 1_000))) }
        },
        Mutant("delete.by-query-all", "empties every table") {
            $0.deleteQuery = { query, inner in
                if query.predicate == nil, query.limit == nil, query.table == "items" {
                    _ = try inner.delete(Query("other"))
                }
                return try inner.delete(query)
            }
        },
        Mutant("delete.then-insert", "marks rows as deleted and finds their values again") {
            $0.deleteIDs = { ids, table, inner in
                let rows = try ids.compactMap { try inner.record($0, in: table) }
                let count = try inner.delete(ids, from: table)
                try inner.upsert(rows.map { Record(id: .string("ghost-\($0.id)"), $0.fields) }, into: table)
                return count
            }
            $0.upsert = { records, table, inner in
                for record in records {
                    let ghost = try? inner.record(.string("ghost-\(record.id)"), in: table)
                    try inner.upsert([Record(id: record.id, ghost?.fields ?? [:]), record], into: table)
                }
            }
        },
    ]
}

/// The ids of rows that were inserted.
private final class InsertedRows: Sendable {
    let ids = Mutex<Set<RecordID>>([])
}

extension Faults {
    /// Changes every value of a row that is inserted without merging.
    fileprivate mutating func inserting(_ change: @escaping @Sendable (FieldValue) -> FieldValue) {
        insert = { record, table, inner in
            try inner.insert(Record(id: record.id, record.fields.mapValues(change)), into: table)
        }
    }
}
