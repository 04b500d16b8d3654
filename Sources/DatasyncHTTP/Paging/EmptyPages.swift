internal import RemoteContract

/// Pages without rows behind which others follow: a server may take rows out of a page after it has read it. The last row
/// leads on from all other pages, and from these the server's link alone.
struct EmptyPages: Sendable, Hashable, Codable {
    /// No table has as many rows; behind that many, rows can still be counted.
    private static let mostRows = Int.max / 2

    /// How many rows the next page is to skip.
    private(set) var offset: Int

    /// Begins with a page that skips as many rows.
    init(offset: Int = 0) { self.offset = offset }

    /// Takes a page in.
    ///
    /// - Returns: Whether the next page is the one that its link leads to.
    mutating func areContinued(by page: ServerPage) throws(RemoteError) -> Bool {
        guard page.rows.isEmpty, !page.isKnownToBeLast else {
            offset = 0
            return false
        }
        guard let next = page.nextOffset, next > offset, next <= Self.mostRows else {
            throw RemoteError(
                .invalidResponse,
                "The server sends a page without rows that is not the last one, and its link has no '$skip' that leads on;"
                    + " it has to say where the next page is."
            )
        }
        offset = next
        return true
    }
}
