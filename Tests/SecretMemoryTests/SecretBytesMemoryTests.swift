import Foundation
import SecretMemory
import Synchronization
import Testing

@Suite("Memory of secret bytes")
struct SecretBytesMemoryTests {
    /// Whether each wiped secret was all zeros, in the order of their ends.
    private final class Wipes: Sendable {
        let zeroed = Mutex<[Bool]>([])

        func observing<Result>(_ body: () throws -> Result) rethrows -> Result {
            try WipeObservation.$observer.withValue(
                { pages in
                    let isZero = pages.allSatisfy { $0 == 0 }
                    self.zeroed.withLock { $0.append(isZero) }
                },
                operation: body
            )
        }
    }

    @Test("the bytes are zeroed when the last reference goes", arguments: [1, 32, 5000])
    func wipedAtTheEnd(count: Int) throws {
        let wipes = Wipes()
        try wipes.observing {
            var first: SecretBytes? = unsafe try SecretBytes(count: count) {
                unsafe $0.initializeMemory(as: UInt8.self, repeating: 0xAB)
            }
            var second = first
            first = nil
            #expect(wipes.zeroed.withLock { $0 } == [], "the secret is still referred to")
            #expect(second?.count == count)
            second = nil
        }
        #expect(wipes.zeroed.withLock { $0 } == [true])
    }

    @Test("the bytes are zeroed when the closure throws after writing")
    func wipedAfterError() {
        struct Refusal: Error {}
        let wipes = Wipes()
        wipes.observing {
            _ = #expect(throws: Refusal.self) {
                unsafe try SecretBytes(count: 32) { buffer in
                    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0xAB)
                    throw Refusal()
                }
            }
        }
        #expect(wipes.zeroed.withLock { $0 } == [true])
    }

    @Test("no two secrets share a page")
    func ownPages() throws {
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        let secrets = try (0..<8).map { _ in try SecretBytes.random(count: 16) }
        let addresses = secrets.map { unsafe $0.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }
        #expect(Set(addresses.map { $0 / pageSize }).count == secrets.count)
        #expect(addresses.allSatisfy { $0 % pageSize == 0 })
    }

    #if os(Linux)
    @Test("the kernel reports the pages as left out of dumps, and as locked when isLocked says so")
    func kernelView() throws {
        let secret = try SecretBytes.random(count: 32)
        let address = unsafe secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        var flags: [Substring] = []
        var isInRange = false
        // The file claims a size of zero, so it is read until it ends.
        let handle = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let text = try String(decoding: handle.readToEnd() ?? Data(), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if range.count == 2 { isInRange = (range[0]..<range[1]).contains(address) }
            if isInRange, line.hasPrefix("VmFlags:") { flags = line.split(separator: " ") }
        }
        #expect(flags.contains("dd"))
        #expect(flags.contains("lo") == secret.isLocked)
    }

    @Test("the pages go back to the system: after many secrets as much memory is locked as before")
    func givenBack() async {
        await #expect(processExitsWith: .success) {
            // The file claims a size of zero, so it is read until it ends.
            func lockedKibibytes() throws -> Int {
                let handle = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
                let text = try String(decoding: handle.readToEnd() ?? Data(), as: UTF8.self)
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
                return try #require(Int(line.filter(\.isWholeNumber)))
            }
            let kept = try SecretBytes.random(count: 32)
            let locked = try lockedKibibytes()
            for _ in 0..<1_000 { _ = unsafe try SecretBytes(count: 20_000) { _ in } }
            try #require(lockedKibibytes() == locked)
            withExtendedLifetime(kept) {}
        }
    }

    @Test("a process without an allowance of locked memory gets a secret that says it is not locked")
    func notLocked() async {
        await #expect(processExitsWith: .success) {
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            let status = unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none)
            try #require(status == 0)
            // The superuser may lock without an allowance; as another user the refusal can be seen.
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            let secret = try SecretBytes.random(count: 32)
            try #require(!secret.isLocked)
            let isFilled = unsafe secret.withUnsafeBytes { unsafe $0.contains { $0 != 0 } }
            try #require(isFilled)
        }
    }
    #endif
}
