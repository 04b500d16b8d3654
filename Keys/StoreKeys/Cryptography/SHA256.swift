import CLibCrypto
package import SecretMemory

/// SHA-256 of public bytes, and HMAC-SHA256 of them under a secret key.
package enum SHA256 {
    package static let digestCount = 32

    package static func hash(_ bytes: [UInt8]) throws(KeyError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestCount)
        var count = digest.count
        guard unsafe EVP_Q_digest(nil, "SHA256", nil, bytes, bytes.count, &digest, &count) == 1, count == digestCount
        else { throw .libcrypto("SHA-256") }
        return digest
    }

    package static func authenticationCode(for bytes: [UInt8], key: SecretBytes) throws(KeyError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: digestCount)
        var count = 0
        let isDone = unsafe key.withUnsafeBytes { key in
            unsafe EVP_Q_mac(
                nil,
                "HMAC",
                nil,
                "SHA256",
                nil,
                key.baseAddress,
                key.count,
                bytes,
                bytes.count,
                &code,
                code.count,
                &count
            ) != nil
        }
        guard isDone, count == digestCount else { throw .libcrypto("HMAC-SHA256") }
        return code
    }

    /// Returns whether two codes are equal, in a time that does not depend on where they differ.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe CRYPTO_memcmp(left, right, left.count) == 0
    }
}
