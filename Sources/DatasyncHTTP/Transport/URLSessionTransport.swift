internal import Foundation
public import HTTPTypes
internal import RemoteContract

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Carries requests with `URLSession`, without cookies, cache, stored credentials or redirects.
///
/// On Linux, the `URLSession` of Swift 6.3 and before ends the process when a server closes the connection in the middle
/// of the answer's head (https://github.com/swiftlang/swift-corelibs-foundation/issues/5285). No app code can prevent
/// that. Under TLS a broken connection does not look like that: only the server itself can bring it about.
public final class URLSessionTransport: HTTPTransport {
    /// The largest body that is taken unless told otherwise: 64 MiB.
    public static let defaultMaximumBodySize = 64 * 1_024 * 1_024

    private let session: URLSession
    private let delegate: URLSessionExchanges

    /// Creates a transport with connections of its own.
    ///
    /// - Parameter maximumBodySize: The largest body in bytes that is taken, after decompression. A larger one ends the
    ///   exchange while it arrives, as `invalidResponse`.
    public init(maximumBodySize: Int = defaultMaximumBodySize) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        delegate = URLSessionExchanges(maximumBodySize: maximumBodySize)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    // A session keeps its delegate and threads until it is told to stop.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request; see ``HTTPTransport/send(_:body:timeout:)``.
    public func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        let server = request.authority ?? ""
        guard let urlRequest = URLRequest(request, body: body, timeout: timeout) else {
            throw RemoteError(.invalidRequest, "the request to \(server) has no valid address")
        }
        let task = session.dataTask(with: urlRequest)
        let exchange = URLSessionExchange(task: task, server: server)
        delegate.add(exchange)
        defer { delegate.remove(exchange) }
        // The session's own timeout starts anew with every byte: a server that drips would never run out of time.
        let deadline = Task {
            do {
                try await Task.sleep(for: timeout)
            } catch {
                // The answer came first.
                return
            }
            exchange.fail(TransportFailure.timeout(server, timeout))
        }
        defer { deadline.cancel() }
        return try await exchange.answer()
    }
}

extension URLRequest {
    fileprivate init?(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) {
        guard let scheme = request.scheme, let authority = request.authority,
            let url = URL(string: scheme + "://" + authority + (request.path ?? "/"))
        else { return nil }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Later than the deadline, which can say how long it waited.
        timeoutInterval = Double(timeout.components.seconds) + 5
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        httpBody = body.map { Data($0) }
        for field in request.headerFields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }
}
