internal import RemoteContract

extension SyncContext {
    /// Whether the server answers for a table: asked when a pull of it broke off, and nothing else tells.
    ///
    /// - Throws: As a pull does where the server says when to come again; `CancellationError`.
    package func answers(_ table: String) async throws -> Bool {
        do {
            try await remote.confirm(definition(of: table))
            return true
        } catch let error as RemoteError {
            guard error.retryAfter == nil else { throw PullRunner.aborted(error) }
            // Whatever it is: what broke off says why.
            return false
        }
    }
}
