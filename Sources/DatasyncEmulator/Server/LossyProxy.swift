public import Foundation
import Synchronization

/// A TCP proxy on the loopback interface that loses requests and answers on purpose.
///
/// It understands just enough of HTTP/1.1 to see where a request ends and its answer ends, and decides anew for every
/// request, also on connections that are kept alive. Every connection has a thread of its own: nothing here blocks
/// Swift's cooperative threads.
public final class LossyProxy: Sendable {
    /// What happens to a request.
    public enum Behaviour: Sendable {
        /// Request and answer pass.
        case pass
        /// The connection is closed before the server sees the request.
        case dropRequest
        /// The server answers; the connection is closed without a byte of the answer.
        case dropResponse
        /// The server answers; half of the answer's bytes pass, then the connection is closed.
        case cutResponse
        /// The server never sees the request, and the connection stays open without an answer until the proxy stops.
        case hold
    }

    struct Script {
        var entries: [Entry] = []
        var usual = Behaviour.pass
        var requestCount = 0

        struct Entry {
            let behaviour: Behaviour
            var remaining: Int
            let matches: @Sendable (_ requestLine: String) -> Bool
        }

        mutating func take(for requestLine: String) -> Behaviour {
            requestCount += 1
            guard let index = entries.firstIndex(where: { $0.matches(requestLine) }) else { return usual }
            let behaviour = entries[index].behaviour
            entries[index].remaining -= 1
            if entries[index].remaining == 0 { entries.remove(at: index) }
            return behaviour
        }
    }

    private struct State {
        var script = Script()
        /// Kept while the proxy runs, for they in turn keep the proxy.
        var threads: ConnectionThreads?
        var wasStarted = false
    }

    private let upstream: UInt16
    private let state = Mutex(State())

    /// Makes a proxy that does not listen yet.
    ///
    /// - Parameter upstream: The port of the server on 127.0.0.1.
    public init(upstream: UInt16) {
        self.upstream = upstream
    }

    // MARK: Behaviour

    /// What happens to the next matching requests. Entries are met in the order they were added.
    ///
    /// - Parameters:
    ///   - behaviour: What happens.
    ///   - times: To how many requests.
    ///   - matching: To which, told by their first line, such as `POST /tables/todoitem HTTP/1.1`; all when left out.
    public func next(
        _ behaviour: Behaviour,
        times: Int = 1,
        matching: @escaping @Sendable (_ requestLine: String) -> Bool = { _ in true }
    ) {
        guard times > 0 else { return }
        let entry = Script.Entry(behaviour: behaviour, remaining: times, matches: matching)
        state.withLock { $0.script.entries.append(entry) }
    }

    /// What happens to requests that no entry of the script is for; `pass` at first.
    public func setUsual(_ behaviour: Behaviour) {
        state.withLock { $0.script.usual = behaviour }
    }

    /// How many requests have come in whole, whatever happened to them.
    public var requestCount: Int {
        state.withLock { $0.script.requestCount }
    }

    // MARK: Starting and stopping

    /// Starts listening on 127.0.0.1; when this returns, connections are accepted. A stopped proxy cannot start again.
    ///
    /// - Parameter port: The port, or 0 for any free one.
    /// - Returns: The URL to send requests to.
    /// - Throws: `EmulatorError` with code `alreadyRunning` or `cannotListen`.
    @discardableResult
    public func start(port: UInt16 = 0) throws -> URL {
        try state.withLock { state in
            guard !state.wasStarted else {
                throw EmulatorError(.alreadyRunning, "Make a new proxy instead of starting one twice.")
            }
            do {
                let listener = try ListeningSocket(host: "127.0.0.1", port: port)
                guard let url = listener.url(scheme: "http") else {
                    throw SystemFailure(call: "getsockname", code: EINVAL)
                }
                let limit = ServerSettings().maximumConnections
                state.threads = try ConnectionThreads(listener, limit: limit, grace: .zero) { connection, _ in
                    self.serve(connection)
                }
                state.wasStarted = true
                return url
            } catch {
                throw EmulatorError(.cannotListen, "Cannot listen on port \(port).", cause: error)
            }
        }
    }

    /// Closes everything, held connections included. The threads end soon after.
    public func stop() {
        let threads = state.withLock { state in
            defer { state.threads = nil }
            return state.threads
        }
        threads?.stop()
    }

    // MARK: Connections

    private func serve(_ connection: Connection) {
        // One side that is gone or makes no sense is a reason to close the other, and that is all a proxy can do.
        guard let server = try? Socket(connectingTo: upstream) else { return }
        connection.withStopHandler { _ in
            server.endBoth()
        } _: {
            try? forwardRequests(from: connection.socket, to: server)
        }
    }

    private func forwardRequests(from client: Socket, to server: Socket) throws {
        let limits = RequestLimits(requestLine: 65_536, fields: 65_536, body: 1 << 30)
        var requests = RequestReader(limits)
        var responses = ProxiedResponses(server)
        var unsent: [UInt8] = []
        while true {
            switch requests.next() {
            case .request(let request):
                let bytes = unsent.prefix(request.byteCount)
                guard try forward(request.head.line, bytes, from: client, to: server, &responses) else { return }
                unsent.removeFirst(request.byteCount)
            // The request goes on as a whole, so nobody else can say it.
            case .continueIsExpected: try client.send(ResponseBytes.continue[...], limit: .unlimited)
            case .refusal, .streamed: return
            case nil:
                let bytes = try client.receive(until: .now + .unlimited)
                guard !bytes.isEmpty else { return }
                requests.append(bytes)
                unsent.append(contentsOf: bytes)
            }
        }
    }

    /// Handles one request; false when the connection is to be closed.
    private func forward(
        _ line: RequestLine,
        _ bytes: ArraySlice<UInt8>,
        from client: Socket,
        to server: Socket,
        _ responses: inout ProxiedResponses
    ) throws -> Bool {
        let behaviour = state.withLock { $0.script.take(for: line.text) }
        switch behaviour {
        case .dropRequest: return false
        case .hold:
            // Ends when the client gives up or the proxy stops.
            while try !client.receive(until: .now + .unlimited).isEmpty {}
            return false
        case .pass, .dropResponse, .cutResponse:
            try server.send(bytes, limit: .unlimited)
            guard let response = try responses.next(isToHead: line.method == "HEAD"), behaviour != .dropResponse else {
                return false
            }
            let isCut = behaviour == .cutResponse
            try client.send(isCut ? response.prefix(response.count / 2) : response[...], limit: .unlimited)
            return !isCut && !responses.isLast
        }
    }
}
