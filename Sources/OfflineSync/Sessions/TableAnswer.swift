internal import RemoteContract

extension SyncContext {
    /// Whether the server answers for a table: asked when a pull of it broke off, and nothing else tells.
    ///
    /// - Throws: What a server says that is to be asked again at a time of its own; `CancellationError`.
    package func answers(_ table: String) async throws -> Bool {
        do {
            try await remote.confirm(definition(of: table))
            return true
        } catch let error as RemoteError where error.retryAfter == nil {
            // Whatever it is: what broke off says why.
            return false
        }
    }
}
