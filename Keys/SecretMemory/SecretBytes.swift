/// A secret of fixed size in memory of its own.
///
/// The bytes lie in pages that hold nothing else, are locked against swapping where the system allows it
/// (``isLocked`` tells), are left out of core dumps on Linux, and are overwritten with zeros before the pages are given
/// back. There is no way to the bytes but ``withUnsafeBytes(_:)``; descriptions, mirrors and `dump` show the size only.
///
/// The content never changes after initialization, so an instance may be shared between tasks; it is wiped when the
/// last reference to it goes. Equality takes the same time wherever two secrets of one size differ.
@safe
public final class SecretBytes: Sendable {
    /// The largest number of bytes an instance can hold: one mebibyte.
    public static let maximumCount = 1 << 20

    /// The number of bytes.
    public let count: Int

    private let pages: LockedPages

    /// Whether the system keeps the bytes out of its swap space.
    ///
    /// It refuses when the process has used up its allowance of locked memory (`ulimit -l`). The secret is usable all
    /// the same.
    public var isLocked: Bool { pages.isLocked }

    /// Creates a secret whose bytes are written by a closure, so that they lie nowhere else.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, from 0 to ``maximumCount``.
    ///   - body: Writes the bytes into the buffer it is lent, which holds `count` zeros. If it throws, what it wrote so
    ///     far is wiped. The buffer must not be used after the closure has returned.
    /// - Throws: `SecretMemoryError` with code `invalidCount` or `outOfMemory`, or whatever `body` throws.
    public init(count: Int, initializingWith body: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard (0...Self.maximumCount).contains(count) else {
            throw SecretMemoryError(
                .invalidCount,
                "A secret holds 0 to \(Self.maximumCount) bytes, not \(count)."
            )
        }
        let pages = try LockedPages(holding: count)
        try unsafe body(pages.mutableBytes(count: count))
        self.pages = pages
        self.count = count
    }

    /// Lends the bytes to a closure.
    ///
    /// The buffer must not be used after the closure has returned, and what is copied out of it is no longer protected.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, and nothing else.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The pages live as long as this object, which must therefore outlive the closure.
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(UnsafeRawBufferPointer(pages.mutableBytes(count: count)))
    }
}
