import Foundation
import ReferenceStore
import SyncContract
import Synchronization

// Faults that lose something where few look: behind rollbacks, at limits of numbers, under undeclared keys.
extension Mutant {
    static let lost: [Mutant] = lostRollbacks + lostReads + lostValues

    private static let lostRollbacks: [Mutant] = [
        Mutant("transaction.rollback-indexed", "leaves the index of a column as a transaction that threw has made it") {
            let made = Committed()
            $0.rollBack = { before, after in
                made.tables.withLock { $0 = after }
                return before
            }
            $0.rows = { query, inner in
                let rows = try all(query, inner)
                guard case .comparison(.column("int"), .equal, _) = query.predicate,
                    let index = made.tables.withLock({ $0 })
                else { return rows }
                let found = Set(try all(query, MemoryTransaction(index, [.unknownColumns, .syncStates])).map(\.id))
                return rows.filter { found.contains($0.id) }
            }
        },
        Mutant("state.rolled-back-operations", "has no state of an operation that a rolled back transaction deleted") {
            $0.rollBack = { before, made in
                var tables = before
                let name = SystemTables.operations.name
                for (key, _) in before[name]?.rows ?? [:] where made[name]?.rows[key] == nil {
                    tables[name]?[key] = nil
                }
                return tables
            }
        },
    ]

    private static let lostReads: [Mutant] = [
        Mutant("read.short-reads-follow-writes", "keeps a result until the table of its query is written") {
            $0.store.keepsResults = true
        },
        Mutant("concurrency.snapshot-of-all-tables", "takes each table as it is when it is first asked for") {
            $0.looksAhead = [.furtherTables]
        },
        Mutant("read.expected-row", "compares bytes by their number") {
            $0.stored = { record, columns, table, inner in
                var record = record
                let row = try inner.record(record.id, in: table)
                if let given = record["bytes"]?.bytesValue, given.count == row?["bytes"]?.bytesValue?.count {
                    record["bytes"] = row?["bytes"]
                }
                return StoredRow(row, expecting: record, ignoring: columns)
            }
        },
        Mutant("read.id-any-text", "looks at the first 5,000 bytes of an id") {
            $0.upsert = { records, table, inner in
                let cut = records.map { record in
                    Record(
                        id: record.id.stringValue.map { .string(String($0.prefix(5_000))) } ?? record.id,
                        record.fields
                    )
                }
                try inner.upsert(cut, into: table)
            }
        },
        Mutant("upsert.very-many", "writes 32,766 records of a call") {
            $0.upsert = { try $2.upsert(Array($0.prefix(32_766)), into: $1) }
        },
        Mutant("upsert.very-many", "deletes 32,766 ids of a call") {
            $0.deleteIDs = { try $2.delete(Array($0.prefix(32_766)), from: $1) }
        },
        Mutant("upsert.very-many", "looks for the first 32,766 values of a list") {
            $0.testing { leaf in
                guard case .isAnyOf(let expression, let values) = leaf else { return leaf }
                return .isAnyOf(expression, Array(values.prefix(32_766)))
            }
        },
        Mutant("upsert.very-many", "ends after 10,000 rows") { $0.arranging { rows, _ in Array(rows.prefix(10_000)) } },
    ]

    private static let lostValues: [Mutant] = [
        Mutant("values.json-large", "takes JSON of more than 64 KB for null") {
            $0.changing { if case .json(let json) = $0, json.text.utf8.count > 65_536 { .null } else { $0 } }
        },
        Mutant("values.decimal-long", "cuts decimals after 1,000 digits") {
            $0.changing {
                if case .decimal(let decimal) = $0 {
                    DecimalText(String(decimal.text.prefix(1_000))).map(FieldValue.decimal) ?? $0
                } else {
                    $0
                }
            }
        },
        Mutant("upsert.undeclared-key-values", "takes empty text under undeclared keys for null") {
            $0.changingUndeclared { $0 == "" ? .null : $0 }
        },
        Mutant("upsert.undeclared-key-values", "reads dates in texts under undeclared keys") {
            $0.changingUndeclared { value in
                value.stringValue.flatMap { Timestamp($0) }.map(FieldValue.date) ?? value
            }
        },
        Mutant("upsert.undeclared-key-values", "keeps whole numbers under undeclared keys as doubles hold them") {
            $0.changingUndeclared { value in
                value.int64Value.flatMap { Int64(exactly: Double($0)) }.map(FieldValue.int64) ?? value
            }
        },
        Mutant("upsert.undeclared-key-names", "forgets undeclared keys that begin with an underscore") {
            $0.keepingKeys { !$0.hasPrefix("_") }
        },
        Mutant("upsert.undeclared-key-names", "forgets undeclared keys of more than 127 bytes") {
            $0.keepingKeys { $0.utf8.count <= 127 }
        },
    ]

    private static func all(_ query: Query, _ inner: Faults.Inner) throws -> [Record] {
        var rows: [Record] = []
        try inner.forEach(query) { rows.append($0) }
        return rows
    }
}

extension Faults {
    /// Writes no other keys than some.
    fileprivate mutating func keepingKeys(_ isKept: @escaping @Sendable (String) -> Bool) {
        upsert = { records, table, inner in
            let kept = records.map { record in Record(id: record.id, record.fields.filter { isKept($0.key) }) }
            try inner.upsert(kept, into: table)
        }
    }
}
