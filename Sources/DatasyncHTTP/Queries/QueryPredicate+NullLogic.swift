internal import SyncContract

extension QueryPredicate {
    /// The same condition for a server whose logic is SQL's, where a comparison with a null is neither true nor false, and
    /// so is its negation: what is to hold for nulls is said beside it.
    ///
    /// Negations stand before single conditions only. There `not` can be put right by asking for the nulls as well;
    /// further out it would meet what is neither true nor false.
    var forThreeValuedLogic: QueryPredicate { forThreeValuedLogic(isNegated: false) }

    private func forThreeValuedLogic(isNegated: Bool) -> QueryPredicate {
        switch self {
        case .constant(let value): return .constant(value != isNegated)
        case .not(let part): return part.forThreeValuedLogic(isNegated: !isNegated)
        case .all(let parts), .any(let parts):
            let parts = parts.map { $0.forThreeValuedLogic(isNegated: isNegated) }
            return isChainOfAll != isNegated ? .all(parts) : .any(parts)
        case .comparison(let left, .equal, let right):
            return isNegated ? .differ(left, right) : .same(left, right)
        case .comparison(let left, .notEqual, let right):
            return isNegated ? .same(left, right) : .differ(left, right)
        case .comparison(let left, _, let right) where left.isAlwaysNull || right.isAlwaysNull:
            return .constant(isNegated)
        case .comparison(let left, _, let right), .match(let left, _, let right):
            return isNegated ? .any([.not(self)] + [left, right].filter(\.mayBeNull).map(\.isNull)) : self
        case .isAnyOf(let expression, let values):
            guard isNegated else { return self }
            let others = QueryPredicate.all(values.map { .comparison(expression, .notEqual, .value($0)) })
            let hasNull = values.contains { $0.isNull }
            return hasNull || values.isEmpty || !expression.mayBeNull ? others : .any([others, expression.isNull])
        case .words: return self
        }
    }

    private var isChainOfAll: Bool { if case .all = self { true } else { false } }

    /// The same value, or both null.
    private static func same(_ left: QueryExpression, _ right: QueryExpression) -> QueryPredicate {
        switch (left.isAlwaysNull, right.isAlwaysNull) {
        case (true, true): .constant(true)
        case (true, false): right.isNull
        case (false, true): left.isNull
        case (false, false) where left.mayBeNull && right.mayBeNull:
            .any([.comparison(left, .equal, right), .all([left.isNull, right.isNull])])
        case (false, false): .comparison(left, .equal, right)
        }
    }

    /// Two values, or one of them null.
    private static func differ(_ left: QueryExpression, _ right: QueryExpression) -> QueryPredicate {
        switch (left.isAlwaysNull, right.isAlwaysNull) {
        case (true, true): .constant(false)
        case (true, false): right.isNotNull
        case (false, true): left.isNotNull
        case (false, false) where left.mayBeNull && right.mayBeNull:
            .any([
                .comparison(left, .notEqual, right), .all([left.isNull, right.isNotNull]),
                .all([left.isNotNull, right.isNull]),
            ])
        case (false, false):
            .any([.comparison(left, .notEqual, right)] + [left, right].filter(\.mayBeNull).map(\.isNull))
        }
    }
}

extension QueryExpression {
    fileprivate var isNull: QueryPredicate { .comparison(self, .equal, .value(.null)) }
    fileprivate var isNotNull: QueryPredicate { .comparison(self, .notEqual, .value(.null)) }
    fileprivate var isAlwaysNull: Bool { kind == .null }

    /// Whether a row may have a null here: in every column but the id, and where something may have no result.
    fileprivate var mayBeNull: Bool {
        switch self {
        case .column("id"): false
        case .value(let value): value.isNull
        case .function(_, let operand): isAlwaysNull || operand.mayBeNull
        default: true
        }
    }
}
