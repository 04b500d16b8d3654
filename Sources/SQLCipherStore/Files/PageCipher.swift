import CLibCrypto
package import SecretMemory
import SyncContract

/// Checks the keyed hash at the end of a page, and decrypts a page, as the library does when it reads one.
///
/// The library does not say which page failed (before SQLCipher 4.2), gives no others after it, and takes a page of
/// zeros for one that was never written. This says of every page whether it is what was written, under either
/// generation of the library and for either format.
@safe
package final class PageCipher {
    private let key: SecretBytes
    private let context: OpaquePointer
    private let codeCount: Int

    /// Where the content of a page ends, its random start value included, and the code begins.
    private let contentEnd: Int

    /// Derives the key of the codes from the store's own.
    ///
    /// - Throws: `StoreError` with code `internal` when libcrypto fails; `SecretMemoryError`.
    package init(key: SecretBytes, header: FileHeader) throws {
        let (digest, codeCount) =
            switch header.format {
            case .sqlcipher3: ("SHA1", 20)
            case .sqlcipher4: ("SHA512", 64)
            }
        self.key = key
        self.codeCount = codeCount
        // The start value and the code lie in whole blocks of the cipher at the end of the page.
        let reserve = (Self.startValueCount + codeCount + 15) / 16 * 16
        contentEnd = FileHeader.pageSize - reserve + Self.startValueCount
        let authenticationKey = try Self.authenticationKey(from: key, salt: header.bytes, digest)
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { throw Self.failure }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw Self.failure }
        unsafe self.context = context
        let isReady = unsafe authenticationKey.withUnsafeBytes { key in
            let bytes = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe Self.withDigest(digest) { parameters in
                unsafe EVP_MAC_init(context, bytes, key.count, parameters) == 1
            }
        }
        guard isReady else { throw Self.failure }
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// Whether a whole page is what was written as the page of that number; the first is 1.
    package func isAuthentic(_ page: UnsafeRawBufferPointer, number: Int) throws -> Bool {
        // The first page begins with the salt.
        let start = number == 1 ? FileHeader.count : 0
        var littleEndianNumber = UInt32(number).littleEndian
        var code = [UInt8](repeating: 0, count: 64)
        var count = 0
        let content = unsafe UnsafeRawBufferPointer(rebasing: page[start..<contentEnd])
        let isDone = unsafe withUnsafeBytes(of: &littleEndianNumber) { number in
            unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, content.baseAddress?.assumingMemoryBound(to: UInt8.self), content.count) == 1
                && EVP_MAC_update(context, number.baseAddress?.assumingMemoryBound(to: UInt8.self), number.count) == 1
                && EVP_MAC_final(context, &code, &count, code.count) == 1
        }
        guard isDone, count == codeCount else { throw Self.failure }
        return unsafe page[contentEnd..<contentEnd + codeCount].elementsEqual(code.prefix(codeCount))
    }

    /// The content of a page, without what the cipher keeps at its end; of the first page from its 17th byte on.
    package func decrypted(_ page: UnsafeRawBufferPointer, number: Int) throws -> [UInt8] {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Self.failure }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let start = number == 1 ? FileHeader.count : 0
        let end = contentEnd - Self.startValueCount
        let content = unsafe UnsafeRawBufferPointer(rebasing: page[start..<end])
        var plain = [UInt8](repeating: 0, count: content.count)
        var count: Int32 = 0
        let isDone = unsafe key.withUnsafeBytes { key in
            let keyBytes = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let startValue = unsafe page.baseAddress?.advanced(by: end).assumingMemoryBound(to: UInt8.self)
            let bytes = unsafe content.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe EVP_DecryptInit_ex(context, EVP_aes_256_cbc(), nil, keyBytes, startValue) == 1
                && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                && EVP_DecryptUpdate(context, &plain, &count, bytes, Int32(content.count)) == 1
        }
        guard isDone, count == content.count else { throw Self.failure }
        return plain
    }

    private static let startValueCount = 16

    private static var failure: StoreError {
        StoreError(.internal, "Libcrypto did not check a page; look at its configuration and providers.")
    }

    /// The cipher derives this key from the other one with a salt that differs from the file's in fixed bits.
    package static func authenticationKey(
        from key: SecretBytes,
        salt: [UInt8],
        _ digest: String
    ) throws -> SecretBytes {
        let salt = salt.map { $0 ^ 0x3A }
        guard let algorithm = unsafe EVP_get_digestbyname(digest) else { throw failure }
        return unsafe try SecretBytes(count: KeyText.keyCount) { output in
            let isDone = unsafe key.withUnsafeBytes { key in
                let password = unsafe key.baseAddress?.assumingMemoryBound(to: CChar.self)
                let bytes = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return unsafe PKCS5_PBKDF2_HMAC(
                    password,
                    Int32(key.count),
                    salt,
                    Int32(salt.count),
                    2,
                    algorithm,
                    Int32(output.count),
                    bytes
                ) == 1
            }
            guard isDone else { throw failure }
        }
    }

    private static func withDigest(_ name: String, _ body: (UnsafePointer<OSSL_PARAM>) -> Bool) -> Bool {
        var name = Array(name.utf8CString)
        return unsafe name.withUnsafeMutableBufferPointer { name in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe parameters.withUnsafeBufferPointer { parameters in
                guard let base = parameters.baseAddress else { return false }
                return unsafe body(base)
            }
        }
    }
}
