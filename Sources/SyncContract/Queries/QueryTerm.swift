/// What predicates are written with: a ``Column``, or what was computed from columns.
///
/// ```swift
/// Column("price") * 2 > 10 && Column("text").trimmed.length > 0 && Column("due").year == 2026
/// ```
///
/// What each operator and function means, for nulls and for values of other kinds too, is said at ``QueryExpression``.
public protocol QueryTerm: Sendable {
    /// The term as part of a predicate.
    var expression: QueryExpression { get }
}

/// What is computed from columns. Made by the operators and functions of ``QueryTerm``.
public struct ComputedTerm: QueryTerm {
    /// The term as part of a predicate.
    public let expression: QueryExpression

    /// A term with the value of an expression.
    public init(_ expression: QueryExpression) { self.expression = expression }
}

/// Comparisons.
extension QueryTerm {
    /// Whether the term has the value; null equals null.
    public static func == (term: Self, value: FieldValue) -> QueryPredicate { term.compared(.equal, .value(value)) }

    /// Whether the term has another value.
    public static func != (term: Self, value: FieldValue) -> QueryPredicate { term.compared(.notEqual, .value(value)) }

    /// Whether the term is smaller.
    public static func < (term: Self, value: FieldValue) -> QueryPredicate { term.compared(.less, .value(value)) }

    /// Whether the term is smaller or the same.
    public static func <= (term: Self, value: FieldValue) -> QueryPredicate {
        term.compared(.lessOrEqual, .value(value))
    }

    /// Whether the term is larger.
    public static func > (term: Self, value: FieldValue) -> QueryPredicate { term.compared(.greater, .value(value)) }

    /// Whether the term is larger or the same.
    public static func >= (term: Self, value: FieldValue) -> QueryPredicate {
        term.compared(.greaterOrEqual, .value(value))
    }

    /// Whether both have the same value; null equals null.
    public static func == (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.equal, right.expression)
    }

    /// Whether they have different values.
    public static func != (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.notEqual, right.expression)
    }

    /// Whether the first is smaller.
    public static func < (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.less, right.expression)
    }

    /// Whether the first is smaller or the same.
    public static func <= (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.lessOrEqual, right.expression)
    }

    /// Whether the first is larger.
    public static func > (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.greater, right.expression)
    }

    /// Whether the first is larger or the same.
    public static func >= (left: Self, right: some QueryTerm) -> QueryPredicate {
        left.compared(.greaterOrEqual, right.expression)
    }

    /// Whether the term has one of the values.
    public func isAny(of values: [FieldValue]) -> QueryPredicate {
        .isAnyOf(expression, values)
    }

    private func compared(_ comparison: QueryComparison, _ other: QueryExpression) -> QueryPredicate {
        .comparison(expression, comparison, expression.alike(other))
    }
}

/// Searching in text, byte for byte.
extension QueryTerm {
    /// Whether the text contains other text.
    public func contains(_ text: String) -> QueryPredicate { matches(.contains, text) }

    /// Whether the text begins with other text.
    public func starts(with text: String) -> QueryPredicate { matches(.startsWith, text) }

    /// Whether the text ends with other text.
    public func ends(with text: String) -> QueryPredicate { matches(.endsWith, text) }

    /// Whether the text contains other text, ignoring the case of the letters A to Z.
    public func containsIgnoringASCIICase(_ text: String) -> QueryPredicate {
        .match(.lowercased(expression), .contains, .lowercased(.value(.string(text))))
    }

    private func matches(_ match: QueryMatch, _ text: String) -> QueryPredicate {
        .match(expression, match, expression.alike(.value(.string(text))))
    }
}
