/// What a rotation with a new root key has made of the store's keys and slots.
public struct KeyRotation: Sendable {
    /// The keys from now on; keyrings that were opened before are outdated.
    public let keyring: StoreKeyring
    /// The slots that were revoked, in the order of the file.
    public let revoked: [Keyslot]
    /// The slots that had to go because none of the unlockers at hand opens them.
    public let dropped: [Keyslot]
    /// The slots that are left, with the new root key in them.
    public let kept: [Keyslot]
    /// The slot that took the place of the first one that was revoked, if there is a replacement.
    public let added: Keyslot?
}

extension Keyslots {
    /// Writes what a rotation has prepared in the keyslot file, so that it is on the medium on return.
    ///
    /// To be called once, on a thread that may wait: when the database under the new key is whole and on the medium, and
    /// before it takes the place of the one under the old key. After it has thrown, the database must stay as it is.
    public typealias RotationCommit = @Sendable () throws -> Void
}
