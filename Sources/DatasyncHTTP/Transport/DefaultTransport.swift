public import HTTPTypes

/// The transport that is used unless another one is given: `URLSession`, and on Linux sockets for plain HTTP.
///
/// On Linux the `URLSession` of Swift 6.3 and before ends the process when a server closes the connection in the middle
/// of an answer's head, and does not notice that a connection it kept was closed
/// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5285). Over plain HTTP, a server that is killed is
/// enough for that; so ``SocketTransport`` carries plain HTTP there.
public struct DefaultTransport: HTTPTransport {
    private let session = URLSessionTransport()
    #if os(Linux)
    private let sockets = SocketTransport()
    #endif

    /// Creates a transport with connections of its own.
    public init() {}

    /// Sends a request; see ``HTTPTransport/send(_:body:timeout:)``.
    public func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        #if os(Linux)
        if request.scheme == "http" { return try await sockets.send(request, body: body, timeout: timeout) }
        #endif
        return try await session.send(request, body: body, timeout: timeout)
    }
}
