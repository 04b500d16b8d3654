import Foundation
import ReferenceStore
import SyncContract

// Faults in what comes last: behind the first bytes, words, columns, groups, or in what few queries have.
extension Mutant {
    static let limits: [Mutant] = [
        Mutant("query.long-values", "compares text with the first 256 bytes of a text") {
            $0.testing { leaf in
                guard case .comparison(let left, .equal, .value(.string(let text))) = leaf, text.utf8.count > 256 else {
                    return leaf
                }
                return .match(left, .startsWith, .value(.string(String(text.prefix(256)))))
            }
        },
        Mutant("query.long-values", "finds the smallest text by its first 256 bytes") {
            $0.aggregate = { query, inner in
                let groups = try inner.aggregate(query)
                guard query.group == nil else { return groups }
                return groups.map { group in
                    AggregateGroup(
                        group: group.group,
                        values: group.values.map { value in
                            value.stringValue.map { .string(String($0.prefix(256))) } ?? value
                        }
                    )
                }
            }
        },
        Mutant("aggregate.many-groups", "gives 1,000 groups at most") {
            $0.aggregate = { Array(try $1.aggregate($0).prefix(1_000)) }
        },
        Mutant("aggregate.equal-values-are-one-group", "gives a group of decimals the text that it met first") {
            $0.aggregate = { query, inner in
                try inner.aggregate(query)
                    .map { group in
                        guard group.group == .decimal(DecimalText("1.1") ?? DecimalText(0)) else { return group }
                        return AggregateGroup(
                            group: .decimal(DecimalText("1.10") ?? DecimalText(0)),
                            values: group.values
                        )
                    }
            }
        },
        Mutant("order.several-columns", "orders by three columns at most") {
            $0.evaluating { query in
                var query = query
                query.order = Array(query.order.prefix(3))
                return query
            }
        },
        Mutant("search.words", "looks for words in three columns at most") {
            $0.testing { leaf in
                guard case .words(let text, let match, let columns) = leaf else { return leaf }
                return .words(text, match, in: Array(columns.prefix(3)))
            }
        },
        Mutant("search.long-texts", "finds words by the first of them, which it has of 1,000 in a text") {
            $0.rows = { query, inner in
                var rows: [Record] = []
                try inner.forEach(query) { rows.append($0) }
                guard case .words(let words, _, let columns) = query.predicate else { return rows }
                let first = words.split(separator: " ")[0]
                return rows.filter { row in
                    (row[columns[0]]?.stringValue ?? "").split(separator: " ").prefix(1_000).contains(first)
                }
            }
        },
        Mutant("search.folded-comparison", "folds no text in a list") {
            $0.testing { leaf in
                guard case .isAnyOf(.function(.folded, let operand), let values) = leaf else { return leaf }
                return .any(values.map { .comparison(.function(.folded, operand), .equal, .value($0)) })
            }
        },
        Mutant("query.numbers-infinite", "takes a NaN for less than any number") {
            $0.testing { leaf in
                guard case .comparison(.value(.double(let number)), .less, let right) = leaf, number.isNaN else {
                    return leaf
                }
                return .comparison(.value(.double(-.infinity)), .less, right)
            }
        },
        Mutant("order.total-count", "finds nothing behind an offset without a limit") {
            $0.store.shortQuery = { query in
                var query = query
                if query.limit == nil, query.offset > 0 { query.predicate = .constant(false) }
                return query
            }
        },
        Mutant("upsert.insert-new", "leaves columns out that an insert does not name") {
            $0.record = { try $2.record($0, in: $1).map { Record(id: $0.id, $0.fields.filter { !$0.value.isNull }) } }
        },
        Mutant("changes.names-tables", "tells of eight tables at most") {
            $0.touched = { touched, _, _ in Set(touched.sorted().prefix(8)) }
        },
        Mutant("changes.names-tables", "tells of tables whose rows are others than before") {
            $0.touched = { touched, before, after in
                touched.filter { before[$0]?.rows.keys != after[$0]?.rows.keys }
            }
        },
        Mutant("state.operation-moves", "keeps the key that an operation had first") {
            $0.upsert = { records, table, inner in
                let records = try records.map { record in
                    var record = record
                    guard table == SystemTables.operations.name, try inner.record(record.id, in: table) != nil else {
                        return record
                    }
                    record["itemKey"] = nil
                    return record
                }
                try inner.upsert(records, into: table)
            }
        },
    ]
}

extension Faults {
    /// Takes hours in the zone of the machine: right where that is UTC.
    package static var inLocalTime: Faults {
        var faults = Faults()
        let offset = Int64(TimeZone.current.secondsFromGMT() / 3_600)
        faults.testing { leaf in
            guard case .comparison(.function(.hour, let date), let comparison, .value(.int64(let hour))) = leaf else {
                return leaf
            }
            return .comparison(.function(.hour, date), comparison, .value(.int64((hour - offset + 24) % 24)))
        }
        return faults
    }
}
