import CLibCrypto
package import SecretMemory
import SyncContract

/// What the header of a store says of its key: enough to tell another key, and nothing that helps to find this one.
package enum KeyFingerprint {
    /// The number of bytes.
    package static let count = 4

    /// The first bytes of HMAC-SHA256 under the key of "SealedSync database 1".
    ///
    /// - Throws: `StoreError` with code `internal` when libcrypto fails.
    package static func make(of key: SecretBytes) throws -> [UInt8] {
        let text = Array("SealedSync database 1".utf8)
        var code = [UInt8](repeating: 0, count: 32)
        var codeCount = 0
        let isDone = unsafe key.withUnsafeBytes { key in
            unsafe EVP_Q_mac(
                nil,
                "HMAC",
                nil,
                "SHA256",
                nil,
                key.baseAddress,
                key.count,
                text,
                text.count,
                &code,
                code.count,
                &codeCount
            ) != nil
        }
        guard isDone, codeCount == code.count else {
            throw StoreError(.internal, "libcrypto did not compute HMAC-SHA256; is the library complete?")
        }
        return Array(code.prefix(count))
    }
}
