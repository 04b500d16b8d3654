/// A column by name, to write predicates with: `Column("complete") == false && Column("text").contains("milk")`.
public struct Column: Sendable {
    /// The name.
    public let name: String

    /// Names a column. Whether it exists is checked when the query is run.
    public init(_ name: String) { self.name = name }

    /// Whether the column holds the value; null equals null.
    public static func == (column: Column, value: FieldValue) -> QueryPredicate { column.compared(.equal, value) }

    /// Whether the column holds another value.
    public static func != (column: Column, value: FieldValue) -> QueryPredicate { column.compared(.notEqual, value) }

    /// Whether the column is smaller.
    public static func < (column: Column, value: FieldValue) -> QueryPredicate { column.compared(.less, value) }

    /// Whether the column is smaller or the same.
    public static func <= (column: Column, value: FieldValue) -> QueryPredicate {
        column.compared(.lessOrEqual, value)
    }

    /// Whether the column is larger.
    public static func > (column: Column, value: FieldValue) -> QueryPredicate { column.compared(.greater, value) }

    /// Whether the column is larger or the same.
    public static func >= (column: Column, value: FieldValue) -> QueryPredicate {
        column.compared(.greaterOrEqual, value)
    }

    /// Whether the column's text contains other text, byte for byte.
    public func contains(_ text: String) -> QueryPredicate { matches(.contains, text) }

    /// Whether the column's text begins with other text.
    public func starts(with text: String) -> QueryPredicate { matches(.startsWith, text) }

    /// Whether the column's text ends with other text.
    public func ends(with text: String) -> QueryPredicate { matches(.endsWith, text) }

    /// Whether the column's text contains other text, ignoring the case of the letters A to Z.
    public func containsIgnoringASCIICase(_ text: String) -> QueryPredicate {
        .match(.lowercased(.column(name)), .contains, .lowercased(.value(.string(text))))
    }

    /// Whether the column holds one of the values.
    public func isAny(of values: [FieldValue]) -> QueryPredicate { .isAnyOf(.column(name), values) }

    private func compared(_ comparison: QueryComparison, _ value: FieldValue) -> QueryPredicate {
        .comparison(.column(name), comparison, .value(value))
    }

    private func matches(_ match: QueryMatch, _ text: String) -> QueryPredicate {
        .match(.column(name), match, .value(.string(text)))
    }
}
