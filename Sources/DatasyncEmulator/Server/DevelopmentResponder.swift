/// What a server to develop against does beside answering as the genuine one: `POST /__reset`, answers that pages of other
/// origins may read, and a line for each request.
package struct DevelopmentResponder: Sendable {
    /// The origin whose pages may read the answers, or `*` for all; nil for none.
    package var origin: String?
    /// Is given a line for each request when it is answered.
    package var log: (@Sendable (String) -> Void)?

    /// Makes a responder.
    package init(origin: String? = nil, log: (@Sendable (String) -> Void)? = nil) {
        self.origin = origin
        self.log = log
    }

    /// Answers a request.
    package func respond(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        let start = ContinuousClock.now
        do {
            let response = allowingOrigin(try await answer(request, emulator))
            let ending = response.delivery.isComplete ? "\(response.status)" : "\(response.status), cut"
            write(request, "\(ending), \(response.bodyCount) bytes", since: start)
            return response
        } catch {
            write(request, "no answer", since: start)
            throw error
        }
    }

    private func answer(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        if request.path == "/__reset" {
            guard request.method == "POST" else { return EmulatorResponse(405, headers: ["Allow": "POST"]) }
            emulator.reset()
            return EmulatorResponse(204)
        }
        let isPreflight = request.method == "OPTIONS" && request.headers["Access-Control-Request-Method"] != nil
        if origin != nil, isPreflight { return EmulatorResponse(204, headers: preflightHeaders(request)) }
        return try await emulator.deliver(request)
    }

    // MARK: Origins

    private func preflightHeaders(_ request: EmulatorRequest) -> HTTPHeaderFields {
        var headers: HTTPHeaderFields = [
            "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE", "Access-Control-Max-Age": "600",
        ]
        // A star would leave Authorization out.
        if let names = request.headers["Access-Control-Request-Headers"] {
            headers["Access-Control-Allow-Headers"] = names
        }
        return headers
    }

    private func allowingOrigin(_ response: EmulatorResponse) -> EmulatorResponse {
        guard let origin else { return response }
        var response = response
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] =
            "ETag, Last-Modified, Link, Location, Retry-After, Date, Accept-Ranges, Content-Range, Upload-Complete,"
            + " Upload-Length, Upload-Offset"
        if origin != "*" { response.headers["Vary"] = "Origin" }
        return response
    }

    // MARK: Log

    private func write(_ request: EmulatorRequest, _ ending: String, since start: ContinuousClock.Instant) {
        guard let log else { return }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        let target = request.path + (request.query.isEmpty ? "" : "?" + request.query)
        // What a client sends must not reach a terminal as anything but signs.
        let shown = String(
            decoding: "\(request.method) \(target)".utf8.map { (0x20...0x7e).contains($0) ? $0 : 0x3f },
            as: UTF8.self
        )
        log("\(shown) -> \(ending), \(milliseconds) ms")
    }
}
