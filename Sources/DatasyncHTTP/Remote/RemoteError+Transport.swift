internal import HTTPTransport
internal import RemoteContract

extension RemoteError {
    /// What a failure of the transport means to the engine.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - request: What was to be sent, where it is told for support.
    init(_ error: TransportError, of request: HTTPRequest? = nil) {
        let code: Code =
            switch error.code {
            case .invalidRequest: .invalidRequest
            case .tooLarge: .invalidResponse
            // Services speak HTTP.
            case .invalidResponse: .notTheService
            default: .unreachable
            }
        self.init(
            code,
            error.message,
            cause: error.cause,
            exchange: error.code == .invalidRequest ? nil : request.map { RemoteExchange($0) }
        )
    }
}

extension TransportError {
    /// Whether sending the request again at once does no harm and may help.
    ///
    /// What took its time and came to nothing, or failed for a reason that stays, is for the engine to try again later.
    func allowsRepetition(of method: HTTPRequest.Method) -> Bool {
        guard code == .connectionLost || code == .cannotConnect else { return false }
        return fate == .notSent || method.isSafe
    }
}
