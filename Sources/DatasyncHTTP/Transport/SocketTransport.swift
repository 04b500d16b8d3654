#if os(Linux)
internal import Foundation
internal import Glibc
public import HTTPTypes
internal import RemoteContract
internal import Synchronization

/// Carries plain HTTP over sockets, one connection for each request. No TLS.
///
/// It exists because of a flaw of `URLSession` on Linux; see ``DefaultTransport``. Requests wait on threads of their own,
/// never on those of the concurrency pool.
public final class SocketTransport: HTTPTransport {
    private let maximumBodySize: Int

    /// Creates a transport.
    ///
    /// - Parameter maximumBodySize: The largest body in bytes that is taken. A larger one ends the exchange while it
    ///   arrives, as `invalidResponse`.
    public init(maximumBodySize: Int = URLSessionTransport.defaultMaximumBodySize) {
        self.maximumBodySize = maximumBodySize
    }

    /// Sends a request; see ``HTTPTransport/send(_:body:timeout:)``.
    public func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        let exchange = SocketExchange(
            server: request.authority ?? "",
            bytes: Self.serialized(request, body),
            deadline: .now + timeout,
            timeout: timeout,
            maximumBodySize: maximumBodySize
        )
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                // A thread each: a queue lets few wait at the same time, and adds threads one a second.
                Thread.detachNewThread { continuation.resume(with: Result { try exchange.run() }) }
            }
        } onCancel: {
            exchange.cancel()
        }
    }

    private static func serialized(_ request: HTTPRequest, _ body: [UInt8]?) -> [UInt8] {
        var head = "\(request.method.rawValue) \(request.path ?? "/") HTTP/1.1\r\nHost: \(request.authority ?? "")\r\n"
        for field in request.headerFields { head += "\(field.name.rawName): \(field.value)\r\n" }
        // Without a length, some servers wait for a body where the method usually has one (RFC 9110, section 8.6).
        if body != nil || [.post, .put, .patch].contains(request.method) {
            head += "Content-Length: \(body?.count ?? 0)\r\n"
        }
        return Array((head + "Connection: close\r\n\r\n").utf8) + (body ?? [])
    }
}

/// One request and its answer on a socket of their own.
private final class SocketExchange: Sendable {
    private enum State {
        case waiting
        case open(Int32)
        case cancelled
    }

    private let server: String
    private let bytes: [UInt8]
    private let deadline: ContinuousClock.Instant
    private let timeout: Duration
    private let maximumBodySize: Int
    private let state = Mutex(State.waiting)

    init(
        server: String,
        bytes: [UInt8],
        deadline: ContinuousClock.Instant,
        timeout: Duration,
        maximumBodySize: Int
    ) {
        self.server = server
        self.bytes = bytes
        self.deadline = deadline
        self.timeout = timeout
        self.maximumBodySize = maximumBodySize
    }

    /// Ends the exchange from another thread: what waits on the socket wakes up.
    func cancel() {
        state.withLock { state in
            if case .open(let socket) = state { _ = shutdown(socket, Int32(SHUT_RDWR)) }
            state = .cancelled
        }
    }

    func run() throws -> (response: HTTPResponse, body: [UInt8]) {
        let result: Result<(response: HTTPResponse, body: [UInt8]), any Error>
        do {
            result = .success(try exchange())
        } catch is HTTPAnswerParser.TooLarge {
            result = .failure(TransportFailure.tooLarge(server, maximumBodySize))
        } catch let error as HTTPAnswerParser.Malformed {
            result = .failure(
                RemoteError(.invalidResponse, "the answer of \(server) is no HTTP: \(error.reason); check the address")
            )
        } catch {
            result = .failure(error)
        }
        // A cancelled exchange failed because of that, whatever it failed with.
        if state.withLock({ if case .cancelled = $0 { true } else { false } }) { throw CancellationError() }
        return try result.get()
    }

    private func exchange() throws -> (response: HTTPResponse, body: [UInt8]) {
        let socket = try connected()
        defer { close(socket) }
        try write(to: socket)
        var parser = HTTPAnswerParser(maximumBodySize: maximumBodySize)
        while let chunk = try read(from: socket) {
            if let answer = try parser.receive(chunk) { return answer }
        }
        guard let answer = try parser.close() else { throw TransportFailure.noAnswer(server) }
        return answer
    }

    /// Lets the socket be closed without anybody else using its number.
    private func close(_ socket: Int32) {
        state.withLock { state in
            if case .open = state { state = .waiting }
            _ = Glibc.close(socket)
        }
    }

    // MARK: Connecting

    private func connected() throws -> Int32 {
        var lastError: Int32 = ECONNREFUSED
        for address in try addresses() {
            let socket = Glibc.socket(
                address.family,
                Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
                0
            )
            guard socket >= 0 else {
                lastError = errno
                continue
            }
            let isMine = state.withLock { state in
                if case .cancelled = state { return false }
                state = .open(socket)
                return true
            }
            guard isMine else {
                close(socket)
                throw CancellationError()
            }
            do {
                try connect(socket, address)
                return socket
            } catch let failure as ConnectFailure {
                close(socket)
                lastError = failure.number
            } catch {
                close(socket)
                throw error
            }
        }
        throw RemoteError(
            .unreachable,
            lastError == ECONNREFUSED
                ? "nothing answers at \(server); check that the server runs there and that the port is right"
                : "the connection to \(server) failed (\(Self.text(lastError))); check the network"
        )
    }

    private struct ConnectFailure: Error {
        var number: Int32
    }

    private struct Address {
        var family: Int32
        var bytes: [UInt8]
    }

    private func connect(_ socket: Int32, _ address: Address) throws {
        let status = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe Glibc.connect(
                socket,
                bytes.bindMemory(to: sockaddr.self).baseAddress,
                socklen_t(bytes.count)
            )
        }
        if status == 0 { return }
        guard errno == EINPROGRESS else { throw ConnectFailure(number: errno) }
        try wait(for: socket, Int16(POLLOUT))
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size)
        guard number == 0 else { throw ConnectFailure(number: number) }
    }

    private func addresses() throws -> [Address] {
        let (host, port) = Self.hostAndPort(server)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, port, &hints, &list)
        guard status == 0 else {
            throw RemoteError(
                .unreachable,
                "the name of \(server) is not known; check its spelling and the network"
            )
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [Address] = []
        var entry = unsafe list
        while let current = unsafe entry?.pointee {
            let bytes = unsafe UnsafeRawBufferPointer(start: current.ai_addr, count: Int(current.ai_addrlen))
            unsafe addresses.append(Address(family: current.ai_family, bytes: Array(bytes)))
            unsafe entry = current.ai_next
        }
        return addresses
    }

    /// Splits `host:port` and `[address]:port`; the port of plain HTTP is 80.
    private static func hostAndPort(_ authority: String) -> (host: String, port: String) {
        let afterHost = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[afterHost...].lastIndex(of: ":") else { return (bare(authority), "80") }
        return (bare(String(authority[..<colon])), String(authority[authority.index(after: colon)...]))
    }

    private static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    // MARK: Reading and writing

    private func write(to socket: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // MSG_NOSIGNAL: a server that is gone is an error here, not a signal that ends the process.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(for: socket, Int16(POLLOUT))
            } else if errno != EINTR {
                // The server may have answered and closed without reading all: its answer says more.
                return
            }
        }
    }

    /// The next bytes; nil when the server closed the connection.
    private func read(from socket: Int32) throws -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
        while true {
            guard deadline > .now else { throw TransportFailure.timeout(server, timeout) }
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.recv(socket, bytes.baseAddress, bytes.count, 0)
            }
            if count > 0 { return buffer[..<count] }
            if count == 0 || errno == ECONNRESET || errno == EPIPE { return nil }
            if errno == EAGAIN {
                try wait(for: socket, Int16(POLLIN))
            } else if errno != EINTR {
                throw RemoteError(
                    .unreachable,
                    "the connection to \(server) broke (\(Self.text(errno))); check the network"
                )
            }
        }
    }

    private func wait(for socket: Int32, _ events: Int16) throws {
        while true {
            let left = deadline - .now
            guard left > .zero else { throw TransportFailure.timeout(server, timeout) }
            var entry = pollfd(fd: socket, events: events, revents: 0)
            let milliseconds = min(left / .milliseconds(1), 60_000).rounded(.up)
            if unsafe poll(&entry, 1, Int32(milliseconds)) > 0 { return }
            if case .cancelled = state.withLock({ $0 }) { throw CancellationError() }
        }
    }

    private static func text(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
#endif
