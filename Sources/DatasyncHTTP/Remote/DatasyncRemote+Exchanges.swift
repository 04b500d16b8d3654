internal import HTTPTransport
internal import RemoteContract

extension DatasyncRemote {
    /// Sends one request and returns the answer, whatever its status.
    func exchange(_ request: WireRequest) async throws -> ServerResponse { try await exchange(httpRequest(request)) }

    /// Sends a request that has an address and returns the answer, whatever its status.
    func exchange(_ request: HTTPRequest) async throws -> ServerResponse {
        do {
            return try await exchangeOrBreak(request)
        } catch let error as TransportError {
            throw RemoteError(error, of: request)
        }
    }

    /// As ``exchange(_:)``, but leaves an exchange that came to nothing to the caller, as a `TransportError`.
    func exchangeOrBreak(_ request: WireRequest) async throws -> ServerResponse {
        try await exchangeOrBreak(httpRequest(request))
    }

    /// The request with its address and the further parameters of the calling task.
    func httpRequest(_ request: WireRequest) throws(RemoteError) -> HTTPRequest {
        var request = request
        for (name, value) in RequestParameters.current.sorted(by: { $0.key < $1.key }) {
            request.query.add(PercentEncoding.value(name), value)
        }
        var http = try endpoint.httpRequest(request, version: wire.version)
        http.body = request.body
        return http
    }

    /// Sends a request that has an address, and once more with another token when the server refuses the one it had.
    ///
    /// What passes through its bodies is not sent, or given, a second time.
    func exchangeOrBreak(_ request: HTTPRequest, _ streams: ExchangeStreams? = nil) async throws -> ServerResponse {
        var request = request
        request.timeout = requestTimeout
        do {
            let period = try exchanges.period()
            guard let tokens else {
                // One of its name that all requests have makes way.
                if let field = try await authenticationField() { request.headerFields[field.name] = field.value }
                return try await answer(to: request, streams, in: period)
            }
            let grant = try await self.grant(of: tokens)
            let response = try await answer(to: try authenticated(request, by: grant), streams, in: period)
            guard response.status == 401 else { return response }
            return try await afterRequest {
                let newer = try await self.grant(of: tokens, after: grant.number)
                guard streams?.isUntouched ?? true else { throw renewedToken(response) }
                return try await answer(to: try authenticated(request, by: newer), streams, in: period)
            }
        } catch let error as RemoteError {
            throw error
        } catch let error as TransportError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch is SignedOut {
            throw RemoteError(
                .unauthorized,
                "Signed out of \(endpoint.authority) while something was under way; what the server has of it is not"
                    + " known. Sign in and sync again."
            )
        } catch {
            throw RemoteError(
                .unreachable,
                "The request to \(endpoint.authority) failed in the transport.",
                cause: error
            )
        }
    }

    private func answer(
        to request: HTTPRequest,
        _ streams: ExchangeStreams?,
        in period: Int
    ) async throws -> ServerResponse {
        let start = now()
        let response = try await exchanges.run(in: period) { try await send(request, streams, $0) }
        return serverResponse(response, to: request, duration: now() - start)
    }

    func serverResponse(_ response: HTTPResponse, to request: HTTPRequest, duration: Duration = .zero) -> ServerResponse
    {
        ServerResponse(
            status: response.status.code,
            fields: response.headerFields,
            body: response.body,
            server: endpoint.authority,
            duration: duration,
            request: request
        )
    }

    /// Sends a request, and once more when that can do nothing twice.
    private func send(
        _ request: HTTPRequest,
        _ streams: ExchangeStreams?,
        _ whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        let start = ContinuousClock.now
        do {
            return try await sendOnce(request, streams, whenEndable)
        } catch let error as TransportError
            where error.allowsRepetition(of: request.method) && streams?.isUntouched ?? true
        {
            var again = request
            let left = requestTimeout - (.now - start)
            guard left > .zero else { throw error }
            again.timeout = left
            return try await sendOnce(again, streams, whenEndable)
        }
    }
}

// MARK: Credentials

extension DatasyncRemote {
    private func grant(of tokens: TokenCache, after rejected: Int? = nil) async throws -> TokenCache.Grant {
        let grant: TokenCache.Grant?
        do {
            grant = try await tokens.grant(after: rejected)
        } catch let error as SignedOut {
            throw error
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw noCredentials(error)
        }
        guard let grant else {
            throw RemoteError(
                .unauthorized,
                "Nobody is signed in to \(endpoint.authority), so nothing was done there; sign in and sync again.",
                wasNotSent: true
            )
        }
        return grant
    }

    private func authenticated(_ request: HTTPRequest, by grant: TokenCache.Grant) throws -> HTTPRequest {
        let text = grant.token.text
        // Checked here because the transport would refuse the request, and with it the change.
        guard !text.isEmpty, HTTPField.isValidValue(text) else {
            throw RemoteError(
                .unauthorized,
                "The token for \(endpoint.authority) is empty or has characters that a header field cannot carry, so"
                    + " nothing was sent; sign in again.",
                wasNotSent: true
            )
        }
        var request = request
        let scheme = tokenField == .authorization ? "Bearer " : ""
        request.headerFields.append(HTTPField(name: tokenField, value: scheme + text))
        return request
    }

    private func authenticationField() async throws -> HTTPField? {
        guard let authentication else { return nil }
        let field: HTTPField?
        do {
            field = try await RequestParameters.outside { try await authentication.headerField() }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw noCredentials(error)
        }
        guard let field else { return nil }
        guard HTTPField.isValidValue(field.value), !HTTPField.Name.ofProtocol.contains(field.name) else {
            throw RemoteError(
                .unauthorized,
                "The field by which requests to \(endpoint.authority) are authenticated cannot be sent: its value has"
                    + " characters that no field can carry, such as the end of a line, or its name is one of the"
                    + " protocol's. Correct what the authentication returns.",
                wasNotSent: true
            )
        }
        return field
    }

    /// The server has refused a token in the middle of what cannot be sent again from here.
    private func renewedToken(_ response: ServerResponse) -> RemoteError {
        RemoteError(
            .unreachable,
            "\(endpoint.authority) refused the token while a file was being sent; there is a new one now. Ask what the"
                + " server has of the file, and go on from there.",
            status: response.status,
            exchange: response.exchange
        )
    }

    /// Why there are no credentials. What whoever gives them has met at another service says nothing of this one, and of no
    /// change: whether it is worth while to wait is all that counts.
    private func noCredentials(_ cause: any Error) -> RemoteError {
        let asked = cause as? RemoteError
        let comesBack: [RemoteError.Code] = [.unreachable, .throttled, .notTheService, .serverFailure]
        guard let asked, comesBack.contains(asked.code) else {
            return RemoteError(
                .unauthorized,
                "No credentials for \(endpoint.authority) could be had; sign in again.",
                wasNotSent: true,
                cause: cause
            )
        }
        return RemoteError(
            asked.code == .throttled ? .throttled : .unreachable,
            "Who gives the credentials for \(endpoint.authority) cannot be asked now; changes wait until then.",
            retryAfter: asked.retryAfter,
            wasNotSent: true,
            cause: cause
        )
    }
}
