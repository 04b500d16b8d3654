public import Foundation

/// An emulator behind an HTTP/1.1 server, on the loopback interface unless told otherwise.
///
/// The server takes what RFC 9112 allows and refuses the rest in the emulator's form: a request line above 8 KB, fields
/// above 32 KB and bodies above what the emulator accepts as soon as they are too large, and whatever is malformed.
/// After such a refusal it closes the connection. It accepts 256 connections at a time; one more is closed at once.
/// A server that nobody refers to any more stops.
public actor EmulatorServer {
    /// Answers requests that a server received. What it throws is answered with 500, but for the error of a dropped
    /// connection.
    package typealias Responder = @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse

    /// The emulator that answers: its rows, its log and its faults.
    public nonisolated let emulator: Emulator

    private enum State {
        case stopped
        case running(ConnectionThreads, URL)
        case stopping(ConnectionThreads)
    }

    private var state = State.stopped

    private let certificate: ServerCertificate?
    private let settings: ServerSettings
    private let respond: Responder

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - emulator: The emulator that answers.
    ///   - certificate: What to speak TLS with, so that clients can be tried over it; plain HTTP without it.
    public init(_ emulator: Emulator, certificate: ServerCertificate? = nil) {
        self.init(emulator, certificate: certificate, settings: ServerSettings())
    }

    /// Makes a server, and an emulator for it, that does not listen yet.
    public init(_ configuration: EmulatorConfiguration, certificate: ServerCertificate? = nil) {
        self.init(Emulator(configuration), certificate: certificate)
    }

    /// Makes a server that answers as a closure says, which may ask the emulator: for servers of other make.
    package init(
        _ emulator: Emulator,
        certificate: ServerCertificate? = nil,
        settings: ServerSettings = ServerSettings(),
        respond: @escaping Responder = { try await $1.deliver($0) }
    ) {
        self.emulator = emulator
        self.certificate = certificate
        self.settings = settings
        self.respond = respond
    }

    deinit {
        if case .running(let threads, _) = state { threads.stop() }
    }

    /// Where the server listens, such as `http://127.0.0.1:49152`; nil when it does not.
    public var url: URL? {
        if case .running(_, let url) = state { url } else { nil }
    }

    /// Starts listening; when this returns, connections are accepted.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any free one.
    ///   - host: A numeric IPv4 or IPv6 address. Anything but a loopback address shows the rows to the network: the
    ///     emulator asks nobody who they are.
    /// - Returns: The URL to send requests to.
    /// - Throws: `EmulatorError` with code `alreadyRunning`, `cannotListen` when the address is not an address, is not this
    ///   machine's or is taken, or `invalidCertificate`.
    @discardableResult
    public func start(port: UInt16 = 0, host: String = "127.0.0.1") async throws -> URL {
        guard case .stopped = state else {
            throw EmulatorError(code: .alreadyRunning, message: "stop the server before starting it again")
        }
        let context = try certificate.map(SecureContext.init)
        do {
            let listener = try ListeningSocket(host: host, port: port)
            guard let url = listener.url(scheme: context == nil ? "http" : "https") else {
                throw SystemFailure(call: "getsockname", code: EINVAL)
            }
            state = .running(try run(on: listener, context), url)
            return url
        } catch {
            throw EmulatorError(
                code: .cannotListen,
                message: "cannot listen on \(host), port \(port); choose a free port, or 0 for any",
                cause: error
            )
        }
    }

    /// Stops listening and closes all connections; when this returns, the port can be taken again. Does nothing when
    /// the server is not running. The rows stay.
    ///
    /// What is in progress is cancelled, which ends scripted waits, and then answered. It has a second for that: a
    /// client that does not take its answer, or a closure that ignores its cancellation, is waited for no longer.
    public func stop() async {
        switch state {
        case .stopped: return
        case .running(let threads, _), .stopping(let threads):
            state = .stopping(threads)
            await threads.end()
            if case .stopping(let ended) = state, ended === threads { state = .stopped }
        }
    }

    private func run(on listener: ListeningSocket, _ context: SecureContext?) throws(SystemFailure) -> ConnectionThreads
    {
        let (emulator, settings, respond) = (emulator, settings, respond)
        let limit = settings.maximumConnections
        return try ConnectionThreads(listener, limit: limit, grace: settings.stopGrace) { connection, stopSignal in
            guard let stream = Self.stream(on: connection.socket, context, settings) else { return }
            RequestLoop(
                connection: connection,
                stream: stream,
                emulator: emulator,
                settings: settings,
                scheme: context == nil ? "http" : "https",
                stopSignal: stopSignal,
                respond: respond
            )
            .run()
        }
    }

    private static func stream(
        on socket: Socket,
        _ context: SecureContext?,
        _ settings: ServerSettings
    ) -> (any ByteStream)? {
        guard let context else { return PlainStream(socket) }
        return SecureStream(socket, context, sendLimit: settings.sendLimit)
    }
}
