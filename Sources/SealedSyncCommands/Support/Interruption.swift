/// Work on a store that Ctrl-C ends in good order.
enum Interruption {
    /// Runs work, which the first SIGINT or SIGTERM cancels; a second one ends the process at once.
    ///
    /// - Throws: What the work throws; ``ToolError`` with code `cancelled` instead of `CancellationError`.
    static func cancelling<Value: Sendable>(
        leaving remainder: String = "nothing was changed",
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let signals = await TerminationSignals.takenOver()
        let task = Task { try await work() }
        let watch = Task {
            await signals.first()
            task.cancel()
        }
        defer { watch.cancel() }
        do {
            return try await task.value
        } catch is CancellationError {
            throw ToolError("cancelled", "Interrupted; \(remainder).")
        }
    }

    /// The same, with a progress bar.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable (_ progress: ProgressBar) async throws -> Value
    ) async throws -> Value {
        let bar = ProgressBar()
        defer { bar.end() }
        return try await cancelling { try await work(bar) }
    }
}
