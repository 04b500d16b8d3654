import CLibCrypto
package import SecretMemory

/// Where salts, nonces, identifiers and keys come from: libcrypto, or fixed bytes for a test vector.
package struct RandomSource: Sendable {
    private let secret: @Sendable (Int) throws -> SecretBytes
    private let bytes: @Sendable (Int) throws -> [UInt8]

    /// Creates a source from two closures that give a number of secret and of public bytes.
    package init(
        secret: @escaping @Sendable (Int) throws -> SecretBytes,
        bytes: @escaping @Sendable (Int) throws -> [UInt8]
    ) {
        self.secret = secret
        self.bytes = bytes
    }

    /// The generators of libcrypto; the one for public bytes is separate, so that it gives nothing away.
    package static let system = RandomSource(
        secret: { count in try SecretBytes.random(count: count) },
        bytes: { count in
            var bytes = [UInt8](repeating: 0, count: count)
            guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else { throw KeyError.libcrypto("random bytes") }
            return bytes
        }
    )

    func makeSecret() throws -> SecretBytes {
        try secret(AES256GCM.keyCount)
    }

    func makeBytes(_ count: Int) throws -> [UInt8] {
        try bytes(count)
    }

    func makeIdentifier() throws -> RandomIdentifier {
        try RandomIdentifier(bytes: bytes(RandomIdentifier.count))
    }
}
