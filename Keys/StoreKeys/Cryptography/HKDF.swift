import CLibCrypto
package import SecretMemory

/// The key derivation function of RFC 5869 with SHA-256, from a secret that is already strong.
package enum HKDF {
    /// Derives a secret.
    ///
    /// - Parameters:
    ///   - secret: The input keying material; not empty.
    ///   - salt: Public; may be empty.
    ///   - info: What the derived key is for; may be empty.
    ///   - count: The number of bytes wanted, up to 8160.
    /// - Returns: The derived secret.
    /// - Throws: `KeyError` with code `cryptographyUnavailable`, or `SecretMemoryError`.
    package static func deriveKey(
        from secret: SecretBytes,
        salt: [UInt8],
        info: [UInt8],
        count: Int
    ) throws -> SecretBytes {
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { throw KeyError.libcrypto("HKDF") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe try SecretBytes(count: count) { output in
            let isDone = unsafe secret.withUnsafeBytes { secret in
                let secretBytes = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let outputBytes = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                var outputCount = output.count
                return unsafe EVP_PKEY_derive_init(context) == 1
                    && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
                    && EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1
                    && EVP_PKEY_CTX_set1_hkdf_key(context, secretBytes, Int32(secret.count)) == 1
                    && EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1
                    && EVP_PKEY_derive(context, outputBytes, &outputCount) == 1
                    && outputCount == output.count
            }
            guard isDone else { throw KeyError.libcrypto("HKDF") }
        }
    }
}
