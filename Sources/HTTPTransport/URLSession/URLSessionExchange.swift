#if canImport(Darwin)
internal import Foundation
internal import Synchronization

/// One request on its way and the answer as far as it has come. It ends once, with whatever ends it first.
final class URLSessionExchange: Sendable {
    private struct State {
        var response: HTTPResponse?
        var continuation: CheckedContinuation<HTTPResponse, any Error>?
        /// Set when the exchange ended before anyone waited for it.
        var result: Result<HTTPResponse, any Error>?
        var isOver = false
    }

    let task: URLSessionTask
    let server: String
    private let state = Mutex(State())

    init(_ task: URLSessionTask, to server: String) {
        self.task = task
        self.server = server
    }

    /// Starts the request and waits for its end. To be called once.
    func response() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let early: Result<HTTPResponse, any Error>? = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let early { continuation.resume(with: early) } else { task.resume() }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    func received(_ response: HTTPResponse, _ options: TransportOptions) {
        // As a server may write them: names, colons and line ends.
        let size = response.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
        guard size <= options.maximumHeadSize else {
            return fail(TransportError.tooLarge(server, head: options.maximumHeadSize))
        }
        state.withLock { $0.response = response }
    }

    func received(_ data: Data, _ options: TransportOptions) {
        let isTooLarge = state.withLock { state in
            guard !state.isOver, let count = state.response?.body.count else { return false }
            guard count + data.count <= options.maximumBodySize else { return true }
            state.response?.body.append(contentsOf: data)
            return false
        }
        if isTooLarge { fail(TransportError.tooLarge(server, body: options.maximumBodySize)) }
    }

    /// Ends the exchange with the answer that has arrived.
    func finish() {
        let response = state.withLock { $0.response }
        end(
            with: response.map(Result.success)
                ?? .failure(TransportError.cut(server, in: "head", fate: .mayHaveBeenProcessed))
        )
    }

    /// Ends the exchange and stops the request.
    func fail(_ error: any Error) {
        end(with: .failure(error))
        task.cancel()
    }

    private func end(with result: Result<HTTPResponse, any Error>) {
        let continuation = state.withLock { state in
            guard !state.isOver else { return nil as CheckedContinuation<HTTPResponse, any Error>? }
            state.isOver = true
            state.response = nil
            if state.continuation == nil { state.result = result }
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }
}
#endif
