extension ClientTransport {
    /// Holds both bodies in memory, for transports that know no other way.
    public func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice
    ) async throws -> HTTPResponse {
        var request = try request.settingAside(body)
        if let body {
            guard body.length <= HeldBodies.limit else {
                throw TransportError(
                    .invalidRequest,
                    "The body of the request has \(body.length) bytes, and this transport holds bodies in memory; use one"
                        + " that streams them.",
                    fate: .notSent
                )
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Int(body.length))
            try await body.read {
                bytes += $0
                return true
            }
            request.body = bytes
        }
        var response = try await send(request)
        let received = response.body
        response.body = []
        switch try choose(response) {
        case .held: response.body = received
        case .streamed(let limit, let receive):
            guard Int64(received.count) <= min(limit, HeldBodies.limit) else {
                let server = request.authority ?? "the server"
                throw TransportError.tooLarge(server, body: Int(clamping: min(limit, HeldBodies.limit)))
            }
            if !received.isEmpty { try await receive(received) }
        }
        return response
    }
}

private enum HeldBodies {
    /// The most that is held, in bytes.
    static let limit: Int64 = 64 * 1_024 * 1_024
}

extension HTTPRequest {
    /// The request for a body that is given apart.
    ///
    /// - Throws: ``TransportError/Code/invalidRequest`` when there are two bodies, or one where none may be.
    func settingAside(_ body: StreamedBody?) throws(TransportError) -> HTTPRequest {
        guard body != nil else { return self }
        guard self.body == nil else { throw .invalid("The request has two bodies; leave out one of them.") }
        guard method != .head else { throw .invalid("The request is a HEAD with a body; leave the body out.") }
        return self
    }
}
