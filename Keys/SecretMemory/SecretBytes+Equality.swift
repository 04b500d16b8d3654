import CLibCrypto

extension SecretBytes: Equatable {
    /// Returns whether two secrets hold the same bytes, in a time that depends on their sizes only.
    public static func == (lhs: SecretBytes, rhs: SecretBytes) -> Bool {
        guard lhs.count == rhs.count else { return false }
        return unsafe lhs.withUnsafeBytes { left in
            unsafe rhs.withUnsafeBytes { right in
                unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }
}
