import FlyingFox
import FlyingSocks
public import Foundation

/// An emulator behind an HTTP/1.1 server, on the loopback interface unless told otherwise. Plain HTTP only.
public actor EmulatorServer {
    /// The emulator that answers: its rows, its log and its faults.
    public nonisolated let emulator: Emulator

    private enum State {
        case stopped
        case starting
        case running(HTTPServer, Task<Void, Never>, URL)
    }

    private var state = State.stopped
    private var requestsInProgress = 0

    private let respond: @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse

    /// Makes a server that does not listen yet.
    public init(_ emulator: Emulator) {
        self.init(emulator) { try await $1.handle($0) }
    }

    /// Makes a server that answers as a closure says, which may ask the emulator: for servers of other make.
    package init(
        _ emulator: Emulator,
        respond: @escaping @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse
    ) {
        self.emulator = emulator
        self.respond = respond
    }

    /// Makes a server, and an emulator for it, that does not listen yet.
    public init(_ configuration: EmulatorConfiguration) {
        self.init(Emulator(configuration))
    }

    /// Where the server listens, such as `http://127.0.0.1:49152`; nil when it does not.
    public var url: URL? {
        if case .running(_, _, let url) = state { url } else { nil }
    }

    // MARK: Starting and stopping

    /// Starts listening; when this returns, connections are accepted.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any free one.
    ///   - host: A numeric IPv4 or IPv6 address. Anything but a loopback address shows the rows to the network: the
    ///     emulator asks nobody who they are.
    /// - Returns: The URL to send requests to.
    /// - Throws: `EmulatorError` with code `alreadyRunning`, or `cannotListen` when the address is no address, is not
    ///   this machine's or is taken.
    @discardableResult
    public func start(port: UInt16 = 0, host: String = "127.0.0.1") async throws -> URL {
        guard case .stopped = state else {
            throw EmulatorError(code: .alreadyRunning, message: "stop the server before starting it again")
        }
        state = .starting
        do {
            let server = try makeServer(port: port, host: host)
            let task = try await Self.run(server)
            guard let url = await Self.url(of: server) else {
                throw EmulatorError(code: .cannotListen, message: "the listening socket has no address")
            }
            state = .running(server, task, url)
            return url
        } catch {
            state = .stopped
            throw EmulatorError(
                code: .cannotListen,
                message: "cannot listen on \(host), port \(port); choose a free port, or 0 for any",
                cause: error
            )
        }
    }

    /// Stops listening and closes all connections. Requests in progress get up to a second to be answered. Does
    /// nothing when the server is not running. The rows stay.
    public func stop() async {
        guard case .running(let server, let task, _) = state else { return }
        state = .stopped
        // An answer that was just handed over still has to be written, hence never zero.
        await server.stop(timeout: requestsInProgress == 0 ? 0.05 : 1)
        await task.value
    }

    private func makeServer(port: UInt16, host: String) throws -> HTTPServer {
        let address: any SocketAddress =
            if host.contains(":") { try sockaddr_in6.inet6(ip6: host, port: port) } else {
                try sockaddr_in.inet(ip4: host, port: port)
            }
        let pool = NoDelaySocketPool(HTTPServer.defaultPool())
        // Faults may delay an answer for long; the timeout is for a handler that hangs, which this one does not.
        let configuration = HTTPServer.Configuration(address: address, timeout: 600, pool: pool, logger: .disabled)
        return HTTPServer(
            config: configuration,
            handler: ClosureHTTPHandler { [weak self] request in
                guard let self else { return HTTPResponse(statusCode: .serviceUnavailable) }
                return try await self.answer(request)
            }
        )
    }

    /// Runs a server in a task of its own and waits until it listens or cannot.
    private static func run(_ server: HTTPServer) async throws -> Task<Void, Never> {
        let (events, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        let task = Task {
            do {
                try await server.run()
            } catch {
                // After a successful start nobody listens any more: the end of `run` is then that of `stop`.
                continuation.yield(.failure(error))
            }
            continuation.finish()
        }
        let waiting = Task {
            do {
                try await server.waitUntilListening(timeout: 60)
                continuation.yield(.success(()))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        for await event in events {
            waiting.cancel()
            try event.get()
            return task
        }
        throw CancellationError()
    }

    private static func url(of server: HTTPServer) async -> URL? {
        switch await server.listeningAddress {
        case .ip4(let address, let port): URL(string: "http://\(address):\(port)")
        case .ip6(let address, let port): URL(string: "http://[\(address)]:\(port)")
        case .unix, nil: nil
        }
    }

    // MARK: Requests

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        requestsInProgress += 1
        defer { requestsInProgress -= 1 }
        let method = request.method.rawValue
        var converted = EmulatorRequest(method, request.target.rawValue)
        for (name, value) in request.headers {
            converted.headers[name.rawValue] = value
        }
        converted.body = try await body(of: request)
        do {
            return Self.response(try await respond(converted, emulator), isHead: method == "HEAD")
        } catch let error as EmulatorError where error.code == .connectionDropped {
            return HTTPResponse(webSocket: ConnectionDropper())
        }
    }

    /// The body, read to its end so that the connection stays usable, but kept only as far as it can be accepted.
    private func body(of request: HTTPRequest) async throws -> Data {
        var body = Data()
        let enough = emulator.configuration.maximumBodySize + 1
        for try await chunk in request.bodySequence {
            body.append(chunk.prefix(enough - body.count))
        }
        return body
    }

    private static func response(_ response: EmulatorResponse, isHead: Bool) -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in response.headers {
            headers.addValue(value, for: HTTPHeader(name))
        }
        headers.addValue(Timestamp.httpText(milliseconds: Int64(time(nil)) * 1_000), for: .date)
        let status = HTTPStatusCode(response.status, phrase: phrase(response.status))
        return HTTPResponse(statusCode: status, headers: headers, body: isHead ? Data() : response.body)
    }

    private static func phrase(_ status: Int) -> String {
        let known: [HTTPStatusCode] = [
            .ok, .created, .noContent, .notModified, .badRequest, .unauthorized, .forbidden, .notFound,
            .methodNotAllowed, .requestTimeout, .conflict, .gone, .preconditionFailed, .payloadTooLarge,
            .unsupportedMediaType, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
            .gatewayTimeout,
        ]
        return known.first { $0.code == status }?.phrase ?? "Status"
    }
}

/// Makes FlyingFox close a connection without writing a byte: an answer that changes the protocol is written only after
/// its handler agreed, and an error from the handler closes the connection.
private struct ConnectionDropper: WSHandler {
    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        throw EmulatorError(code: .connectionDropped, message: "a scripted fault dropped the connection")
    }
}
