/// A condition on a row: a tree whose leaves compare expressions.
///
/// Stores, the evaluator and the adapter refuse a predicate beyond these bounds, each with the same verdict:
///
/// - It is nested at most 64 levels deep. A leaf is a level, and so is a chain of one operator, such as `a && b && c`,
///   however it was put together.
/// - It has at most 100,000 parts. The values of ``isAnyOf(_:_:)`` do not count.
/// - The expressions of one comparison, match or list have at most 100 columns, values, functions and operators
///   together.
///
/// Swift itself frees a tree level by level: a program that builds one of tens of thousands of levels, and not a chain
/// from a list with ``all(_:)``, runs out of stack when the tree is released.
public indirect enum QueryPredicate: Sendable, Hashable {
    /// Always or never true.
    case constant(Bool)
    /// A comparison of two expressions.
    case comparison(QueryExpression, QueryComparison, QueryExpression)
    /// Whether text contains, begins or ends with other text. False when either is null or no string.
    case match(QueryExpression, QueryMatch, QueryExpression)
    /// Whether an expression equals one of the values. False for an empty list. Folded text equals a value when it
    /// equals the folded value.
    case isAnyOf(QueryExpression, [FieldValue])
    /// Whether all words of a text are found in the named columns: see ``matches(words:in:_:)``.
    case words(String, WordMatch, in: [String])
    /// Whether all hold; true for an empty list.
    case all([QueryPredicate])
    /// Whether one holds at least; false for an empty list.
    case any([QueryPredicate])
    /// Whether the other does not hold.
    case not(QueryPredicate)

    /// Whether both hold.
    public static func && (left: QueryPredicate, right: QueryPredicate) -> QueryPredicate { .all([left, right]) }

    /// Whether one holds at least.
    public static func || (left: QueryPredicate, right: QueryPredicate) -> QueryPredicate { .any([left, right]) }

    /// Whether the other does not hold.
    public static prefix func ! (predicate: QueryPredicate) -> QueryPredicate { .not(predicate) }
}

/// How two expressions are compared.
public enum QueryComparison: Sendable, Hashable, CaseIterable {
    /// The same value, or both null.
    case equal
    /// Not ``equal``.
    case notEqual
    /// Smaller; false with a null.
    case less
    /// Smaller or the same; false with a null.
    case lessOrEqual
    /// Larger; false with a null.
    case greater
    /// Larger or the same; false with a null.
    case greaterOrEqual
}

/// Where text is looked for in other text.
public enum QueryMatch: Sendable, Hashable, CaseIterable {
    /// Anywhere.
    case contains
    /// At the start.
    case startsWith
    /// At the end.
    case endsWith
}
