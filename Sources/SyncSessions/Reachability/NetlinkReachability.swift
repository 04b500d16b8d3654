#if os(Linux)
// A dispatch source may be used from any thread; its type does not say so.
@unsafe @preconcurrency internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

internal import Synchronization

/// What the kernel tells of links and addresses, over a netlink socket: nothing is polled.
///
/// There is a network when an interface that is up and running, and is not the loopback, has an address that reaches
/// beyond its link. Another set of such addresses is another network. Where the socket is refused, nothing is known.
package struct NetlinkReachability: Reachability {
    package init() {}

    package func changes() -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            guard let socket = NetlinkSocket.open() else { return continuation.finish() }
            // Subscribed before the first look, so that nothing is missed in between.
            let queue = DispatchQueue(label: "SyncSessions.reachability")
            let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
            let known = KnownAddresses()
            if let isThere = known.news() { continuation.yield(isThere) }
            source.setEventHandler {
                NetlinkSocket.drain(socket)
                if let isThere = known.news() { continuation.yield(isThere) }
            }
            source.setCancelHandler { NetlinkSocket.close(socket) }
            continuation.onTermination = { _ in source.cancel() }
            source.resume()
        }
    }
}

/// The socket, by numbers of the kernel's interface, which do not change: the C library's module has no headers of it.
private enum NetlinkSocket {
    private static let family: Int32 = 16
    /// Links, and addresses of IPv4 and IPv6.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100

    /// `struct sockaddr_nl`.
    private struct Address {
        var family = UInt16(NetlinkSocket.family)
        var padding: UInt16 = 0
        var process: UInt32 = 0
        var groups = NetlinkSocket.groups
    }

    static func open() -> Int32? {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return nil }
        var address = Address()
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Takes what has come. What it says does not matter, not even that some of it was lost: the addresses are looked at.
    static func drain(_ descriptor: Int32) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0) > 0 {}
        }
    }

    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Musl.close(descriptor)
        #endif
    }
}

/// What was found at the last look.
final class KnownAddresses: Sendable {
    private let look: @Sendable () -> Set<[UInt8]>
    private let last = Mutex<Set<[UInt8]>?>(nil)

    init(_ look: @escaping @Sendable () -> Set<[UInt8]> = { InterfaceAddresses.current() }) { self.look = look }

    /// Whether there is a network now; nil when what is found is the same as at the last look.
    func news() -> Bool? {
        let now = look()
        return last.withLock { last in
            guard now != last else { return nil }
            last = now
            return !now.isEmpty
        }
    }
}

/// The addresses by which this device reaches beyond its links.
enum InterfaceAddresses {
    static func current() -> Set<[UInt8]> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        return unsafe chosen(of: list)
    }

    /// Those of a list of the kernel's.
    static func chosen(of list: UnsafeMutablePointer<ifaddrs>?) -> Set<[UInt8]> {
        var addresses: Set<[UInt8]> = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            let flags = unsafe entry.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_RUNNING) != 0, flags & UInt32(IFF_LOOPBACK) == 0,
                let address = unsafe entry.ifa_addr
            else { continue }
            switch unsafe Int32(address.pointee.sa_family) {
            case AF_INET:
                let bytes = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    unsafe withUnsafeBytes(of: address.pointee.sin_addr) { unsafe Array($0) }
                }
                // 169.254.0.0/16 is what a device gives itself.
                if bytes.prefix(2) != [169, 254] { addresses.insert(bytes) }
            case AF_INET6:
                let bytes = unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    unsafe withUnsafeBytes(of: address.pointee.sin6_addr) { unsafe Array($0) }
                }
                // fe80::/10 likewise.
                if !(bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80) { addresses.insert(bytes) }
            default: break
            }
        }
        return addresses
    }
}
#endif
