internal import RemoteContract

extension SyncContext {
    /// Whether the server answers for a table: asked when a pull of it broke off, and nothing else tells.
    package func answers(_ table: String) async throws -> Bool {
        do {
            try await remote.confirm(definition(of: table))
            return true
        } catch is RemoteError {
            // Whatever it is: what broke off says why.
            return false
        }
    }
}
