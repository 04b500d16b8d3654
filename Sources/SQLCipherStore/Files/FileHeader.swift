package import SecretMemory
package import SyncContract

/// What the first 16 bytes of a store say in clear: that it is one, with which settings it is encrypted, and with which key.
///
/// They are SQLCipher's salt. With a raw key the salt need not be random: half of it names the format, four bytes are random,
/// and four name the key. Those are random, too, in stores that were made before headers named keys, until they are rewritten.
package struct FileHeader: Sendable {
    /// The settings a store is encrypted with.
    package enum Format: UInt8, Sendable, CaseIterable {
        /// SQLCipher 3's, with pages of 4096 bytes.
        case sqlcipher3 = 1
        /// SQLCipher 4's.
        case sqlcipher4 = 2
    }

    /// The size of a database page, in every format.
    package static let pageSize = 4_096

    /// The number of bytes.
    package static let count = 16

    /// What every store begins with.
    package static let magic: [UInt8] = [0xD3] + Array("SealDB".utf8)

    /// The first bytes of an SQLite database without encryption.
    package static let plainHeader = Array("SQLite format 3\0".utf8)

    /// The salt as a whole.
    package let bytes: [UInt8]

    /// The settings.
    package let format: Format

    /// Whether the last bytes name the key.
    package let namesKey: Bool

    /// Says beside the number of the format that the last bytes name the key.
    private static let keyFlag: UInt8 = 0x80

    /// The header of a new store.
    package init(new format: Format, key: SecretBytes) throws {
        bytes = try Self.magic + [format.rawValue | Self.keyFlag] + Self.random() + KeyFingerprint.make(of: key)
        self.format = format
        namesKey = true
    }

    private init(_ bytes: [UInt8], _ format: Format, namesKey: Bool = true) {
        (self.bytes, self.format, self.namesKey) = (bytes, format, namesKey)
    }

    private static func random() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// A header of another file with the same format and key.
    package var renewed: FileHeader {
        let start = Self.magic.count + 1
        var bytes = bytes
        repeat { bytes.replaceSubrange(start..<start + 4, with: Self.random()) } while bytes == self.bytes
        return FileHeader(bytes, format, namesKey: namesKey)
    }

    /// The header that names a key, and is otherwise as this one.
    package func naming(_ key: SecretBytes) throws -> FileHeader {
        try FileHeader(bytes.dropLast(KeyFingerprint.count) + KeyFingerprint.make(of: key), format)
    }

    /// Whether the store was made with a key; nil when the header does not say.
    package func isMade(with key: SecretBytes) throws -> Bool? {
        try namesKey ? endsAsMade(with: key) : nil
    }

    /// Whether the last bytes name a key, if they do name one.
    package func endsAsMade(with key: SecretBytes) throws -> Bool {
        try bytes.suffix(KeyFingerprint.count).elementsEqual(KeyFingerprint.make(of: key))
    }

    /// Reads the first bytes of the file at a path, which the errors name.
    ///
    /// - Throws: ``StoreError/Code/unsupportedFormat`` for an unencrypted SQLite database and for a format of a newer
    ///   version; ``StoreError/Code/damaged`` for anything else that is not the start of a store.
    package init(reading bytes: [UInt8], of path: String) throws(StoreError) {
        guard bytes.count >= Self.count else { throw Self.wrongLength(of: path) }
        let bytes = Array(bytes.prefix(Self.count))
        guard bytes != Self.plainHeader else {
            throw StoreError(
                .unsupportedFormat,
                "'\(path)' is an SQLite database without encryption; make a store of it with 'StoreFile.encrypt'."
            )
        }
        guard bytes.starts(with: Self.magic) else {
            throw StoreError(
                .damaged,
                "'\(path)' is not a SealedSync database, or its first bytes are damaged; \(StoreError.restoring)."
            )
        }
        guard let format = Format(rawValue: bytes[Self.magic.count] & ~Self.keyFlag) else {
            throw StoreError(
                .unsupportedFormat,
                "The store at '\(path)' has format \(bytes[Self.magic.count]), which this version does not know; use a"
                    + " newer version."
            )
        }
        self.bytes = bytes
        self.format = format
        namesKey = bytes[Self.magic.count] & Self.keyFlag != 0
    }

    /// The error for a file whose first bytes are not those that the key would have made.
    package static func damaged(of path: String) -> StoreError {
        StoreError(.damaged, "The first \(count) bytes of '\(path)' are damaged; \(StoreError.restoring).")
    }

    /// The error for a file that has lost its end, or has gained something behind it.
    static func wrongLength(of path: String) -> StoreError {
        StoreError(.damaged, "'\(path)' has lost its end or has grown from outside; \(StoreError.restoring).")
    }
}
