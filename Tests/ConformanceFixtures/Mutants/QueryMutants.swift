import ReferenceStore
import SyncContract

extension Mutant {
    static let queries: [Mutant] = [
        Mutant("query.null-equals-null", "never finds a null by comparing, as SQL does") {
            $0.testing { if case .comparison(_, .equal, .value(.null)) = $0 { .constant(false) } else { $0 } }
        },
        Mutant("query.null-differs-from-values", "leaves nulls out of 'not equal', as SQL does") {
            $0.testing { leaf in
                guard case .comparison(let left, .notEqual, let right) = leaf else { return leaf }
                return .all([
                    leaf, .comparison(left, .notEqual, .value(.null)), .comparison(right, .notEqual, .value(.null)),
                ])
            }
        },
        Mutant("query.null-is-not-ordered", "takes null for less than anything") {
            $0.testing { leaf in
                guard case .comparison(let left, .less, let right) = leaf else { return leaf }
                return .any([
                    leaf, .comparison(left, .equal, .value(.null)) && .comparison(right, .notEqual, .value(.null)),
                ])
            }
        },
        Mutant("query.two-valued-logic", "has a third truth value, as SQL does") {
            $0.testing { node in
                guard case .not(.comparison(let left, let comparison, let right)) = node, comparison != .equal else {
                    return node
                }
                return .all([
                    node, .comparison(left, .notEqual, .value(.null)), .comparison(right, .notEqual, .value(.null)),
                ])
            }
        },
        Mutant("query.equal", "compares with 'less or equal' for 'equal'") {
            $0.testing { replacing($0, .equal, .lessOrEqual) }
        },
        Mutant("query.not-equal", "compares with 'greater' for 'not equal'") {
            $0.testing { replacing($0, .notEqual, .greater) }
        },
        Mutant("query.less-or-equal", "compares with 'less' for 'less or equal'") {
            $0.testing { replacing($0, .lessOrEqual, .less) }
        },
        Mutant("query.greater", "compares with 'greater or equal' for 'greater'") {
            $0.testing { replacing($0, .greater, .greaterOrEqual) }
        },
        Mutant("query.greater-or-equal", "compares with 'greater' for 'greater or equal'") {
            $0.testing { replacing($0, .greaterOrEqual, .greater) }
        },
        Mutant("query.less", "compares with 'greater' for 'less' when the value is on the left") {
            $0.testing { leaf in
                guard case .comparison(.value(let value), .less, let right) = leaf else { return leaf }
                return .comparison(.value(value), .greater, right)
            }
        },
        Mutant("query.kinds-differ", "takes text with a number for the number") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.string(let text))) = leaf,
                    let number = Int64(text)
                else { return leaf }
                return .any([leaf, .comparison(left, comparison, .value(.int64(number)))])
            }
        },
        Mutant("query.kinds-differ", "takes true for 1") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.bool(let value))) = leaf else { return leaf }
                return .any([leaf, .comparison(left, comparison, .value(.int64(value ? 1 : 0)))])
            }
        },
        Mutant("query.numbers-across-types", "does not compare doubles with whole numbers") {
            $0.testing { leaf in
                guard case .comparison(.column("int"), _, .value(.double)) = leaf else { return leaf }
                return .constant(false)
            }
        },
        Mutant("query.numbers-exact", "compares numbers as doubles") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.int64(let number))) = leaf else { return leaf }
                return .comparison(left, comparison, .value(.double(Double(number))))
            }
        },
        Mutant("query.numbers-infinite", "finds nothing when it compares with an infinity") {
            $0.testing { leaf in
                guard case .comparison(_, _, .value(.double(let number))) = leaf, number.isInfinite else { return leaf }
                return .constant(false)
            }
        },
        Mutant("query.decimals", "compares decimals as doubles") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.decimal(let decimal))) = leaf,
                    let number = Double(decimal.text), number.isFinite
                else { return leaf }
                return .comparison(left, comparison, .value(.double(number.nextUp)))
            }
        },
        Mutant("query.sign-of-zero", "orders -0.0 before 0.0") {
            $0.arranging { rows, query in
                guard query.order.first?.column == "double" else { return rows }
                let isNegative: (Record) -> Bool = { $0["double"]?.doubleValue?.sign == .minus }
                return rows.filter(isNegative) + rows.filter { !isNegative($0) }
            }
        },
        Mutant("query.sign-of-zero", "does not find -0.0 where 0 is looked for") {
            $0.testing { leaf in
                guard case .comparison(.column("double"), .equal, .value(let value)) = leaf, value == 0.0 else {
                    return leaf
                }
                return .constant(false)
            }
        },
        Mutant("query.doubles-and-decimals", "compares the exact value of a double with a decimal") {
            $0.testing { leaf in
                guard case .comparison(.column("double"), .equal, .value(.decimal(let number))) = leaf,
                    number.text.contains(".")
                else { return leaf }
                return .constant(false)
            }
        },
        Mutant("query.dates", "compares dates by their text") {
            $0.testing { leaf in
                guard case .comparison(let left, .less, .value(.date(let date))) = leaf,
                    date.milliseconds > 253_402_300_799_999
                else { return leaf }
                // '+10000-01-01' comes before every year that begins with a digit.
                return .comparison(left, .less, .value(.date(Timestamp(milliseconds: -62_135_596_800_000))))
            }
        },
        Mutant("query.dates", "takes the dates of a query for those of another time zone") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.date(let date))) = leaf else { return leaf }
                let shifted = date.milliseconds.addingReportingOverflow(3_600_000)
                let moved = Timestamp(milliseconds: shifted.overflow ? date.milliseconds : shifted.partialValue)
                return .comparison(left, comparison, .value(.date(moved)))
            }
        },
        Mutant("query.bytes-and-json", "compares bytes as signed numbers") {
            $0.testing { leaf in
                guard case .comparison(let left, .less, .value(.bytes(let bytes))) = leaf, bytes.first ?? 0 > 127 else {
                    return leaf
                }
                return .comparison(left, .less, .value(.bytes([])))
            }
        },
        Mutant("query.bytes-and-json", "takes JSON of the same meaning for equal") {
            $0.testing { leaf in
                guard case .comparison(let left, .equal, .value(.json(let json))) = leaf, json.text == "[1 ]" else {
                    return leaf
                }
                return .any([leaf, .comparison(left, .equal, .value(.json(JSONText("[1]") ?? json)))])
            }
        },
        Mutant("query.marked-as-deleted", "hides rows that are marked as deleted") {
            $0.evaluating { query in
                ["items", "folding"].contains(query.table) ? query.filtered(by: Column("deleted") != true) : query
            }
        },
        Mutant("query.id-ignoring-case", "compares ids with case for 'not equal'") {
            $0.testing { leaf in
                guard case .comparison(.column("id"), .notEqual, let right) = leaf else { return leaf }
                return .comparison(.substring(.column("id"), from: .value(0), count: nil), .notEqual, right)
            }
        },
        Mutant("query.text-bytes", "compares text without case") {
            $0.testing { leaf in
                guard case .comparison(.column("text"), let comparison, .value(.string(let text))) = leaf else {
                    return leaf
                }
                return .comparison(.lowercased(.column("text")), comparison, .lowercased(.value(.string(text))))
            }
        },
        Mutant("query.text-nul", "cuts given text at a U+0000") {
            $0.testing { leaf in
                guard case .comparison(let left, let comparison, .value(.string(let text))) = leaf else { return leaf }
                return .comparison(
                    left,
                    comparison,
                    .value(.string(String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self)))
                )
            }
        },
        Mutant("query.all", "finds nothing for an empty 'all'") {
            $0.testing { $0 == .all([]) ? .constant(false) : $0 }
        },
        Mutant("query.any", "finds everything for an empty 'any'") {
            $0.testing { $0 == .any([]) ? .constant(true) : $0 }
        },
        Mutant("query.constant", "takes a constant for true") {
            $0.testing { if case .constant = $0 { .constant(true) } else { $0 } }
        },
        Mutant("query.precedence", "forgets 'not' before brackets") {
            $0.testing { if case .not(.any(let parts)) = $0, parts.count > 1 { .any(parts) } else { $0 } }
        },
        Mutant("query.deep-tree", "looks at 100 conditions at most") {
            $0.testing { if case .any(let parts) = $0 { .any(Array(parts.suffix(100))) } else { $0 } }
        },
        Mutant("query.id-ignoring-case", "compares ids in lists with case") {
            $0.testing { leaf in
                guard case .isAnyOf(.column("id"), let values) = leaf else { return leaf }
                return .isAnyOf(.column("id"), values.filter { $0 == .string(($0.stringValue ?? "").lowercased()) })
            }
        },
        Mutant("query.undeclared-column", "takes an undeclared column for null") { faults in
            faults.rows = { query, inner in
                var rows: [Record] = []
                do {
                    try inner.forEach(query) { rows.append($0) }
                } catch let error as StoreError where error.code == .invalidQuery {
                    return []
                }
                return rows
            }
        },
        Mutant("query.undeclared-column-count", "counts 0 for an undeclared column") {
            $0.count = { query, inner in
                do {
                    return try inner.count(query)
                } catch let error as StoreError where error.code == .invalidQuery {
                    return 0
                }
            }
        },
        Mutant("query.unknown-table", "finds no rows in an unknown table") { faults in
            faults.rows = { query, inner in
                var rows: [Record] = []
                do {
                    try inner.forEach(query) { rows.append($0) }
                } catch let error as StoreError where error.code == .tableNotFound {
                    return []
                }
                return rows
            }
        },
        Mutant("query.negative-numbers", "takes a negative limit for none") {
            $0.evaluating { query in
                var query = query
                if let limit = query.limit, limit < 0 { query.limit = nil }
                return query
            }
        },
        Mutant("match.contains", "looks at the start only") { $0.testing { replacing($0, .contains, .startsWith) } },
        Mutant("match.starts-with", "looks anywhere for a start") {
            $0.testing { replacing($0, .startsWith, .contains) }
        },
        Mutant("match.ends-with", "looks anywhere for an end") { $0.testing { replacing($0, .endsWith, .contains) } },
        Mutant("match.case", "looks for text without case, as LIKE does") {
            $0.testing { leaf in
                guard case .match(let text, let match, let pattern) = leaf else { return leaf }
                return .match(.lowercased(text), match, .lowercased(pattern))
            }
        },
        Mutant("match.no-wildcards", "takes '%' for any text, as LIKE does") {
            $0.testing { leaf in
                guard case .match(let text, _, .value(.string(let pattern))) = leaf, pattern.contains("%") else {
                    return leaf
                }
                return .all(pattern.split(separator: "%").map { .match(text, .contains, .value(.string(String($0)))) })
            }
        },
        Mutant("match.empty-text", "finds nothing for empty text") {
            $0.testing { if case .match(_, _, .value("")) = $0 { .constant(false) } else { $0 } }
        },
        Mutant("match.lowercased", "does not change the case of columns") {
            $0.testing { leaf in
                guard case .comparison(.function(.lowercased, let inner), let comparison, let right) = leaf else {
                    return leaf
                }
                return .comparison(inner, comparison, right)
            }
        },
        Mutant("match.uppercased", "makes lower-case what is to be upper-case") {
            $0.testing { leaf in
                guard case .comparison(.function(.uppercased, let inner), let comparison, let right) = leaf else {
                    return leaf
                }
                return .comparison(.lowercased(inner), comparison, right)
            }
        },
        Mutant("match.any-of", "forgets the last value of a list") {
            $0.testing { if case .isAnyOf(let left, let values) = $0 { .isAnyOf(left, values.dropLast()) } else { $0 } }
        },
        Mutant("match.any-of-nothing", "finds everything for an empty list") {
            $0.testing { if case .isAnyOf(_, []) = $0 { .constant(true) } else { $0 } }
        },
        Mutant("match.any-of-kinds", "takes the text 1 in a list for the number") {
            $0.testing { leaf in
                guard case .isAnyOf(let left, let values) = leaf else { return leaf }
                return .isAnyOf(
                    left,
                    values + values.compactMap { $0.stringValue.flatMap(Int64.init).map(FieldValue.int64) }
                )
            }
        },
        Mutant("match.any-of-exact", "compares text in lists without case") {
            $0.testing { leaf in
                guard case .isAnyOf(.column("text"), let values) = leaf else { return leaf }
                let folded = values.map { value in value.stringValue.map { FieldValue.string($0.lowercased()) } ?? value
                }
                return .isAnyOf(.lowercased(.column("text")), folded)
            }
        },
        Mutant("match.any-of-exact", "compares dates in lists by their text") {
            $0.testing { leaf in
                guard case .isAnyOf(let left, let values) = leaf else { return leaf }
                return .isAnyOf(left, values.filter { $0.dateValue?.finerText == nil })
            }
        },
        Mutant("match.contains", "goes on behind a false start") {
            $0.testing { leaf in
                guard case .match(let text, .contains, .value(.string(let pattern))) = leaf, pattern.hasPrefix("aa")
                else { return leaf }
                return .match(text, .startsWith, .value(.string(pattern)))
            }
        },
        Mutant("match.any-of-many", "looks at 999 values at most") {
            $0.testing {
                if case .isAnyOf(let left, let values) = $0 { .isAnyOf(left, Array(values.prefix(999))) } else { $0 }
            }
        },
    ]

    private static func replacing(
        _ leaf: QueryPredicate,
        _ old: QueryComparison,
        _ new: QueryComparison
    ) -> QueryPredicate {
        if case .comparison(let left, old, let right) = leaf { .comparison(left, new, right) } else { leaf }
    }

    private static func replacing(_ leaf: QueryPredicate, _ old: QueryMatch, _ new: QueryMatch) -> QueryPredicate {
        if case .match(let left, old, let right) = leaf { .match(left, new, right) } else { leaf }
    }
}
