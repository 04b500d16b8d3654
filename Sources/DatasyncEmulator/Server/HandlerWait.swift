import Foundation
import Synchronization

/// Waits in a thread for what is done in a task.
enum HandlerWait {
    private typealias Demand = CheckedContinuation<[UInt8]?, any Error>

    private final class Outcome: Sendable {
        private struct State {
            var result: Result<EmulatorResponse, any Error>?
            /// Set while the handler waits for more of the body.
            var demand: Demand?
        }

        private let state = Mutex(State())
        private let isThere = DispatchSemaphore(value: 0)

        /// The first one counts.
        func set(_ result: Result<EmulatorResponse, any Error>) {
            let demand = state.withLock { state in
                if state.result == nil { state.result = result }
                defer { state.demand = nil }
                return state.demand
            }
            demand?.resume(throwing: CancellationError())
            isThere.signal()
        }

        /// The next bytes of the body, from the thread that waits.
        func more() async throws -> [UInt8]? {
            try await withCheckedThrowingContinuation { demand in
                let isOver = state.withLock { state in
                    guard state.result == nil else { return true }
                    state.demand = demand
                    return false
                }
                if isOver { demand.resume(throwing: CancellationError()) } else { isThere.signal() }
            }
        }

        /// Waits for the result, and meanwhile gives more of the body as it is asked for.
        func wait(_ feed: () throws -> [UInt8]?) throws -> EmulatorResponse {
            while true {
                isThere.wait()
                let (result, demand) = state.withLock { state in
                    defer { state.demand = nil }
                    return (state.result, state.demand)
                }
                if let result { return try result.get() }
                demand?.resume(with: Result(catching: feed))
            }
        }
    }

    /// Answers a request, which blocks this thread and none of the cooperative ones. The handler is cancelled when the
    /// connection is stopped, and left to itself when that was not enough.
    ///
    /// - Parameters:
    ///   - connection: Where the request came.
    ///   - feed: Gives more of the request's body, nil at its end; called on this thread.
    ///   - handler: Answers; is given what asks for more of the body.
    /// - Returns: The answer.
    /// - Throws: What the handler throws, and `CancellationError` when it was left to itself.
    static func run(
        on connection: Connection,
        feed: () throws -> [UInt8]?,
        _ handler:
            @escaping @Sendable (@escaping @Sendable () async throws -> [UInt8]?) async throws -> EmulatorResponse
    ) throws -> EmulatorResponse {
        let outcome = Outcome()
        let task = Task {
            do {
                outcome.set(.success(try await handler { try await outcome.more() }))
            } catch {
                outcome.set(.failure(error))
            }
        }
        return try connection.withStopHandler { stop in
            task.cancel()
            if stop == .atOnce { outcome.set(.failure(CancellationError())) }
        } _: {
            try outcome.wait(feed)
        }
    }
}
