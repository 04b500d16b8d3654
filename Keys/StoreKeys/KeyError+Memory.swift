import SecretMemory

extension KeyError {
    /// Runs `body`, and reports an error of the secrets' memory as the documented `cryptographyUnavailable`.
    static func convertingMemoryErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SecretMemoryError {
            throw KeyError(.cryptographyUnavailable, "There is no memory for a secret.", cause: error)
        }
    }
}
