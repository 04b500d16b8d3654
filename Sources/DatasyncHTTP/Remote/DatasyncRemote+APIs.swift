internal import HTTPTransport
public import RemoteContract

extension DatasyncRemote {
    /// Calls a custom API of the service; see ``/RemoteContract/OnlineRemote/invokeAPI(_:)``.
    public func invokeAPI(_ call: APICall) async throws -> APIAnswer {
        let response: ServerResponse
        do {
            response = try await exchange(try endpoint.httpRequest(call, version: wire.version))
            guard (200...299).contains(response.status) else { throw response.failure(api: call.name) }
        } catch let error as RemoteError {
            throw error.withoutBodies
        }
        return APIAnswer(
            status: response.status,
            contentType: response.fields[.contentType],
            body: response.body
        )
    }
}

extension RemoteError {
    /// The same error without what was sent to an API and what it has answered: these are no rows, and may be passwords.
    fileprivate var withoutBodies: RemoteError {
        var error = RemoteError(
            code,
            message,
            status: status,
            retryAfter: retryAfter,
            wasNotSent: wasNotSent,
            cause: cause,
            exchange: exchange?.withoutBodies
        )
        error.isWebPage = isWebPage
        return error
    }
}

extension ServerResponse {
    /// The error of a call that was not answered with a success.
    fileprivate func failure(api name: String) -> RemoteError {
        let (code, problem): (RemoteError.Code, String) =
            switch mapping {
            case .success, .conflict, .gone: (.refused, "refuses the call of API '\(name)'")
            case .failure(.notFound): (.notFound, "has no API '\(name)', or it found nothing")
            case .failure(.unauthorized):
                (.unauthorized, "wants authentication for API '\(name)', or refuses what was sent; sign in again")
            case .failure(.throttled): (.throttled, "asks to come back later")
            case .failure(.serverFailure): (.serverFailure, "failed in API '\(name)'; its log says more")
            case .failure(.notTheService):
                (.notTheService, "or something in front of it does not hand on the call of API '\(name)'")
            case .failure(let code): (code, "refuses the call of API '\(name)'")
            }
        return failure(code, "\(server) \(problem)", isAboutRow: false)
    }
}
