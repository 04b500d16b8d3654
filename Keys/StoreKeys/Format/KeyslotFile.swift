#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content of a keyslot file: which slots it has, and the wrapped keys, none of them opened.
///
/// `Keys/README.md` describes the format field by field. What can be read here without a secret (the store's
/// identifier, the slots' kinds and labels) is protected against accidents by the file's checksum, but proven to be
/// what was written only when a slot is opened.
public struct KeyslotFile: Sendable {
    /// The format this version writes, and the only one it reads.
    public static let format: UInt16 = 1

    /// The most slots a file can have.
    public static let maximumSlotCount = 32

    /// The largest file that is read, in bytes: one mebibyte.
    public static let maximumSize = 1 << 20

    /// The identifier of the store whose keys these are.
    public let storeID: RandomIdentifier
    /// How often the file was written; 1 for a new one.
    public let revision: UInt64
    /// The slots, in the order of the file; at least one.
    public let slots: [Keyslot]

    /// The identifier of the current data key; another one after each rotation.
    public var dataKeyID: RandomIdentifier { dataKeys[0].id }
    /// When the current data key was made, by the clock of the machine that made it.
    public var dataKeyCreated: Date { dataKeys[0].created }
    /// Whether the current data key should have been replaced already: a rotation with a new root key was interrupted
    /// after the slots had changed and before the database was encrypted anew. Whoever it was to shut out may have the
    /// key that the database is still under. The next rotation of any kind, to its end, mends that.
    public var isRotationOverdue: Bool { dataKeys[0].isOverdue }
    /// Whether a rotation of the data key was begun and not finished.
    public var isRotationPending: Bool { dataKeys.count > 1 }

    package let dataKeys: [WrappedDataKey]
    /// Everything before the authentication code, byte for byte.
    package let authenticatedBytes: [UInt8]
    package let authenticationCode: [UInt8]

    enum Limit {
        static let label = 255
        static let parameters = 8192
        static let dataKeys = 2
        static let wrappedKey = AES256GCM.keyCount + AES256GCM.tagCount
    }

    static let magic = Array("SSKEYS\r\n".utf8)
}
