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

    /// Sends a request whose body, or whose answer's body, need not be in memory as a whole.
    ///
    /// As ``send(_:)``, but for the time it takes: there is no limit for the whole. The request's timeout is the longest time
    /// from the last byte of its body to the head of the answer, and ``TransportOptions/stallTimeout`` counts only while
    /// the other side is waited for: never while ``StreamedBody`` or ``BodyReception`` work. Nothing is decompressed.
    ///
    /// Where the answer breaks off, all that came before has been given away when the error is thrown. No closure is called
    /// after this has returned or thrown. A transport that does not say how it does this holds both bodies in memory, and
    /// refuses those above 64 MB.
    ///
    /// - Parameters:
    ///   - request: The request. Without a body of its own when `body` is given.
    ///   - body: The body; nil for the request's own.
    ///   - choose: Decides from the answer's head what becomes of its body.
    /// - Returns: The answer; its body is empty where it was given away.
    /// - Throws: As ``send(_:)``, and what the closures throw.
    func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice
    ) async throws -> HTTPResponse
}

#if canImport(Darwin)
/// The transport that is used unless another one is given: `URLSession`.
public typealias DefaultTransport = URLSessionTransport
#else
/// The transport that is used unless another one is given: libcurl.
public typealias DefaultTransport = CurlTransport
#endif
