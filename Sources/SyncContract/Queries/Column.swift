/// A column by name, to write predicates with: `Column("complete") == false && Column("text").contains("milk")`.
///
/// Comparisons, arithmetic and functions are those of ``QueryTerm``.
public struct Column: QueryTerm {
    /// The name.
    public let name: String

    /// Names a column. Whether it exists is checked when the query is run.
    public init(_ name: String) { self.name = name }

    /// The column's value as part of a predicate.
    public var expression: QueryExpression { .column(name) }
}
