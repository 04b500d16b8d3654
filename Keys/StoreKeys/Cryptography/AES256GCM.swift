import CLibCrypto
package import SecretMemory

/// AES-256-GCM of secrets, with a 12-byte nonce and a 16-byte tag behind the ciphertext.
package enum AES256GCM {
    package static let keyCount = 32
    package static let nonceCount = 12
    package static let tagCount = 16

    /// Encrypts a secret.
    ///
    /// - Parameters:
    ///   - plaintext: What to encrypt; not empty.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never used twice with this key.
    ///   - associatedData: Authenticated along with the secret, not part of the result; not empty.
    /// - Returns: The ciphertext, as long as the plaintext, and the tag.
    /// - Throws: `KeyError` with code `cryptographyUnavailable`.
    package static func seal(
        _ plaintext: SecretBytes,
        key: SecretBytes,
        nonce: [UInt8],
        associatedData: [UInt8]
    ) throws(KeyError) -> [UInt8] {
        precondition(key.count == keyCount && nonce.count == nonceCount && !associatedData.isEmpty)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .libcrypto("AES-256-GCM") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }

        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagCount)
        let isDone = unsafe key.withUnsafeBytes { key in
            unsafe plaintext.withUnsafeBytes { plaintext in
                unsafe sealed.withUnsafeMutableBytes { sealed in
                    let ciphertext = unsafe sealed.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    let tag = unsafe sealed.baseAddress.map { unsafe $0 + plaintext.count }
                    let key = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    let bytes = unsafe plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    var count: Int32 = 0
                    return unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                        && EVP_EncryptUpdate(context, nil, &count, associatedData, Int32(associatedData.count)) == 1
                        && EVP_EncryptUpdate(context, ciphertext, &count, bytes, Int32(plaintext.count)) == 1
                        && EVP_EncryptFinal_ex(context, tag?.assumingMemoryBound(to: UInt8.self), &count) == 1
                        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag) == 1
                }
            }
        }
        guard isDone else { throw .libcrypto("AES-256-GCM") }
        return sealed
    }

    /// Decrypts what `seal` made, straight into a secret.
    ///
    /// - Returns: The plaintext, or `nil` if key, nonce, associated data and ciphertext do not belong together.
    package static func open(
        _ sealed: [UInt8],
        key: SecretBytes,
        nonce: [UInt8],
        associatedData: [UInt8]
    ) throws -> SecretBytes? {
        precondition(key.count == keyCount && nonce.count == nonceCount && !associatedData.isEmpty)
        guard sealed.count > tagCount else { return nil }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw KeyError.libcrypto("AES-256-GCM") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }

        var tag = Array(sealed.suffix(tagCount))
        let ciphertextCount = sealed.count - tagCount
        var isAuthentic = false
        // The unverified plaintext never leaves the buffer: if the tag is wrong, it is wiped with it.
        let plaintext = unsafe try SecretBytes(count: ciphertextCount) { plaintext in
            let isDecrypted = unsafe key.withUnsafeBytes { key in
                let key = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let bytes = unsafe plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self)
                var count: Int32 = 0
                return unsafe EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                    && EVP_DecryptUpdate(context, nil, &count, associatedData, Int32(associatedData.count)) == 1
                    && EVP_DecryptUpdate(context, bytes, &count, sealed, Int32(ciphertextCount)) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1
            }
            guard isDecrypted else { throw KeyError.libcrypto("AES-256-GCM") }
            var count: Int32 = 0
            isAuthentic = unsafe EVP_DecryptFinal_ex(context, &tag, &count) == 1
        }
        return isAuthentic ? plaintext : nil
    }
}
