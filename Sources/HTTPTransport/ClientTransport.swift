/// What carries requests to a server and answers back.
///
/// Not carried along: no cookies, no cache, no stored passwords, and no redirect is followed, because it would take data
/// and credentials elsewhere; the answer that redirects is returned like any other.
public protocol ClientTransport: Sendable {
    /// Sends a request and returns the complete answer, whatever its status.
    ///
    /// A request is sent once. What is to be sent again after a failure, and when, is for the caller to decide, by the
    /// failure's ``TransportError/fate-swift.property``.
    ///
    /// An answer is complete when its head has ended, and its body has as many bytes as the head says or ended with its
    /// last chunk. Anything less is an error, never a shorter answer.
    ///
    /// - Throws: `CancellationError` when the task was cancelled, which ends the exchange within milliseconds; the server
    ///   may have carried the request out all the same. Otherwise ``TransportError``. Other implementations may throw
    ///   other errors, of which nothing is known: such a request may have been processed.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

#if canImport(Darwin)
/// The transport that is used unless another one is given: `URLSession`.
public typealias DefaultTransport = URLSessionTransport
#else
/// The transport that is used unless another one is given: libcurl.
public typealias DefaultTransport = CurlTransport
#endif
