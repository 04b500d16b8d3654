#if canImport(Darwin)
internal import Foundation
internal import Synchronization

/// Carries requests with `URLSession`, without cookies, cache, stored credentials or redirects.
///
/// Untested. The system takes answers that nothing tells the end of, and decides how long connections are kept, and may send a request again whose kept connection broke before a
/// byte of it was sent. It tells less about failures than libcurl: unless no connection stood, a request may have been
/// processed.
public final class URLSessionTransport: ClientTransport {
    let options: TransportOptions
    let session: URLSession
    private let exchanges: URLSessionExchanges
    let isClosed = Mutex(false)

    /// A transport with connections of its own.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        exchanges = URLSessionExchanges(options)
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    // A session keeps its delegate and threads until it is told to stop.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request; see ``ClientTransport/send(_:)``.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (address, prepared) = try prepare(request)
        let timeout = request.timeout ?? options.timeout
        // A session that was invalidated makes no task, and ends the process of whoever asks for one.
        let exchange = try isClosed.withLock { (isClosed) throws(TransportError) in
            guard !isClosed else { throw .closed(fate: .notSent) }
            let task = session.dataTask(with: prepared)
            let exchange = URLSessionExchange(task, to: address.server)
            exchanges.add(exchange)
            return exchange
        }
        defer { exchanges.remove(exchange) }
        // The session's own timeout starts anew with every byte: a server that drips would never run out of time.
        let deadline = Task {
            do {
                try await Task.sleep(for: timeout)
            } catch {
                // The answer came first.
                return
            }
            exchange.fail(TransportError.timedOut(address.server, after: timeout, fate: .mayHaveBeenProcessed))
        }
        defer { deadline.cancel() }
        return try await exchange.response()
    }

    /// The request as the system takes it.
    func prepare(_ request: HTTPRequest) throws(TransportError) -> (HTTPRequest.Address, URLRequest) {
        let address = try request.address()
        guard options.additionalCertificateFile == nil else {
            throw TransportError(
                .unreadableCertificates,
                "A certificate file is not supported on this platform; install the certificate in the system.",
                fate: .notSent
            )
        }
        guard let url = URL(string: address.url) else {
            throw TransportError.invalid("The address of the request to \(address.server) is none; check it.")
        }
        return (address, URLRequest(url, request, options))
    }

    /// Ends what is under way, and refuses what comes.
    public func close() {
        isClosed.withLock { isClosed in
            isClosed = true
            exchanges.failAll(TransportError.closed(fate: .mayHaveBeenProcessed))
            session.invalidateAndCancel()
        }
    }
}

extension URLRequest {
    fileprivate init(_ url: URL, _ request: HTTPRequest, _ options: TransportOptions) {
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // Begins anew with every byte; later than the deadline, which can say how long it waited.
        timeoutInterval = (request.timeout ?? options.timeout) / .seconds(1) + 5
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        httpBody = request.body.map { Data($0) }
        if !options.keepsConnections { setValue("close", forHTTPHeaderField: "Connection") }
        for field in request.headerFields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }
}
#endif
