/// What code of the app has thrown that is called while something is synced: a delegate, a policy, a hook. Whatever its type,
/// it says nothing of the engine, the store or the server.
package struct AppFailure: Error {
    package let cause: any Error

    /// Runs code of the app. That the task was cancelled is told as such.
    package static func telling<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw AppFailure(cause: error)
        }
    }
}

extension Error {
    /// The error as the app has thrown it, when it has; otherwise this one.
    package var ofApp: any Error { (self as? AppFailure)?.cause ?? self }
}
