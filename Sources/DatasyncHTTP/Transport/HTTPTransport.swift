public import HTTPTypes

/// What carries requests to a server and answers back.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns the complete answer, whatever its status.
    ///
    /// Implementations do not follow redirects (a redirect would carry credentials elsewhere), keep no cookies and no
    /// cache, and do not retry. Cancelling the calling task ends the exchange.
    ///
    /// - Parameters:
    ///   - request: The request, with scheme, authority and path.
    ///   - body: The body; nil sends none.
    ///   - timeout: The longest time from here to the last byte of the answer.
    /// - Returns: The answer's head and its body, decompressed; empty when there is none.
    /// - Throws: `CancellationError` when the task was cancelled, and ``RemoteContract/RemoteError``: `unreachable` when
    ///   there is no complete answer, `invalidResponse` when it is too large. Any other error counts as `unreachable`.
    func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: [UInt8])
}
