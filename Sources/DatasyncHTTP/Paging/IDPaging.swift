internal import RemoteContract
internal import SyncContract

/// Goes through rows in the order of their ids, each page after the last id of the one before. Rows that change meanwhile
/// keep their place, so none is skipped.
///
/// The order is the server's: its own comparison continues its own order, whatever its collation makes of case and
/// accents. Comparing ids here would only be right for servers that compare bytes.
struct IDPaging: Sendable, Hashable, Codable {
    private(set) var lastID: RowKey?

    // A server whose order and comparison contradict each other could go round for ever. Brent's way to find a cycle: an
    // id is kept, from farther and farther on, and met again when there is one.
    private var kept: RowKey?
    private var steps = 0
    private var patience = 1

    /// The ids of the rows of the page before. Whatever the order is, they lie before those behind the last of them.
    private(set) var lastPage: [String] = []

    /// From the first row on, or behind an id.
    init(behind id: RowKey? = nil) { lastID = id }

    /// The rows of a query that are still to come.
    func remaining(_ query: Query) -> Query {
        let query = query.ordered(by: "id")
        return lastID.map { query.filtered(by: Column("id") > $0.value) } ?? query
    }

    /// Takes a page of the rows that were to come, and moves on behind its last one.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - isLast: Whether nothing is to be asked for behind it.
    /// - Throws: `RemoteError` when it has rows of the page before: then others may have been passed over.
    mutating func receive(_ page: ServerPage, isLast: Bool) throws(RemoteError) {
        let before = Set(lastPage.map { RowKey.text($0) })
        guard !page.rows.contains(where: { before.contains(.text($0.id.text)) }) else {
            throw RemoteError(
                .invalidResponse,
                "The server sends rows that come before those it was asked for: it does not order rows by 'id' as it is asked"
                    + " to, or compares ids in another way than it orders them; give the column 'id' one collation there."
            )
        }
        guard !isLast, let last = page.rows.last else { return }
        lastPage = page.rows.map(\.id.text)
        try advance(behind: last.id)
    }

    /// Moves on behind an id.
    mutating func advance(behind id: RowKey) throws(RemoteError) {
        guard id != lastID, id != kept else {
            throw RemoteError(
                .invalidResponse,
                "The server goes round in a circle: it orders ids in one way and compares them in another; give the"
                    + " column 'id' one collation there."
            )
        }
        lastID = id
        steps += 1
        if steps == patience {
            kept = id
            steps = 0
            patience *= 2
        }
    }
}
