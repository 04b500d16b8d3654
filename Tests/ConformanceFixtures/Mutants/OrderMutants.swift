import QueryEvaluation
import ReferenceStore
import SyncContract

extension Mutant {
    static let ordering: [Mutant] = [
        Mutant("order.default-is-id", "gives rows in an order of its own") {
            $0.arranging { rows, query in query.order.isEmpty && query.limit == nil ? rows.reversed() : rows }
        },
        Mutant("order.ties-by-id", "orders equal rows by id the same way as the last column") {
            $0.evaluating { query in
                guard let last = query.order.last, last.direction == .descending else { return query }
                return query.ordered(by: "id", .descending)
            }
        },
        Mutant("order.nulls-first", "puts nulls last") {
            $0.arranging { rows, query in
                guard let first = query.order.first, first.direction == .ascending, first.column != "id" else {
                    return rows
                }
                return rows.filter { $0[first.column]?.isNull == false }
                    + rows.filter { $0[first.column]?.isNull != false }
            }
        },
        Mutant("order.descending", "puts nulls first in both directions") {
            $0.arranging { rows, query in
                guard let first = query.order.first, first.direction == .descending, first.column != "id" else {
                    return rows
                }
                return rows.filter { $0[first.column]?.isNull == true }
                    + rows.filter { $0[first.column]?.isNull != true }
            }
        },
        Mutant("order.several-columns", "orders by the first column only") {
            $0.evaluating { query in
                var query = query
                query.order = Array(query.order.prefix(1))
                return query
            }
        },
        Mutant("order.dates-and-bytes", "orders dates by their text") {
            $0.arranging { rows, query in
                guard query.order.first?.column == "date" else { return rows }
                let sorted = rows.sorted { ($0["date"]?.dateValue?.text ?? "") < ($1["date"]?.dateValue?.text ?? "") }
                return query.order[0].direction == .ascending ? sorted : sorted.reversed()
            }
        },
        Mutant("order.no-limit", "gives 1,000 rows when no limit is given") {
            $0.evaluating { query in
                var query = query
                query.limit = query.limit ?? 1_000
                return query
            }
        },
        Mutant("order.cut-comes-last", "cuts before it orders") {
            $0.rows = { query, inner in
                var unordered = query
                (unordered.order, unordered.selection) = ([], nil)
                var rows: [Record] = []
                try inner.forEach(unordered) { rows.append($0) }
                let evaluator = QueryEvaluator(try inner.definition(of: query.table))
                rows.sort { evaluator.precedes($0, $1, in: query.order) }
                return query.selection.map { names in rows.map { $0.selecting(names) } } ?? rows
            }
        },
        Mutant("order.cut-comes-last", "cuts before it filters") {
            $0.rows = { query, inner in
                var unfiltered = query
                (unfiltered.predicate, unfiltered.selection) = (nil, nil)
                var rows: [Record] = []
                try inner.forEach(unfiltered) { rows.append($0) }
                let evaluator = QueryEvaluator(try inner.definition(of: query.table))
                rows = try rows.filter { try evaluator.matches($0, query.predicate) }
                return query.selection.map { names in rows.map { $0.selecting(names) } } ?? rows
            }
        },
        Mutant("order.many-rows", "orders by two columns at most") {
            $0.evaluating { query in
                var query = query
                query.order = Array(query.order.prefix(2))
                return query
            }
        },
        Mutant("order.same-every-time", "orders equal rows by chance") {
            $0.arranging { rows, query in
                guard let column = query.order.first?.column, query.limit == nil else { return rows }
                var result: [Record] = []
                var group: [Record] = []
                for row in rows {
                    if let last = group.last, last[column] != row[column] {
                        result += group.shuffled()
                        group = []
                    }
                    group.append(row)
                }
                return result + group.shuffled()
            }
        },
        Mutant("order.text-by-bytes", "orders text without case") {
            $0.arranging { rows, query in
                guard query.order.first?.column == "text" else { return rows }
                return rows.sorted {
                    ($0["text"]?.stringValue ?? "").lowercased() < ($1["text"]?.stringValue ?? "").lowercased()
                }
            }
        },
        Mutant("order.decimals-numerically", "orders decimals by their text") {
            $0.arranging { rows, query in
                guard query.order.first?.column == "decimal" else { return rows }
                return rows.sorted {
                    ($0["decimal"]?.decimalValue?.text ?? "") < ($1["decimal"]?.decimalValue?.text ?? "")
                }
            }
        },
        Mutant("order.by-id", "does not order by the id when asked to") {
            $0.evaluating { query in
                var query = query
                query.order.removeAll { $0.column == "id" }
                return query
            }
        },
        Mutant("order.limit", "gives one row more than the limit") {
            $0.evaluating { query in
                var query = query
                if let limit = query.limit, limit > 0, limit < .max { query.limit = limit + 1 }
                return query
            }
        },
        Mutant("order.limit-0", "takes the limit 0 for none") {
            $0.evaluating { query in
                var query = query
                if query.limit == 0 { query.limit = nil }
                return query
            }
        },
        Mutant("order.offset", "skips one row too few") {
            $0.evaluating { query in
                var query = query
                if query.offset > 0 { query.offset -= 1 }
                return query
            }
        },
        Mutant("order.offset", "ignores an offset without a limit") {
            $0.evaluating { query in
                var query = query
                if query.limit == nil { query.offset = min(0, query.offset) }
                return query
            }
        },
        Mutant("order.pages", "repeats a row on the second page") {
            $0.evaluating { query in
                var query = query
                if query.offset == 10 { query.offset = 9 }
                return query
            }
        },
        Mutant("order.selection", "gives all columns whatever is selected") {
            $0.evaluating { query in
                var query = query
                query.selection = nil
                return query
            }
        },
        Mutant("order.selection-filters-by-others", "orders by selected columns only") {
            $0.evaluating { query in
                var query = query
                if let selection = query.selection { query.order.removeAll { !selection.contains($0.column) } }
                return query
            }
        },
        Mutant("order.selection-without-undeclared", "leaves out undeclared keys in queries") {
            $0.arranging { rows, query in
                rows.map { row in Record(id: row.id, row.fields.filter { $0.key != "extra" }) }
            }
        },
        Mutant("order.count-of-conditions", "counts all rows whatever the condition") {
            $0.count = { query, inner in
                try inner.forEach(query.limited(to: 0)) { _ in }
                return try inner.count(Query(query.table))
            }
        },
        Mutant("order.count-without-limit", "counts up to the limit") {
            $0.count = { min(try $1.count($0), $0.limit ?? .max) }
        },
        Mutant("order.total-count", "leaves out skipped rows from the count") {
            $0.count = { max(0, try $1.count($0) - $0.offset) }
        },
        Mutant("order.walk-stops-on-error", "goes on after the closure threw") {
            $0.walk = { rows, body in
                var failure: (any Error)?
                for row in rows {
                    do {
                        try body(row)
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
        },
        Mutant("order.walk-stops-on-error", "swallows the error of the closure") {
            $0.walk = { rows, body in
                for row in rows {
                    do {
                        try body(row)
                    } catch {
                        return
                    }
                }
            }
        },
    ]
}
