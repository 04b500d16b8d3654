// Comparisons with a value of another type: here for the sake of the compiler's message only.
extension QueryTerm {
    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func == <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }

    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func != <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }

    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func < <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }

    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func <= <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }

    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func > <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }

    /// Does not compile.
    @available(*, unavailable, message: "a column is compared with values of its own type")
    public static func >= <Other: ColumnValue>(term: Self, value: Other) -> QueryPredicate { .constant(false) }
}
