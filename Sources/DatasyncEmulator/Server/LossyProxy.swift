import FlyingSocks
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
        case dropAnswer
        /// The server answers; half of the answer's bytes pass, then the connection is closed.
        case cutAnswer
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
        var listener: Socket?
        /// Open sockets, so that stopping can wake the threads that wait on them.
        var open: Set<Socket> = []
        var isStopped = false
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
            guard state.listener == nil, !state.isStopped else {
                throw EmulatorError(code: .alreadyRunning, message: "make a new proxy instead of starting one twice")
            }
            do {
                let listener = try Socket(domain: AF_INET)
                try listener.setValue(true, for: .localAddressReuse)
                try listener.bind(to: .inet(ip4: "127.0.0.1", port: port))
                try listener.listen()
                guard case .ip4(let host, let port) = try listener.sockname(), let url = URL(string: "http://\(host):\(port)")
                else { throw EmulatorError(code: .cannotListen, message: "the listening socket has no address") }
                state.listener = listener
                state.open.insert(listener)
                Thread.detachNewThread { self.accept(on: listener) }
                return url
            } catch {
                throw EmulatorError(code: .cannotListen, message: "cannot listen on port \(port)", cause: error)
            }
        }
    }

    /// Closes everything, held connections included. The threads end soon after.
    public func stop() {
        state.withLock { state in
            state.isStopped = true
            for socket in state.open {
                _ = shutdown(socket.file.rawValue, Int32(SHUT_RDWR))
            }
        }
    }

    // MARK: Threads

    private func accept(on listener: Socket) {
        defer { close(listener) }
        while true {
            do {
                let client = Socket(file: try listener.accept().file)
                guard open(client) else { return }
                Thread.detachNewThread { self.serve(client) }
            } catch {
                // Stopping shuts the listener down, which ends the wait in this way.
                return
            }
        }
    }

    private func serve(_ client: Socket) {
        defer { close(client) }
        do {
            let server = try Socket(domain: AF_INET)
            guard open(server) else { return }
            defer { close(server) }
            try server.connect(to: .inet(ip4: "127.0.0.1", port: upstream))
            for socket in [client, server] {
                try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
            }
            var requests = HTTPMessageReader(client)
            var answers = HTTPMessageReader(server)
            while let request = try requests.next(), try forward(request, from: client, to: server, &answers) {}
        } catch {
            // One side is gone; closing the other is all a proxy can do.
            return
        }
    }

    /// Handles one request; false when the connection is to be closed.
    private func forward(
        _ request: HTTPMessageReader.Message,
        from client: Socket,
        to server: Socket,
        _ answers: inout HTTPMessageReader
    ) throws -> Bool {
        let behaviour = state.withLock { $0.script.take(for: request.firstLine) }
        switch behaviour {
        case .dropRequest: return false
        case .hold:
            // Ends when the client gives up or the proxy stops.
            while true { _ = try client.read(atMost: 4_096) }
        case .pass, .dropAnswer, .cutAnswer:
            try server.writeAll(request.bytes)
            guard let answer = try answers.next(isAnswerTo: request.firstLine), behaviour != .dropAnswer else { return false }
            let isCut = behaviour == .cutAnswer
            try client.writeAll(isCut ? answer.bytes.prefix(answer.bytes.count / 2) : answer.bytes)
            return !isCut
        }
    }

    // MARK: Sockets

    /// Notes an open socket; closes it and says no when the proxy has stopped.
    private func open(_ socket: Socket) -> Bool {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.open.insert(socket) }
            return state.isStopped
        }
        if isStopped { close(socket) }
        return !isStopped
    }

    /// Closes under the lock, so that `stop` never touches a number that already means another socket.
    private func close(_ socket: Socket) {
        state.withLock { state in
            state.open.remove(socket)
            // A socket that cannot be closed was closed already; there is nothing to do about it.
            try? socket.close()
        }
    }
}

extension Socket {
    fileprivate func writeAll(_ bytes: Data) throws {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            index = try write(bytes, from: index)
        }
    }
}
