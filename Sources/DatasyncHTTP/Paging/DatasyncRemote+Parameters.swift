public import RemoteContract
public import SyncContract

extension DatasyncRemote {
    /// One page of a pull whose requests carry further parameters.
    ///
    /// - Throws: Also `RemoteError` with code `invalidRequest`, before anything is sent, for a parameter that is the
    ///   protocol's own: one that begins with `$`, and `__includeDeleted`.
    public func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        try Self.check(parameters)
        return try await RequestParameters.$current.withValue(parameters) {
            try await page(query, of: table, at: position, pageSize: pageSize)
        }
    }

    /// Refuses parameters that are the protocol's own: one that begins with `$`, and `__includeDeleted`.
    ///
    /// - Throws: `RemoteError` with code `invalidRequest`.
    public func check(parameters: [String: String]) throws { try Self.check(parameters) }

    /// Refuses parameters that are the protocol's own.
    static func check(_ parameters: [String: String]) throws(RemoteError) {
        for name in parameters.keys {
            guard !name.isEmpty, !name.hasPrefix("$"), name.lowercased() != "__includedeleted" else {
                throw RemoteError(
                    .invalidRequest,
                    "The parameter '\(name)' is the protocol's own; give only those that the service itself defines."
                )
            }
        }
    }

    /// Whether the row's stamp is not below the one from which the cursor asks, or below it by less than cursors go back
    /// where a clock is set back.
    public func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool {
        guard let cursor = PullCursor(cursor, settlingTime: settlingTime), let stamp = row.updatedAt else {
            return true
        }
        return stamp.milliseconds >= cursor.milliseconds - PullCursor.longestReturn
    }
}
