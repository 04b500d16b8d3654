internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A TCP socket with blocking calls, used on threads of its own.
struct Socket: Sendable {
    let descriptor: Int32

    struct Failure: Error {}

    static func listening() throws -> Socket {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        let socket = Socket(descriptor: socket(AF_INET, stream, 0))
        socket.keepFromChildren()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket.descriptor, $0, size)
            }
        }
        guard socket.descriptor >= 0, result == 0, listen(socket.descriptor, 64) == 0 else { throw Failure() }
        return socket
    }

    var port: Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; nil once the socket was stopped.
    func accept() -> Socket? {
        #if canImport(Darwin)
        let connection = unsafe Darwin.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
        let connection = Musl.accept(descriptor, nil, nil)
        #else
        let connection = Glibc.accept(descriptor, nil, nil)
        #endif
        guard connection >= 0 else {
            close()
            return nil
        }
        let socket = Socket(descriptor: connection)
        socket.keepFromChildren()
        return socket
    }

    /// A program that another test starts meanwhile would keep the connection open for as long as it runs.
    private func keepFromChildren() { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

    /// Tells the client of the end, whoever else holds the socket: one that was started between `accept` and the flag
    /// does until it has become another program.
    func end(resetting: Bool) {
        if resetting { resetOnClose() } else { shutdown(descriptor, Int32(SHUT_RDWR)) }
        close()
    }

    /// Makes ``accept()`` return nil, which then closes the socket.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #else
        _ = Glibc.close(descriptor)
        #endif
    }

    /// Sends all bytes; false when the client is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...]
                .withUnsafeBytes { buffer in
                    unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The next bytes, empty when the client is gone.
    func read() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// Waits until the client sends something or is gone, at most so long; true when it did.
    func waitForInput(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    /// Waits until the client is gone, without reading what it sends.
    func waitForEnd() {
        #if canImport(Darwin)
        let end = Int16(POLLHUP)
        #else
        // POLLRDHUP, which the system's module hides.
        let end: Int16 = 0x2000
        #endif
        var entry = pollfd(fd: descriptor, events: end, revents: 0)
        while unsafe poll(&entry, 1, -1) < 0 {}
    }

    private func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

extension Socket {
    func perform(_ step: ScriptedServer.Step) {
        switch step {
        case .send(let bytes): write(bytes)
        case .drip(let bytes, let pause):
            for byte in bytes where waitForInput(milliseconds: pause) || !write([byte]) { return }
        case .flood(let bytes, let total):
            for _ in 0..<total / bytes.count where !write(bytes) { return }
        case .silence: while !read().isEmpty {}
        case .hold: waitForEnd()
        case .finish: shutdown(descriptor, Int32(SHUT_WR))
        case .perform(let body): body()
        case .reset, .keepOpen: break
        }
    }

    /// One request, its body as long as its header says; nil when the client left before.
    func readRequest(withBody: Bool) -> ScriptedServer.Request? {
        var bytes: [UInt8] = []
        let endOfHead = Array("\r\n\r\n".utf8)
        var head: Range<Int>?
        while head == nil {
            let more = read()
            guard !more.isEmpty else { return nil }
            bytes += more
            head = bytes.firstRange(of: endOfHead)
        }
        let lines = String(decoding: bytes[..<head!.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            fields[parts[0].lowercased()] = parts.count > 1 ? parts[1] : ""
        }
        let length = fields["content-length"].flatMap(Int.init) ?? 0
        while withBody, bytes.count < head!.upperBound + length {
            let more = read()
            guard !more.isEmpty else { return nil }
            bytes += more
        }
        let body = String(decoding: bytes[head!.upperBound...], as: UTF8.self)
        return ScriptedServer.Request(
            method: String(start[0]),
            target: String(start[1]),
            fields: fields,
            body: body,
            head: lines
        )
    }
}
