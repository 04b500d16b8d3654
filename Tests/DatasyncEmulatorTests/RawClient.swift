import FixedPorts
import Foundation
import Synchronization

@testable import DatasyncEmulator

/// Does something that blocks on a thread of its own, so that no cooperative thread waits.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A client that sends the bytes it is told to and shows those it gets. It knows just enough of HTTP to tell answers
/// apart, and shares nothing with the server.
final class RawClient: Sendable {
    enum Failure: Error, Equatable {
        case cannotConnect
        case reset
        /// The server was silent for 20 seconds.
        case silence
        case cannotSend
        case noAnswer
        case other(Int32)
    }

    /// How a connection ended, and what came before.
    struct End: Equatable {
        var bytes: [UInt8]
        var wasReset: Bool

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let descriptor: Int32
    private let unread = Mutex<[UInt8]>([])

    init(_ url: URL, receiveBufferSize: Int32? = nil) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(url.port ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBufferSize { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBufferSize, 4) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // What was initialized is deinitialized, so this closes the socket too.
        guard result == 0 else { throw Failure.cannotConnect }
    }

    deinit { close(descriptor) }

    // MARK: Bytes

    func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await onThread { [self] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 || errno == EINTR else { throw Failure.cannotSend }
                rest = rest.dropFirst(max(0, count))
            }
        }
    }

    /// How much was received and not read yet.
    var unreadCount: Int { unread.withLock { $0.count } }

    /// Sends nothing more, but goes on reading.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// What comes next; nothing at the end.
    private func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count < 0 else { return Array(buffer.prefix(count)) }
            switch errno {
            // A call with a time limit is not resumed after a signal, such as that of another test's process that ended.
            case EINTR: continue
            case ECONNRESET: throw Failure.reset
            case EAGAIN: throw Failure.silence
            case let code: throw Failure.other(code)
            }
        }
    }

    /// Everything up to the connection's end.
    func readToEnd() async throws -> End {
        try await onThread { [self] in
            var bytes = unread.withLock { $0 }
            do {
                while case let more = try receive(), !more.isEmpty { bytes += more }
                return End(bytes: bytes, wasReset: false)
            } catch Failure.reset {
                return End(bytes: bytes, wasReset: true)
            }
        }
    }

    /// Waits until so many bytes have come, and takes them.
    func read(_ count: Int) async throws -> [UInt8] {
        try await onThread { [self] in
            while unread.withLock({ $0.count }) < count { try receiveMore() }
            return take(count)
        }
    }

    private func receiveMore() throws {
        let more = try receive()
        guard !more.isEmpty else { throw Failure.noAnswer }
        unread.withLock { $0 += more }
    }

    private func take(_ count: Int) -> [UInt8] {
        unread.withLock { bytes in
            defer { bytes.removeFirst(count) }
            return Array(bytes.prefix(count))
        }
    }

    // MARK: Answers

    /// One answer, or an interim one such as that of a 100.
    struct Answer: Sendable {
        var status: Int
        /// With names in lower case.
        var fields: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        var json: JSONValue {
            get throws { try JSONValue(parsing: Data(body)) }
        }
    }

    /// The next answer, whose body is as long as it says, or comes in chunks.
    func answer(isToHead: Bool = false) async throws -> Answer {
        try await onThread { [self] in
            let separator = Array("\r\n\r\n".utf8)
            while true {
                guard let end = unread.withLock({ $0.firstRange(of: separator)?.upperBound }) else {
                    try receiveMore()
                    continue
                }
                let lines = String(decoding: take(end), as: UTF8.self).split(separator: "\r\n")
                let status = Int(lines[0].dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
                }
                if !isToHead, fields["transfer-encoding"] == "chunked" {
                    return Answer(status: status, fields: fields, body: try chunkedBody())
                }
                let length = isToHead ? 0 : Int(fields["content-length"] ?? "0") ?? 0
                while unread.withLock({ $0.count }) < length { try receiveMore() }
                return Answer(status: status, fields: fields, body: take(length))
            }
        }
    }

    private func chunkedBody() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            guard let end = unread.withLock({ $0.firstRange(of: [13, 10])?.upperBound }) else {
                try receiveMore()
                continue
            }
            let size = Int(String(decoding: take(end).dropLast(2), as: UTF8.self), radix: 16) ?? 0
            while unread.withLock({ $0.count }) < size + 2 { try receiveMore() }
            body += take(size + 2).dropLast(2)
            if size == 0 { return body }
        }
    }

    /// Sends a request and returns its answer.
    func ask(
        _ method: String,
        _ target: String,
        _ fields: [String: String] = [:],
        body: String? = nil
    ) async throws -> Answer {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"]
        lines += fields.map { "\($0.key): \($0.value)" }
        if let body { lines += ["Content-Length: \(body.utf8.count)"] }
        try await send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        return try await answer(isToHead: method == "HEAD")
    }
}

/// Starts a server, lends it with its URL, and stops it whatever happens. Nobody takes the port of one that starts again.
func withServer(
    _ dialect: EmulatorConfiguration.Dialect = .datasync,
    certificate: ServerCertificate? = nil,
    settings: ServerSettings = ServerSettings(),
    startsAgain: Bool = false,
    respond: EmulatorServer.Responder? = nil,
    _ body: (EmulatorServer, URL) async throws -> Void
) async throws {
    let emulator = Emulator(EmulatorConfiguration(dialect: dialect, tables: ["todoitem"]))
    let server = EmulatorServer(emulator, certificate: certificate, settings: settings) { request, emulator in
        if let respond { try await respond(request, emulator) } else { try await emulator.deliver(request) }
    }
    let url = try await startsAgain ? server.startOnFixedPort() : server.start()
    do {
        try await body(server, url)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
