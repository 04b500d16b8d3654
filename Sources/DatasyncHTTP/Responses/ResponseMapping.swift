internal import RemoteContract

/// What a status means, whatever was asked.
enum ResponseMapping: Sendable, Hashable {
    /// The server did it.
    case success
    /// The server has another version, or has the id already: the body may be its row.
    case conflict
    /// The row is deleted on the server.
    case gone
    /// The server did not do it.
    case failure(RemoteError.Code)

    init(status: Int) {
        self =
            switch status {
            case 200, 201, 204: .success
            case 409, 412: .conflict
            case 410: .gone
            case 401: .failure(.unauthorized)
            case 404: .failure(.notFound)
            case 408, 429, 503: .failure(.throttled)
            // What stands in front of the service says these, the last ones and 511 in some networks only, and 407 the proxy.
            case 407, 502, 504, 511, 520...530: .failure(.notTheService)
            case 400...499: .failure(.refused)
            case 500...599: .failure(.serverFailure)
            // 202 and 206 promise or deliver less than was asked, and redirections are not followed.
            default: .failure(.notTheService)
            }
    }
}
