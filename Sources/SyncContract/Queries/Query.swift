/// What to read from a table, as a value.
///
/// The same query is evaluated in memory, compiled to SQL and printed as OData, with one meaning:
///
/// - Logic has two values. A comparison with a null is false, except that null equals null and differs from anything
///   else.
/// - Values of different kinds are not equal and neither is less. Numbers of all three types compare numerically. A
///   double counts as the shortest decimal text that reads back as it: 0.1 equals the decimal 0.1. Zero has no sign. The
///   tables of the engine refuse a query that compares values of different kinds.
/// - Dates compare by their milliseconds, bytes byte for byte, and JSON by the bytes of its text.
/// - Strings compare by their UTF-8 bytes, false comes before true, nulls come first in every order, and rows that
///   compare equal are ordered by id, ascending. Without an order, rows come by id.
/// - An infinity lies beyond every other number, and a NaN compares with nothing.
/// - In a table whose ids ignore case, comparisons with the column `id` and the order by it ignore case as well.
/// - A limit of 0 gives no rows.
///
/// What expressions compute is said at ``QueryExpression``, how large a predicate may be at ``QueryPredicate``.
public struct Query: Sendable, Hashable {
    /// The table to read.
    public var table: String

    /// What rows must satisfy; nil for all rows.
    public var predicate: QueryPredicate?

    /// What rows are ordered by, the first entry first.
    public var order: [QueryOrder] = []

    /// The most rows to return, 0 or more; nil for all.
    public var limit: Int?

    /// How many rows to leave out at the start, 0 or more.
    public var offset = 0

    /// The columns to return besides the id; nil for all, undeclared ones included.
    public var selection: [String]?

    /// Whether the number of rows that satisfy the predicate is wanted, whatever limit and offset say.
    public var includesTotalCount = false

    /// Whether each row comes with its ``SyncState`` in ``Record/syncState``, whatever the selection.
    public var includesSyncStates = false

    /// Creates a query for all rows of a table.
    public init(_ table: String) { self.table = table }

    /// This query with a further condition; both must hold.
    public func filtered(by predicate: QueryPredicate) -> Query {
        var query = self
        query.predicate = query.predicate.map { $0 && predicate } ?? predicate
        return query
    }

    /// This query with a further, weaker ordering.
    ///
    /// - Parameters:
    ///   - column: The column, `id` included.
    ///   - direction: Whether small values come first.
    ///   - folded: Whether text is ordered as `TextFolding` folds it, so that neither case nor accents count. Texts
    ///     that fold to the same are equal for this entry. Works in the local store only.
    /// - Returns: The query with the entry behind those it has.
    public func ordered(
        by column: String,
        _ direction: QueryOrder.Direction = .ascending,
        folded: Bool = false
    ) -> Query {
        var query = self
        query.order.append(QueryOrder(column: column, direction: direction, isFolded: folded))
        return query
    }

    /// This query with at most the given number of rows.
    public func limited(to count: Int) -> Query {
        var query = self
        query.limit = count
        return query
    }

    /// This query without its first rows.
    public func skipping(_ count: Int) -> Query {
        var query = self
        query.offset = count
        return query
    }

    /// This query with only the named columns and the id.
    public func selecting(_ columns: [String]) -> Query {
        var query = self
        query.selection = columns
        return query
    }

    /// This query, asking for the total count as well.
    public func countingAll() -> Query {
        var query = self
        query.includesTotalCount = true
        return query
    }

    /// This query, asking for the ``SyncState`` of each row as well: see ``Record/syncState``.
    ///
    /// Rows and states are of one instant. In a live query a state that changes is a change of its row.
    public func includingSyncStates() -> Query {
        var query = self
        query.includesSyncStates = true
        return query
    }
}

/// One entry of an order.
public struct QueryOrder: Sendable, Hashable {
    /// Which way an order runs.
    public enum Direction: Sendable, Hashable {
        /// Nulls first, then from small to large.
        case ascending
        /// From large to small, then nulls.
        case descending
    }

    /// The column, `id` included.
    public var column: String

    /// The direction.
    public var direction: Direction

    /// Whether the column's text is ordered as `TextFolding` folds it; for columns of text only.
    public var isFolded: Bool

    /// Creates an entry.
    public init(column: String, direction: Direction = .ascending, isFolded: Bool = false) {
        self.column = column
        self.direction = direction
        self.isFolded = isFolded
    }
}
