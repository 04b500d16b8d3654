import HTTPTransport
import ScriptedServer
import Testing

extension HTTPRequest {
    /// A request to a scripted server.
    static func to(
        _ server: ScriptedServer,
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/tables/todo",
        fields: HTTPFields = [:],
        body: String? = nil,
        timeout: Duration = .seconds(20)
    ) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: "http",
            authority: server.authority,
            path: path,
            headerFields: fields,
            body: body.map { Array($0.utf8) },
            timeout: timeout
        )
    }
}

extension ClientTransport {
    /// The error that a request fails with.
    func failure(of request: HTTPRequest, _ location: SourceLocation = #_sourceLocation) async throws -> TransportError
    {
        try #require(
            await #expect(throws: TransportError.self, sourceLocation: location) { try await send(request) },
            sourceLocation: location
        )
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension CurlTransport {
    /// A transport with some options changed.
    static func with(_ change: (inout TransportOptions) -> Void) -> CurlTransport {
        var options = TransportOptions()
        change(&options)
        return CurlTransport(options)
    }
}
