#if os(Linux)
import Synchronization
import Testing

@testable import SyncSessions

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("The addresses by which a device reaches beyond its links")
struct NetlinkReachabilityTests {
    private static let (up, running, loopback) = (UInt32(IFF_UP), UInt32(IFF_RUNNING), UInt32(IFF_LOOPBACK))
    private static let (one, other): ([UInt8], [UInt8]) = ([192, 168, 1, 2], [10, 0, 0, 7])

    /// An address of IPv4 or IPv6 of an interface.
    private struct Entry {
        let flags: UInt32
        let address: [UInt8]
    }

    private func chosen(_ entries: [Entry]) -> Set<[UInt8]> { unsafe chosen(entries[...], before: nil) }

    /// What is chosen of a list as the kernel gives it: of some entries and those behind them.
    private func chosen(_ entries: ArraySlice<Entry>, before next: UnsafeMutablePointer<ifaddrs>?) -> Set<[UInt8]> {
        guard let last = entries.last else { return unsafe InterfaceAddresses.chosen(of: next) }
        return unsafe withSocketAddress(last.address) { address in
            var entry = unsafe ifaddrs()
            unsafe entry.ifa_flags = last.flags
            unsafe entry.ifa_addr = address
            unsafe entry.ifa_next = next
            return unsafe withUnsafeMutablePointer(to: &entry) { unsafe chosen(entries.dropLast(), before: $0) }
        }
    }

    private func withSocketAddress<Value>(
        _ bytes: [UInt8],
        _ body: (UnsafeMutablePointer<sockaddr>) -> Value
    ) -> Value {
        if bytes.count == 4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) { unsafe $0.copyBytes(from: bytes) }
            return unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }

    @Test(
        "are those of interfaces that are up and running, and not the loopback",
        arguments: [([up, running], true), ([up], false), ([running], false), ([up, running, loopback], false)]
    )
    func flags(_ flags: [UInt32], _ isChosen: Bool) {
        let entry = Entry(flags: flags.reduce(0, |), address: Self.one)
        #expect(chosen([entry]) == (isChosen ? [Self.one] : []))
    }

    @Test(
        "are none that a device gives itself",
        arguments: [
            ([169, 254, 1, 2], false), ([169, 253, 255, 255], true), ([169, 255, 0, 0], true),
            ([168, 254, 1, 2], true),
            ([0xFE, 0x80], false), ([0xFE, 0xBF], false), ([0xFE, 0xC0], true), ([0xFE, 0x7F], true),
            ([0xFD, 0x80], true), ([0x20, 0x01], true),
        ] as [([UInt8], Bool)]
    )
    func linkLocal(_ start: [UInt8], _ isChosen: Bool) {
        // Of IPv6 the first bytes are given.
        let address = start.count == 4 ? start : start + [UInt8](repeating: 1, count: 14)
        let entry = Entry(flags: Self.up | Self.running, address: address)
        #expect(chosen([entry]) == (isChosen ? [address] : []))
    }

    @Test("are all there are, of every interface")
    func several() {
        let far: [UInt8] = [0x20, 0x01] + [UInt8](repeating: 1, count: 14)
        let usual = Self.up | Self.running
        let entries = [
            Entry(flags: usual, address: Self.one), Entry(flags: usual | Self.loopback, address: [127, 0, 0, 1]),
            Entry(flags: usual, address: far), Entry(flags: Self.up, address: [10, 0, 0, 8]),
            Entry(flags: usual, address: Self.other),
        ]
        #expect(chosen(entries) == [Self.one, far, Self.other])
        #expect(chosen([]).isEmpty)
    }

    @Test("are never the device itself")
    func itself() {
        let addresses = InterfaceAddresses.current()
        #expect(!addresses.contains([127, 0, 0, 1]))
        #expect(!addresses.contains([UInt8](repeating: 0, count: 15) + [1]))
    }

    @Test("tell that a network is there, gone or another one, and nothing while they stay")
    func news() {
        let looks = Mutex<[Set<[UInt8]>]>([[], [Self.one], [Self.one], [Self.other], []])
        let known = KnownAddresses { looks.withLock { $0.removeFirst() } }
        let news = (0..<5).map { _ in known.news() }
        #expect(news == [false, true, nil, true, false])
    }

    @Test("say at once how it is")
    func first() async {
        var changes = NetlinkReachability().changes().makeAsyncIterator()
        let isThere = await changes.next()
        #expect(isThere == !InterfaceAddresses.current().isEmpty)
    }
}
#endif
