internal import CLibCrypto
internal import SyncContract

/// The SHA-256 of bytes that come one after the other.
@safe
struct RunningDigest: ~Copyable {
    static let count = 32

    private let context: OpaquePointer

    init() throws(StoreError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw ChunkCipher.failure }
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            unsafe EVP_MD_CTX_free(context)
            throw ChunkCipher.failure
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    mutating func add(_ bytes: [UInt8]) throws(StoreError) {
        guard unsafe EVP_DigestUpdate(context, bytes, bytes.count) == 1 else { throw ChunkCipher.failure }
    }

    consuming func finish() throws(StoreError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.count)
        var count: UInt32 = 0
        guard unsafe EVP_DigestFinal_ex(context, &digest, &count) == 1, count == Self.count else {
            throw ChunkCipher.failure
        }
        return digest
    }
}
