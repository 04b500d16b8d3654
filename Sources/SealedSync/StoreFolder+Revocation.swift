import Attachments
public import SQLCipherMaintenance
import SecretMemory
public import StoreKeys

extension StoreFolder {
    /// Renews every key of the store: the root key, which needs the unlockers of all slots that stay, and the data key,
    /// for which the database is encrypted anew.
    ///
    /// Whoever kept a copy of an older keyslot file, and a secret that opened it, still reads the copies of the database
    /// that they have, and nothing that is written from now on. The store must not be open; space for a second copy of the
    /// database is needed. The durable steps, in order:
    ///
    /// 1. The database under the new data key lies beside the old one, whole and read back.
    /// 2. The keyslot file has the new root key, in the slots that stay, and the new data key as the pending one.
    /// 3. The new database takes the old one's place.
    /// 4. The new data key is the only one in the keyslot file.
    ///
    /// A kill, a full disk, a cancelled task or a store in use before the second step leave everything as it was. An error
    /// after that step says in its message that the slots have changed; then, as after a kill, the next ``unlock(_:)`` or opening does what is left. Only when the new database got lost in the moment before
    /// the third step, or another program has written to the old one since, the slots are as they are to be and the
    /// database is under the old data key: then ``/StoreKeys/KeyslotFile/isRotationOverdue`` is true until the next
    /// rotation, and ``rotateDataKey(_:progress:)`` will do for that.
    ///
    /// The new database says of every attachment that its key could be read in the old one: each is encrypted anew when the
    /// store is opened with attachments next, or by ``reencryptAttachments(_:progress:)``.
    ///
    /// - Parameters:
    ///   - unlockers: The unlockers to keep; each must open a slot, and every slot that one of them opens is kept.
    ///   - dropMissing: Whether slots that none of them opens are dropped; otherwise these are an error.
    ///   - progress: Is told how far the database has come.
    /// - Returns: The keys from now on, and what became of the slots.
    /// - Throws: `StoreError` as ``rotateDataKey(_:progress:)``; `KeyError` as
    ///   ``/StoreKeys/Keyslots/rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)``, with code `missingUnlocker`
    ///   when an unlocker is missing: the message names the slots. `CancellationError` before the second step.
    @discardableResult
    public func rotateKeys(
        keeping unlockers: [any StoreUnlocker],
        dropMissing: Bool = false,
        progress: StoreProgressHandler? = nil
    ) async throws -> KeyRotation {
        try await rotateKeys(keeping: unlockers, dropMissing: dropMissing, at: rotationPlace, progress)
    }

    /// Takes the way in from slots whose secrets have leaked: removes them and renews every key of the store, in one run
    /// as said for ``rotateKeys(keeping:dropMissing:progress:)``.
    ///
    /// - Parameters:
    ///   - slots: The slots to revoke, at least one. An id names the same slot as long as that exists, also when a call is
    ///     repeated that was interrupted.
    ///   - authorizer: An unlocker that opens the store now, be it with a slot that is revoked. It is not needed when one of
    ///     the others opens the store.
    ///   - unlockers: The unlockers of the slots that stay. One that opens only slots to be revoked is refused.
    ///   - replacement: What gets a slot in the place of the first one that is revoked; its secret must be another one.
    ///   - dropMissing: Whether slots that none of the unlockers opens are dropped; otherwise these are an error.
    ///   - progress: Is told how far the database has come.
    /// - Returns: The keys from now on, and what became of the slots.
    /// - Throws: As ``rotateKeys(keeping:dropMissing:progress:)``; `KeyError` as
    ///   ``/StoreKeys/Keyslots/revoke(_:authorizedBy:keeping:replacement:dropMissing:isEncryptedWith:reencrypt:)``.
    @discardableResult
    public func revoke(
        _ slots: [Keyslot.ID],
        authorizedBy authorizer: (any StoreUnlocker)? = nil,
        keeping unlockers: [any StoreUnlocker],
        replacement: (any StoreUnlocker)? = nil,
        dropMissing: Bool = false,
        progress: StoreProgressHandler? = nil
    ) async throws -> KeyRotation {
        try await revoke(
            slots,
            authorizedBy: authorizer,
            keeping: unlockers,
            replacement: replacement,
            dropMissing: dropMissing,
            at: rotationPlace,
            progress
        )
    }

    /// A keyslot file and a database whose steps a test may watch.
    package typealias RotationPlace = (keyslots: Keyslots, file: StoreFile)

    private var rotationPlace: RotationPlace { (keyslots, vouchedFile) }

    package func rotateKeys(
        keeping unlockers: [any StoreUnlocker],
        dropMissing: Bool,
        at place: RotationPlace,
        _ progress: StoreProgressHandler?
    ) async throws -> KeyRotation {
        try await recoveringRotation(with: unlockers) { course in
            try await place.keyslots.rotateKeys(
                keeping: unlockers,
                dropMissing: dropMissing,
                isEncryptedWith: { try await place.file.isEncrypted(with: $0) },
                reencrypt: { try await rekey(place.file, from: $0, to: $1, committing: $2, course, progress) }
            )
        }
    }

    package func revoke(
        _ slots: [Keyslot.ID],
        authorizedBy authorizer: (any StoreUnlocker)?,
        keeping unlockers: [any StoreUnlocker],
        replacement: (any StoreUnlocker)?,
        dropMissing: Bool,
        at place: RotationPlace,
        _ progress: StoreProgressHandler?
    ) async throws -> KeyRotation {
        try await recoveringRotation(
            with: [authorizer].compactMap(\.self) + unlockers + [replacement].compactMap(\.self)
        ) { course in
            try await place.keyslots.revoke(
                slots,
                authorizedBy: authorizer,
                keeping: unlockers,
                replacement: replacement,
                dropMissing: dropMissing,
                isEncryptedWith: { try await place.file.isEncrypted(with: $0) },
                reencrypt: { try await rekey(place.file, from: $0, to: $1, committing: $2, course, progress) }
            )
        }
    }

    /// The files whose keys could be read with the data key so far, and are to be encrypted anew for that.
    static var exposedFiles: StoreMark { StoreMark(AttachmentFiles.table, AttachmentFiles.exposure) }

    /// Encrypts the database anew. The commit of the slots comes when the new one is whole, right before it takes its
    /// place.
    private func rekey(
        _ file: StoreFile,
        from old: SecretBytes,
        to new: SecretBytes,
        committing commit: @escaping Keyslots.RotationCommit,
        _ course: RotationCourse,
        _ progress: StoreProgressHandler?
    ) async throws {
        course.begin()
        try await file.rekey(
            from: old,
            to: new,
            progress: progress,
            marking: Self.exposedFiles,
            beforeReplacing: course.noting(commit)
        )
    }
}
