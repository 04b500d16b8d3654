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
            wasNotSent: error.fate == .notSent,
            cause: error.cause,
            exchange: error.code == .invalidRequest ? nil : request.map { RemoteExchange($0) }
        )
    }
}

extension DatasyncRemote {
    /// Does what follows a request that was answered. That it could not be sent itself says nothing of that request.
    func afterRequest<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch var error as RemoteError where error.wasNotSent {
            error.wasNotSent = false
            throw error
        } catch let error as TransportError where error.fate == .notSent {
            throw TransportError(error.code, error.message, fate: .mayHaveBeenProcessed, cause: error.cause)
        }
    }
}

extension DatasyncRemote {
    /// Does what follows a request that has changed the row. What goes wrong then says nothing of what was done before.
    func afterChange<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await afterRequest(body)
        } catch var error as RemoteError {
            error.wasPartlyDone = true
            throw error
        }
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
