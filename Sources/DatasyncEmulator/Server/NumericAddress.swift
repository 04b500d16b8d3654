import Foundation

/// IP addresses as texts of numbers, for the calls that want them as structures of either family.
enum NumericAddress {
    /// Makes a socket of the address's family, and does something with both that says by -1 that it failed.
    static func withSocket(
        host: String,
        port: UInt16,
        _ call: String,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemFailure) -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = SocketCalls.streamType
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port.description, &hints, &list) == 0, let first = unsafe list else {
            throw SystemFailure(call: "the address is not numeric", code: EINVAL)
        }
        defer { unsafe freeaddrinfo(list) }
        let descriptor = SocketCalls.makeSocket(family: unsafe first.pointee.ai_family)
        guard descriptor >= 0 else { throw SystemFailure(call: "socket", code: errno) }
        guard unsafe body(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            let failure = SystemFailure(call: call, code: errno)
            _ = SocketCalls.close(descriptor)
            throw failure
        }
        return descriptor
    }

    /// The address a socket has on this machine.
    static func local(_ descriptor: Int32) -> (host: String, port: UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return Int32(-1) }
                let (hostSize, serviceSize) = (socklen_t(host.count), socklen_t(service.count))
                let flags = NI_NUMERICHOST | NI_NUMERICSERV
                return unsafe getnameinfo(address, length, &host, hostSize, &service, serviceSize, flags)
            }
        }
        guard result == 0, let port = UInt16(String(zeroTerminated: service)) else { return nil }
        return (String(zeroTerminated: host), port)
    }
}

extension String {
    /// The text that a call of C left in an array.
    init(zeroTerminated characters: [CChar]) {
        self.init(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
