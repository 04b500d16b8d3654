import Foundation
import Synchronization

/// Waits in a thread for what is done in a task.
enum HandlerWait {
    private final class Outcome: Sendable {
        private let result = Mutex<Result<EmulatorResponse, any Error>?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        /// The first one counts.
        func set(_ result: Result<EmulatorResponse, any Error>) {
            self.result.withLock { if $0 == nil { $0 = result } }
            isThere.signal()
        }

        func wait() throws -> EmulatorResponse {
            isThere.wait()
            return try result.withLock { $0 ?? .failure(CancellationError()) }.get()
        }
    }

    /// Answers a request, which blocks this thread and none of the cooperative ones. The handler is cancelled when the
    /// connection is stopped, and left to itself when that was not enough.
    static func run(
        on connection: Connection,
        _ handler: @escaping @Sendable () async throws -> EmulatorResponse
    ) throws -> EmulatorResponse {
        let outcome = Outcome()
        let task = Task {
            do {
                outcome.set(.success(try await handler()))
            } catch {
                outcome.set(.failure(error))
            }
        }
        return try connection.withStopHandler { stop in
            task.cancel()
            if stop == .atOnce { outcome.set(.failure(CancellationError())) }
        } _: {
            try outcome.wait()
        }
    }
}
