/// Searching in text, byte for byte.
extension QueryTerm where Value: TextColumnValue {
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

/// Text as people look for it.
extension QueryTerm where Value: TextColumnValue {
    /// The text without differences of case, accents and the like: see `TextFolding`.
    ///
    /// Values it is compared with and texts looked for in it are folded as well: `Column("city").folded == "Łódź"` finds
    /// `lodz`, and `.folded.contains("straße")` finds `Hauptstrasse`. For the local store only: a query with it cannot be
    /// sent to a server.
    public var folded: ComputedTerm<Value> { ComputedTerm(.folded(expression)) }
}

/// A column's text without differences of case, accents and the like: see ``QueryTerm/folded``. Rows come in its order.
public struct FoldedColumn<Value: TextColumnValue>: QueryTerm {
    /// The column's name.
    public let name: String

    /// The folded text as part of a predicate.
    public var expression: QueryExpression { .folded(.column(name)) }
}

extension Column where Value: TextColumnValue {
    /// The text without differences of case, accents and the like, to compare it and to order by it.
    public var folded: FoldedColumn<Value> { FoldedColumn(name: name) }

    /// Whether the column has all words of a text: see ``QueryPredicate/matches(words:in:_:)``.
    public func matches(words text: String, _ match: WordMatch = .prefixes) -> QueryPredicate {
        .matches(words: text, in: [name], match)
    }
}

extension QueryPredicate {
    /// Whether all words of a text are found in one or several columns, in any order.
    ///
    /// Words are runs of letters, marks and digits of the folded text (see `TextFolding`). In scripts without spaces
    /// between words, such as Han, Kana and Thai, every two scalars that follow one another count as a word; so a search
    /// there finds every row with the text, and may find one that has its pairs in other places.
    ///
    /// A text without words holds for every row. A column without text has no words. For the local store only: a query
    /// with it cannot be sent to a server.
    ///
    /// - Parameters:
    ///   - text: The words, in any case and with or without accents.
    ///   - columns: The columns to look in. Each word may be in another of them. When all are declared as searchable,
    ///     the words are looked up; otherwise the search goes through all rows.
    ///   - match: Whether each word begins a word of the row, or is one.
    /// - Returns: The condition.
    public static func matches(
        words text: String,
        in columns: [String],
        _ match: WordMatch = .prefixes
    ) -> QueryPredicate {
        .words(text, match, in: columns)
    }
}

extension QueryExpression {
    /// A value in the form in which it compares with this expression: folded, when this is folded text.
    func alike(_ other: QueryExpression) -> QueryExpression {
        guard case .function(.folded, _) = self, case .value(.string) = other else { return other }
        return .folded(other)
    }
}
