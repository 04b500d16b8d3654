import SQLCipherStore

/// The settings that a store's file is encrypted with. A file says in clear which ones it has.
public struct StoreFormat: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number in the file. A higher one is newer.
    public let number: Int

    init(_ format: FileHeader.Format) { number = Int(format.rawValue) }

    /// SQLCipher 3's settings with pages of 4096 bytes: AES-256 and HMAC-SHA1. Readable with SQLCipher 3 and later.
    public static let sqlcipher3 = StoreFormat(.sqlcipher3)

    /// SQLCipher 4's settings: AES-256 and HMAC-SHA512. Readable with SQLCipher 4 and later.
    public static let sqlcipher4 = StoreFormat(.sqlcipher4)

    /// Every format this version knows, the oldest first.
    public static let all = [sqlcipher3, sqlcipher4]

    /// Compares by age.
    public static func < (left: StoreFormat, right: StoreFormat) -> Bool { left.number < right.number }

    /// The number and the oldest library that reads it.
    public var description: String { "\(number) (SQLCipher \(number == 1 ? 3 : 4))" }
}
