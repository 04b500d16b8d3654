public import SyncContract

extension SyncRemote {
    /// Refuses parameters; without any it is the page.
    public func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        guard parameters.isEmpty else {
            throw RemoteError(.invalidRequest, "This remote takes no further parameters; pull without them.")
        }
        return try await page(query, of: table, at: position, pageSize: pageSize)
    }

    /// Accepts all.
    public func check(parameters: [String: String]) throws {}

    /// Any row may come again.
    public func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool { true }
}
