import CLibCrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Whole pages from the system, locked where allowed, wiped and given back at the end of their life.
///
/// Locking works on pages and does not nest, so a secret must not share a page with another one: unlocking the first
/// would unlock the second. Hence pages of their own instead of `malloc`.
///
/// `@unchecked Sendable` holds because the pointer never changes, the bytes behind it are written only by the one that
/// creates the pages, before a second reference can exist, and by `deinit`, when no other is left.
@safe
struct LockedPages: ~Copyable, @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let size: Int
    let isLocked: Bool

    /// Maps enough pages for `count` bytes, and one page for none: every secret has an address.
    init(holding count: Int) throws(SecretMemoryError) {
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        let size = max(1, (count + pageSize - 1) / pageSize) * pageSize
        let address = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let base = unsafe address, Int(bitPattern: base) != -1 else {
            throw SecretMemoryError(
                .outOfMemory,
                "The system gave no memory for a secret of \(count) bytes (errno \(errno))."
            )
        }
        unsafe self.base = base
        self.size = size
        isLocked = unsafe mlock(base, size) == 0
        #if os(Linux) || os(Android)
        // Advice only: a kernel without it dumps the pages, and nothing else changes.
        _ = unsafe madvise(base, size, Int32(MADV_DONTDUMP))
        #endif
    }

    func mutableBytes(count: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    deinit {
        // Unlike `memset`, the compiler may not leave this out because nobody reads the bytes afterwards.
        unsafe OPENSSL_cleanse(base, size)
        unsafe WipeObservation.observer?(Array(UnsafeRawBufferPointer(start: base, count: size)))
        // Unmapping also unlocks.
        _ = unsafe munmap(base, size)
    }
}

/// Lets a test look at a secret's pages after they were wiped and before the system takes them back.
package enum WipeObservation {
    /// Called with a copy of the wiped pages of every secret that ends its life within the task that sets it.
    @TaskLocal package static var observer: (@Sendable ([UInt8]) -> Void)?
}
