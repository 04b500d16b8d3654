internal import HTTPTransport
public import RemoteContract

extension DatasyncRemote {
    /// Calls a custom API of the service; see ``/RemoteContract/OnlineRemote/invokeAPI(_:)``.
    public func invokeAPI(_ call: APICall) async throws -> APIAnswer {
        let response = try await exchange(try endpoint.httpRequest(call, version: wire.version))
        guard (200...299).contains(response.status) else { throw response.failure(api: call.name) }
        return APIAnswer(
            status: response.status,
            contentType: response.fields[.contentType],
            body: response.body
        )
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
        return failure(code, "\(server) \(problem)")
    }
}
