/// A column that holds values of a type: `Column<Date>("due") < date && Column("complete") == false`.
///
/// A comparison with a value of another type does not compile. A column named without a type is a `Column<FieldValue>`,
/// which takes values of every kind, or of the type of the variable that it is compared with; the engine's tables refuse a
/// query in which its kind is not the declared column's. Comparisons, arithmetic and functions are those of ``QueryTerm``.
public struct Column<Value: ColumnValue>: QueryTerm {
    /// The name.
    public let name: String

    // Untyped where both do, so that literals mean what they say: 1 a whole number, and 1.0 none.
    /// Names a column of a type. Whether it exists is checked when the query is run.
    @_disfavoredOverload
    public init(_ name: String) { self.name = name }

    /// The column's value as part of a predicate.
    public var expression: QueryExpression { .column(name) }
}

extension Column where Value == FieldValue {
    /// Names a column without a type.
    public init(_ name: String) { self.name = name }
}
