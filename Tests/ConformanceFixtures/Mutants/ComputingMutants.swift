import ReferenceStore
import SyncContract

extension Mutant {
    static let computing: [Mutant] = [
        Mutant("compute.whole-numbers", "divides whole numbers as doubles") {
            $0.computing { expression in
                guard case .operation(.column("int"), .divide, .value(.int64(let number))) = expression else {
                    return expression
                }
                return .operation(.column("int"), .divide, .value(.double(Double(number))))
            }
        },
        Mutant("compute.whole-numbers", "gives a remainder the sign of the divisor") {
            $0.computing { expression in
                guard case .operation(let left, .remainder, let right) = expression else { return expression }
                return .operation(.operation(.operation(left, .remainder, right), .add, right), .remainder, right)
            }
        },
        Mutant("compute.division-by-zero", "gives 0 for a division by zero") {
            $0.computing { if case .operation(_, .divide, .value(0)) = $0 { .value(0) } else { $0 } }
        },
        Mutant("compute.doubles", "divides by a double as by a whole number") {
            $0.computing { expression in
                guard case .operation(let left, .divide, .value(.double(let number))) = expression,
                    let whole = Int64(exactly: number)
                else { return expression }
                return .operation(left, .divide, .value(.int64(whole)))
            }
        },
        Mutant("compute.decimals", "computes with decimals as doubles") {
            $0.computing { expression in
                guard case .operation(let left, let symbol, .value(.decimal(let decimal))) = expression else {
                    return expression
                }
                return .operation(left, symbol, .value(.double(Double(decimal.text) ?? 0)))
            }
        },
        Mutant("compute.no-result", "takes a null for 0") {
            $0.computing { expression in
                guard case .operation(.column("double"), .add, .value(let value)) = expression else {
                    return expression
                }
                return .value(value)
            }
        },
        Mutant("compute.rounding", "rounds halves down") {
            $0.computing { expression in
                guard case .function(.rounded, let operand) = expression else { return expression }
                return .function(.ceiling, .operation(operand, .subtract, .value(0.5)))
            }
        },
        Mutant("compute.length", "counts bytes") {
            $0.testing { leaf in
                guard case .comparison(.function(.length, .column("text")), .equal, .value(6)) = leaf else {
                    return leaf
                }
                return .constant(false)
            }
        },
        Mutant("compute.trimmed", "does not trim") {
            $0.computing { if case .function(.trimmed, let operand) = $0 { operand } else { $0 } }
        },
        Mutant("compute.substring", "counts positions from 1") {
            $0.computing { expression in
                guard case .substring(let text, let start, let count) = expression else { return expression }
                return .substring(text, from: .operation(start, .subtract, .value(1)), count: count)
            }
        },
        Mutant("compute.position", "counts positions from 1") {
            $0.computing { expression in
                guard case .operation(_, .position, _) = expression else { return expression }
                return .operation(expression, .add, .value(1))
            }
        },
        Mutant("compute.concatenation", "takes a null for the empty text") {
            $0.computing { expression in
                guard case .operation(let left, .concatenate, .column("decimal")) = expression else {
                    return expression
                }
                return left
            }
        },
        Mutant("compute.date-parts", "takes dates apart an hour east of UTC") {
            $0.testing { leaf in
                guard case .comparison(.function(.hour, let date), let comparison, .value(.int64(let hour))) = leaf
                else { return leaf }
                return .comparison(.function(.hour, date), comparison, .value(.int64((hour + 1) % 24)))
            }
        },
        Mutant("compute.depth", "looks no deeper than 40 levels") {
            $0.evaluating { query in
                var query = query
                query.predicate = query.predicate.map { depth($0) > 40 ? .constant(false) : $0 }
                return query
            }
        },
        Mutant("search.folded-comparison", "folds case and nothing else") {
            $0.computing {
                if case .function(.folded, let operand) = $0 { .function(.lowercased, operand) } else { $0 }
            }
        },
        Mutant("search.folded-match", "does not fold what it looks for") {
            $0.testing { leaf in
                guard case .match(let text, let match, .function(.folded, let pattern)) = leaf else { return leaf }
                return .match(text, match, pattern)
            }
        },
        Mutant("search.words", "finds a row with one of the words") {
            $0.testing { leaf in
                guard case .words(let text, let match, let columns) = leaf else { return leaf }
                let words = text.split(separator: " ").map(String.init)
                return words.isEmpty ? leaf : .any(words.map { .words($0, match, in: columns) })
            }
        },
        Mutant("search.words", "takes beginnings for whole words") {
            $0.testing {
                if case .words(let text, _, let columns) = $0 { .words(text, .prefixes, in: columns) } else { $0 }
            }
        },
        Mutant("search.folded-order", "orders by bytes when asked for a folded order") {
            $0.evaluating { query in
                var query = query
                for index in query.order.indices where query.order[index].column == "text" {
                    query.order[index].isFolded = false
                }
                return query
            }
        },
        Mutant("search.after-rollback", "keeps in a searchable table what was rolled back") {
            $0.rollBack = { before, made in before.merging(made.filter { $0.key == "notes" }) { $1 } }
        },
        Mutant("search.index-changes-nothing", "forgets to search rows that were merged") {
            $0.evaluating { query in
                guard query.table == "notes", case .words(let text, let match, let columns)? = query.predicate,
                    columns.count == 2
                else { return query }
                return query.filtered(by: .words(text, match, in: [columns[0]]))
            }
        },
        Mutant("order.batches", "takes 'less' for 'less or equal'") {
            $0.testing { leaf in
                guard case .comparison(let left, .less, let right) = leaf else { return leaf }
                return .comparison(left, .lessOrEqual, right)
            }
        },
        Mutant("upsert.undeclared-key-nan", "keeps a NaN under an undeclared key as null") {
            $0.upsert = { records, table, inner in
                let kept = records.map { record in
                    var record = record
                    if record["x"]?.doubleValue?.isNaN == true { record["x"] = .null }
                    return record
                }
                try inner.upsert(kept, into: table)
            }
        },
    ]

    private static func depth(_ predicate: QueryPredicate) -> Int {
        switch predicate {
        case .all(let parts), .any(let parts): 1 + (parts.map(depth).max() ?? 0)
        case .not(let part): 1 + depth(part)
        default: 1
        }
    }
}

extension Faults {
    /// Computes something else: every expression is changed, the innermost first.
    mutating func computing(_ change: @escaping @Sendable (QueryExpression) -> QueryExpression) {
        testing { leaf in
            switch leaf {
            case .comparison(let left, let comparison, let right):
                .comparison(left.mapping(change), comparison, right.mapping(change))
            case .match(let text, let match, let pattern): .match(text.mapping(change), match, pattern.mapping(change))
            case .isAnyOf(let left, let values): .isAnyOf(left.mapping(change), values)
            default: leaf
            }
        }
    }
}

extension QueryExpression {
    fileprivate func mapping(_ change: (QueryExpression) -> QueryExpression) -> QueryExpression {
        switch self {
        case .column, .value: change(self)
        case .function(let function, let operand): change(.function(function, operand.mapping(change)))
        case .operation(let left, let symbol, let right):
            change(.operation(left.mapping(change), symbol, right.mapping(change)))
        case .substring(let text, let start, let count):
            change(.substring(text.mapping(change), from: start.mapping(change), count: count?.mapping(change)))
        }
    }
}
