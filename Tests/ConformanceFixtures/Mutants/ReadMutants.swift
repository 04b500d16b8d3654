import ReferenceStore
import Foundation
import SyncContract

extension Mutant {
    static let reading: [Mutant] = [
        Mutant("read.absent-is-nil", "gives an empty record for an absent id") {
            $0.record = { try $2.record($0, in: $1) ?? Record(id: $0) }
        },
        Mutant("read.row-has-all-columns", "leaves out columns that were never written") { faults in
            faults.record = { id, table, inner in
                guard let row = try inner.record(id, in: table) else { return nil }
                return Record(id: row.id, row.fields.filter { !$0.value.isNull })
            }
        },
        Mutant("read.id-exact-case", "compares all ids without case") { $0.schema = { folding($0, true) } },
        Mutant("read.id-ignoring-case", "compares all ids with case") { $0.schema = { folding($0, false) } },
        Mutant("read.id-ignoring-ascii-case-only", "folds É to é") { faults in
            folding(ids: &faults) { $0.lowercased() }
        },
        Mutant("read.id-not-normalised", "normalises ids") { faults in
            folding(ids: &faults) { $0.precomposedStringWithCanonicalMapping }
        },
        Mutant("read.id-not-normalised", "trims ids") { faults in
            folding(ids: &faults) { $0.trimmingCharacters(in: .whitespaces) }
        },
        Mutant("read.id-any-text", "cuts ids at 255 characters") { faults in
            folding(ids: &faults) { String($0.prefix(255)) }
        },
        Mutant("read.id-kind", "finds nothing for an id of the wrong kind") {
            $0.record = { id, table, inner in
                do {
                    return try inner.record(id, in: table)
                } catch let error as StoreError where error.code == .invalidRecord {
                    return nil
                }
            }
        },
        Mutant("read.unknown-table", "finds nothing in an unknown table") {
            $0.record = { id, table, inner in
                do {
                    return try inner.record(id, in: table)
                } catch let error as StoreError where error.code == .tableNotFound {
                    return nil
                }
            }
        },
        Mutant("read.id-ignoring-case-behind-null", "finds an id with a U+0000 in its own casing only") {
            $0.record = { id, table, inner in
                let row = try inner.record(id, in: table)
                let isWhole = id.stringValue?.unicodeScalars.contains("\0") != true
                return isWhole || row?.id == id ? row : nil
            }
        },
        Mutant("read.short-query", "gives no states where it reads without a closure") {
            $0.store.shortQuery = { query in
                var query = query
                query.includesSyncStates = false
                return query
            }
        },
        Mutant("read.short-query", "reads 100 rows at most without a closure") {
            $0.store.shortQuery = { query in
                var query = query
                query.limit = query.limit.map { min($0, 100) }
                return query
            }
        },
        Mutant("read.short-read-of-much", "gives no row that takes long to read") {
            $0.store.shortRecord = { $0?["text"]?.stringValue.map { $0.utf8.count > 1_000_000 } == true ? nil : $0 }
        },
        Mutant("read.expected-row-names", "compares values whatever their names are") {
            $0.stored = { expected, columns, table, inner in
                guard let row = try inner.record(expected.id, in: table) else { return .missing }
                return Set(row.fields.values) == Set(expected.fields.values) ? .asExpected : .other(row)
            }
        },
        Mutant("read.expected-row", "takes every row for the expected one when it has that version") {
            $0.stored = { expected, columns, table, inner in
                guard let row = try inner.record(expected.id, in: table) else { return .missing }
                return row.id == expected.id && row["version"] == expected["version"] ? .asExpected : .other(row)
            }
        },
        Mutant("read.expected-row", "compares nothing when there is something to ignore") {
            $0.stored = { expected, columns, table, inner in
                let row = try inner.record(expected.id, in: table)
                guard row != nil, !columns.isEmpty else {
                    return StoredRow(row, expecting: expected, ignoring: columns)
                }
                return .asExpected
            }
        },
        Mutant("read.expected-row-undeclared", "compares declared columns only") {
            $0.stored = { expected, columns, table, inner in
                let declared = Set(try inner.definition(of: table).allColumns.map(\.name))
                let others = expected.names.filter { !declared.contains($0) } + ["x", "y"]
                let row = try inner.record(expected.id, in: table)
                return StoredRow(row, expecting: expected, ignoring: columns + others)
            }
        },
        Mutant("read.tables-are-separate", "deletes from every table") {
            $0.deleteIDs = { ids, table, inner in
                if table == "items" { _ = try inner.delete(ids, from: "other") }
                return try inner.delete(ids, from: table)
            }
        },
        Mutant("read.definition", "makes up a declaration for an unknown table") {
            $0.definition = { name, inner in
                do {
                    return try inner.definition(of: name)
                } catch let error as StoreError where error.code == .tableNotFound {
                    return TableDefinition(name, columns: [])
                }
            }
        },
        Mutant("read.definition", "leaves out the columns of a declaration") {
            $0.definition = { TableDefinition(try $1.definition(of: $0).name, columns: []) }
        },
        Mutant("system.operations-in-order", "orders operations by the text of their numbers") {
            $0.sorting { left, right, query in
                let texts = [left, right].map { $0.id.int64Value.map(String.init) ?? $0.id.stringValue ?? "" }
                return query.order.first?.direction == .descending ? texts[0] > texts[1] : texts[0] < texts[1]
            }
        },
        Mutant("system.ties-by-number", "orders equal operations by the text of their numbers") {
            $0.sorting { left, right, query in
                for entry in query.order {
                    let (a, b) = (left[entry.column]?.int64Value ?? 0, right[entry.column]?.int64Value ?? 0)
                    if a != b { return entry.direction == .ascending ? a < b : a > b }
                }
                let texts = [left, right].map { $0.id.int64Value.map(String.init) ?? $0.id.stringValue ?? "" }
                return texts[0] < texts[1]
            }
        },
        Mutant("system.ids-are-exact", "compares the ids of settings without case") {
            $0.upsert = { records, table, inner in
                guard table.hasPrefix("MS_") else { return try inner.upsert(records, into: table) }
                let folded = records.map { Record(id: $0.id.folded(for: .asciiCaseInsensitive), $0.fields) }
                try inner.upsert(folded, into: table)
            }
        },
        Mutant("system.operation-columns", "has no column 'serverItem'") {
            $0.upsert = { records, table, inner in
                let reduced = records.map { record in
                    var record = record
                    record["serverItem"] = nil
                    return record
                }
                try inner.upsert(reduced, into: table)
            }
        },
        Mutant("schema.column-names-are-exact", "does not tell 'Text' from 'text'") {
            $0.upsert = { records, table, inner in
                let known = Set(TableDefinition("x", columns: [.init("text", .string)]).columns.map(\.name))
                let renamed = records.map { record in
                    var result = Record(id: record.id)
                    for (name, value) in record.fields {
                        let isKnown = known.contains(name.lowercased())
                        result[isKnown ? name.lowercased() : name] = isKnown && value == 5 ? .null : value
                    }
                    return result
                }
                try inner.upsert(renamed, into: table)
            }
        },
    ]

    private static func folding(_ schema: StoreSchema, _ folds: Bool) -> StoreSchema {
        let tables = schema.tables.map { table in
            TableDefinition(
                table.name,
                columns: table.columns,
                idComparison: folds ? .asciiCaseInsensitive : .exact,
                systemProperties: table.systemProperties,
                indexes: table.indexes
            )
        }
        // The tables were accepted before; only how ids compare is different.
        return (try? StoreSchema(tables)) ?? schema
    }

    private static func folding(ids faults: inout Faults, _ fold: @escaping @Sendable (String) -> String) {
        let folded: @Sendable (RecordID) -> RecordID = { id in id.stringValue.map { .string(fold($0)) } ?? id }
        faults.record = { try $2.record(folded($0), in: $1) }
        faults.upsert = { records, table, inner in
            let changed = records.map { record in
                var record = record
                record.id = folded(record.id)
                return record
            }
            try inner.upsert(changed, into: table)
        }
    }
}
