/// A condition on a row: a tree whose leaves compare expressions.
public indirect enum QueryPredicate: Sendable, Hashable {
    /// Always or never true.
    case constant(Bool)
    /// A comparison of two expressions.
    case comparison(QueryExpression, QueryComparison, QueryExpression)
    /// Whether text contains, begins or ends with other text. False when either is null or no string.
    case match(QueryExpression, QueryMatch, QueryExpression)
    /// Whether an expression equals one of the values. False for an empty list.
    case isAnyOf(QueryExpression, [FieldValue])
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

/// What a predicate compares.
public indirect enum QueryExpression: Sendable, Hashable {
    /// The value of a column, `id` included.
    case column(String)
    /// A given value.
    case value(FieldValue)
    /// Text with A to Z made lower-case; null when the operand is no string.
    case lowercased(QueryExpression)
    /// Text with a to z made upper-case; null when the operand is no string.
    case uppercased(QueryExpression)
}
