/// What to do about a database that exists, or does not.
public enum OpenMode: Sendable, Hashable {
    /// Open the database, or create it when there is none.
    case openOrCreate
    /// Open the database; a missing one is `StoreError.Code.notFound`.
    case openExisting
    /// Create the database; one that is there already is `StoreError.Code.alreadyExists`.
    case createNew
}

/// How an ``EncryptedStore`` trades memory and speed against safety.
public struct EncryptedStoreOptions: Sendable, Hashable {
    /// What a write waits for before it returns.
    public enum Durability: Sendable, Hashable {
        /// The disk: a write that returned survives a power failure.
        case full
        /// The operating system: a write that returned survives the end of the process; after a power failure the
        /// last writes may be gone, as a whole and in order. The closure of a write may run on a thread of the cooperative
        /// pool, and must not wait for other tasks.
        case normal
    }

    /// What a write waits for.
    public var durability = Durability.full

    /// How much of the database each connection may keep in memory, in KiB. Too little makes bulk writes several times
    /// slower.
    public var cacheKibibytes = 16_384

    /// How many reads can run at the same time; less than 1 counts as 1. Each has its own cache.
    public var readerCount = 2

    /// Whether the key is known to be the right one, because a key file vouches for it.
    ///
    /// What cannot be decrypted is then reported as `StoreError.Code.damaged` instead of
    /// `StoreError.Code.wrongKey`, and the key is not tried on an untouched file first.
    public var keyIsVerified = false

    /// How long after the last commit the WAL is written back and emptied; nil leaves that to the limits of its
    /// length and to closing.
    ///
    /// Not public: a short time costs speed, and with a long one damage in the WAL costs more commits. Tests that look
    /// at the WAL choose one that no load on the machine can overtake.
    package var checkpointDelay: Duration? = .milliseconds(500)

    /// The default options.
    public init() {}
}
