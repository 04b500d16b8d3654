#if canImport(Darwin)
internal import Foundation
internal import Synchronization

/// The exchanges of one session, found by their task.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    private let exchanges = Mutex<[Int: URLSessionExchange]>([:])
    private let options: TransportOptions

    init(_ options: TransportOptions) { self.options = options }

    func add(_ exchange: URLSessionExchange) {
        exchanges.withLock { $0[exchange.task.taskIdentifier] = exchange }
    }

    func remove(_ exchange: URLSessionExchange) {
        _ = exchanges.withLock { $0.removeValue(forKey: exchange.task.taskIdentifier) }
    }

    func failAll(_ error: TransportError) {
        for exchange in exchanges.withLock({ Array($0.values) }) { exchange.fail(error) }
    }

    private func exchange(_ task: URLSessionTask) -> URLSessionExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = HTTPResponse(response) { exchange(dataTask)?.received(response, options) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.received(data, options)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(task) else { return }
        if let error {
            exchange.fail(TransportError.of(error, server: exchange.server))
        } else {
            exchange.finish()
        }
    }
}

extension HTTPResponse {
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else { return nil }
        self.init(status: Status(code: response.statusCode))
        for (name, value) in response.allHeaderFields {
            guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String else {
                continue
            }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension TransportError {
    /// What an error of the system's loading means. Only its code goes along: the rest names the whole address, with
    /// ids and the values of filters.
    static func of(_ error: any Error, server: String) -> any Error {
        guard let error = error as? URLError else {
            return TransportError(
                .connectionLost,
                "The connection to \(server) failed; try again.",
                fate: .mayHaveBeenProcessed
            )
        }
        if error.code == .cancelled { return CancellationError() }
        let (code, message, fate) = meaning(of: error.code, server: server)
        return TransportError(code, message, fate: fate, cause: URLError(error.code))
    }

    private static func meaning(of code: URLError.Code, server: String) -> (Code, String, Fate) {
        switch code {
        case .cannotConnectToHost:
            (
                .cannotConnect,
                "Nothing answers at \(server); check that the server runs there and that the port is right.",
                .notSent
            )
        case .cannotFindHost, .dnsLookupFailed:
            (.unknownHost, "The name of \(server) is not known; check its spelling and the network.", .notSent)
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
            (.cannotConnect, "There is no network to reach \(server) by; try again when there is.", .notSent)
        case .timedOut:
            (
                .timedOut, "\(server) did not answer in time; check the network, or allow more time",
                .mayHaveBeenProcessed
            )
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            (
                .expiredCertificate,
                "The certificate of \(server) is not valid now; renew it on the server, and check this device's clock.",
                .notSent
            )
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            (
                .untrustedCertificate,
                "The certificate of \(server) is not trusted here; install its authority in the system, and check that"
                    + " the name is right.",
                .notSent
            )
        case .clientCertificateRejected, .clientCertificateRequired:
            (
                .clientCertificateRequired,
                "\(server) asks for a certificate of the client, which is not supported; let it ask for a token instead",
                .mayHaveBeenProcessed
            )
        case .secureConnectionFailed:
            (
                .secureConnectionFailed,
                "No secure connection to \(server) could be made; check that its port speaks TLS 1.2 or later.",
                .notSent
            )
        case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
            (
                .invalidResponse, "The answer of \(server) is not an answer of HTTP; check the address.",
                .mayHaveBeenProcessed
            )
        default:
            (
                .connectionLost, "The connection to \(server) broke before the answer was complete; try again.",
                .mayHaveBeenProcessed
            )
        }
    }
}
#endif
