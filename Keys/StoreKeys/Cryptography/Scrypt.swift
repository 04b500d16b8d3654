import CLibCrypto
package import SecretMemory

/// The password-based key derivation function of RFC 7914.
package enum Scrypt {
    /// Derives a secret. Takes long and much memory by design: never on the cooperative pool.
    ///
    /// - Throws: `KeyError` with code `invalidParameters` for a cost outside the limits, before anything is allocated,
    ///   or `cryptographyUnavailable`, mostly because the memory cannot be had.
    package static func deriveKey(
        from passphrase: SecretBytes,
        salt: [UInt8],
        cost: ScryptCost,
        count: Int
    ) throws -> SecretBytes {
        try cost.validateForReading()
        // What libcrypto counts: the large table, two more blocks of it, and one block per lane.
        let memoryLimit = UInt64(cost.memory + 128 * cost.blockSize * (cost.parallelization + 2))
        return unsafe try SecretBytes(count: count) { output in
            let isDone = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe EVP_PBE_scrypt(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                    passphrase.count,
                    salt,
                    salt.count,
                    1 << UInt64(cost.log2N),
                    UInt64(cost.blockSize),
                    UInt64(cost.parallelization),
                    memoryLimit,
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    output.count
                ) == 1
            }
            guard isDone else { throw KeyError.libcrypto("scrypt (\(cost.memory >> 20) MiB)") }
        }
    }
}
