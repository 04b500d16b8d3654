import CLibCrypto

extension SecretBytes {
    /// Creates a secret of random bytes, drawn from libcrypto's generator for private values.
    ///
    /// - Parameter count: The number of bytes, from 0 to ``maximumCount``.
    /// - Returns: A secret that nobody else has seen.
    /// - Throws: `SecretMemoryError` with code `randomUnavailable` when the generator cannot be seeded, `invalidCount`
    ///   or `outOfMemory`.
    public static func random(count: Int) throws -> SecretBytes {
        unsafe try SecretBytes(count: count) { buffer in
            guard unsafe RAND_priv_bytes(buffer.baseAddress, Int32(buffer.count)) == 1 else {
                throw SecretMemoryError(
                    .randomUnavailable,
                    "The random generator of libcrypto gave no bytes; check its configuration and providers."
                )
            }
        }
    }
}
