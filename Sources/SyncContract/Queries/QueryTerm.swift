/// What predicates are written with: a ``Column``, or what was computed from columns.
///
/// ```swift
/// Column("price") * 2 > 10 && Column("text").trimmed.length > 0 && Column("due").year == 2026
/// ```
///
/// What each operator and function means, for nulls and for values of other kinds too, is said at ``QueryExpression``.
public protocol QueryTerm<Value>: Sendable {
    /// The type of its values: ``FieldValue`` where it is not known.
    associatedtype Value: ColumnValue

    /// The term as part of a predicate.
    var expression: QueryExpression { get }
}

/// What is computed from columns. Made by the operators and functions of ``QueryTerm``.
public struct ComputedTerm<Value: ColumnValue>: QueryTerm {
    /// The term as part of a predicate.
    public let expression: QueryExpression

    /// A term with the value of an expression.
    public init(_ expression: QueryExpression) { self.expression = expression }
}

/// Comparisons with a value.
extension QueryTerm {
    /// Whether the term has the value; null equals null.
    public static func == (term: Self, value: Value) -> QueryPredicate { term.isEqual(to: value) }

    /// Whether the term has another value.
    public static func != (term: Self, value: Value) -> QueryPredicate { term.differs(from: value) }

    /// Whether the term is smaller.
    public static func < (term: Self, value: Value) -> QueryPredicate { term.compared(.less, value) }

    /// Whether the term is smaller or the same.
    public static func <= (term: Self, value: Value) -> QueryPredicate { term.compared(.lessOrEqual, value) }

    /// Whether the term is larger.
    public static func > (term: Self, value: Value) -> QueryPredicate { term.compared(.greater, value) }

    /// Whether the term is larger or the same.
    public static func >= (term: Self, value: Value) -> QueryPredicate { term.compared(.greaterOrEqual, value) }

    /// Whether the term has one of the values.
    public func isAny(of values: [Value]) -> QueryPredicate { .isAnyOf(expression, values.flatMap(Self.forms(of:))) }

    /// Whether the term has one of the values, such as those of a `Set`.
    @_disfavoredOverload
    public func isAny(of values: some Sequence<Value>) -> QueryPredicate { isAny(of: Array(values)) }

    /// Whether the term lies in a range, its ends included: `1...5 ~= $0.count`. A null lies in none. It is compared as by `>=` and
    /// `<=`: values that are kept as text, such as those of enums and UUIDs, by that.
    public static func ~= (range: ClosedRange<Value.Base>, term: Self) -> QueryPredicate where Value.Base: Comparable {
        term.isBounded(.greaterOrEqual, range.lowerBound) && term.isBounded(.lessOrEqual, range.upperBound)
    }

    /// Whether the term lies in a range without its upper end: `monday..<sunday ~= $0.due`. A null lies in none. It is compared as
    /// by `>=` and `<`.
    public static func ~= (range: Range<Value.Base>, term: Self) -> QueryPredicate where Value.Base: Comparable {
        term.isBounded(.greaterOrEqual, range.lowerBound) && term.isBounded(.less, range.upperBound)
    }

    private func isBounded(_ comparison: QueryComparison, _ bound: Value.Base) -> QueryPredicate {
        .comparison(expression, comparison, expression.alike(.value(bound.fieldValue)))
    }

    private func isEqual(to value: Value) -> QueryPredicate {
        Self.isInTwoForms(value) ? isAny(of: [value]) : compared(.equal, value)
    }

    private func differs(from value: Value) -> QueryPredicate {
        Self.isInTwoForms(value) ? !isAny(of: [value]) : compared(.notEqual, value)
    }

    private func compared(_ comparison: QueryComparison, _ value: Value) -> QueryPredicate {
        .comparison(expression, comparison, expression.alike(.value(value.fieldValue)))
    }
}

/// Comparisons with another term of the same type.
extension QueryTerm {
    /// Whether both have the same value; null equals null.
    public static func == <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.equal, with: right) }

    /// Whether they have different values.
    public static func != <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.notEqual, with: right) }

    /// Whether the first is smaller.
    public static func < <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.less, with: right) }

    /// Whether the first is smaller or the same.
    public static func <= <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.lessOrEqual, with: right) }

    /// Whether the first is larger.
    public static func > <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.greater, with: right) }

    /// Whether the first is larger or the same.
    public static func >= <Other: QueryTerm>(left: Self, right: Other) -> QueryPredicate
    where Other.Value.Base == Value.Base { left.compared(.greaterOrEqual, with: right) }

    private func compared(_ comparison: QueryComparison, with other: some QueryTerm) -> QueryPredicate {
        .comparison(expression, comparison, expression.alike(other.expression))
    }
}

/// Truth values are conditions: `$0.complete && !$0.hidden`. A null is not true.
extension QueryTerm where Value == Bool {
    /// Whether the value is not true.
    public static prefix func ! (term: Self) -> QueryPredicate { term != true }

    /// Whether both hold.
    public static func && (left: Self, right: QueryPredicate) -> QueryPredicate { left == true && right }

    /// Whether both hold.
    public static func && (left: QueryPredicate, right: Self) -> QueryPredicate { left && right == true }

    /// Whether both hold.
    public static func && (left: Self, right: some QueryTerm<Bool>) -> QueryPredicate { left == true && right == true }

    /// Whether one holds at least.
    public static func || (left: Self, right: QueryPredicate) -> QueryPredicate { left == true || right }

    /// Whether one holds at least.
    public static func || (left: QueryPredicate, right: Self) -> QueryPredicate { left || right == true }

    /// Whether one holds at least.
    public static func || (left: Self, right: some QueryTerm<Bool>) -> QueryPredicate { left == true || right == true }
}
