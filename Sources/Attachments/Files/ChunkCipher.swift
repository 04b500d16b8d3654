internal import CLibCrypto
internal import SecretMemory
internal import SyncContract

/// AES-256-GCM of the chunks of one file, under the file's own key.
///
/// Each chunk has a random nonce in front and a tag behind. Its place in the file, and whether it is the last one, are
/// authenticated with it, so that chunks which are left out, added or exchanged are found. The nonce is random and no counter,
/// because a chunk may be written a second time, with other bytes: when a download goes on after a kill, and the server says
/// another thing than before.
struct ChunkCipher: Sendable {
    /// How much content a chunk has; the last one has less, or as much.
    static let contentCount = 1 << 16
    static let nonceCount = 12
    static let tagCount = 16
    static let overhead = nonceCount + tagCount
    static let keyCount = 32

    let key: SecretBytes
    /// The header of the file.
    let header: [UInt8]

    func seal(_ content: [UInt8], at index: Int, isLast: Bool) throws(StoreError) -> [UInt8] {
        let context = try CipherContext()
        let associated = associatedData(index, isLast)
        var sealed = [UInt8](repeating: 0, count: content.count + Self.overhead)
        let isDone = unsafe sealed.withUnsafeMutableBytes { sealed in
            unsafe key.withUnsafeBytes { key in
                let nonce = unsafe sealed.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let output = unsafe nonce.map { unsafe $0 + Self.nonceCount }
                let tag = unsafe output.map { unsafe $0 + content.count }
                let key = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                var count: Int32 = 0
                return unsafe RAND_bytes(nonce, Int32(Self.nonceCount)) == 1
                    && EVP_EncryptInit_ex(context.pointer, EVP_aes_256_gcm(), nil, key, nonce) == 1
                    && EVP_EncryptUpdate(context.pointer, nil, &count, associated, Int32(associated.count)) == 1
                    && (content.isEmpty
                        || EVP_EncryptUpdate(context.pointer, output, &count, content, Int32(content.count)) == 1)
                    && EVP_EncryptFinal_ex(context.pointer, tag, &count) == 1
                    && EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagCount), tag) == 1
            }
        }
        guard isDone else { throw Self.failure }
        return sealed
    }

    /// The content of a chunk; nil when it is not the one that was sealed for this place.
    func open(_ sealed: [UInt8], at index: Int, isLast: Bool) throws(StoreError) -> [UInt8]? {
        guard sealed.count >= Self.overhead else { return nil }
        let context = try CipherContext()
        let associated = associatedData(index, isLast)
        var content = [UInt8](repeating: 0, count: sealed.count - Self.overhead)
        var tag = Array(sealed.suffix(Self.tagCount))
        var isAuthentic = false
        let isDecrypted = unsafe key.withUnsafeBytes { key in
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe content.withUnsafeMutableBytes { content in
                    let nonce = unsafe sealed.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    let input = unsafe nonce.map { unsafe $0 + Self.nonceCount }
                    let output = unsafe content.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    let key = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    var count: Int32 = 0
                    guard
                        unsafe EVP_DecryptInit_ex(context.pointer, EVP_aes_256_gcm(), nil, key, nonce) == 1
                            && EVP_DecryptUpdate(context.pointer, nil, &count, associated, Int32(associated.count)) == 1
                            && (content.isEmpty
                                || EVP_DecryptUpdate(context.pointer, output, &count, input, Int32(content.count)) == 1)
                            && EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagCount), &tag)
                                == 1
                    else { return false }
                    isAuthentic = unsafe EVP_DecryptFinal_ex(context.pointer, &tag, &count) == 1
                    return true
                }
            }
        }
        guard isDecrypted else { throw Self.failure }
        return isAuthentic ? content : nil
    }

    private func associatedData(_ index: Int, _ isLast: Bool) -> [UInt8] {
        var place = UInt64(index)
        var bytes: [UInt8] = []
        for _ in 0..<8 {
            bytes.insert(UInt8(truncatingIfNeeded: place), at: 0)
            place >>= 8
        }
        return header + bytes + [isLast ? 1 : 0]
    }

    static var failure: StoreError {
        StoreError(.internal, "libcrypto could not encrypt or decrypt a file; check its configuration and providers.")
    }
}

/// A context of libcrypto, freed at the end of its life; the round keys in it are wiped.
@safe
private struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(StoreError) {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else { throw ChunkCipher.failure }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }
}
