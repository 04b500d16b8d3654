import Foundation
public import SQLCipherMaintenance
import SecretMemory
public import StoreKeys
import SyncContract
import Synchronization

extension StoreFolder {
    /// Rotates the data key: the store gets a new one, and its database is encrypted anew under it.
    ///
    /// **This shuts nobody out.** Whoever kept an older keyslot file and a secret that opened it has the root key, and
    /// unwraps the new data key as well. After a leak, use ``revoke(_:authorizedBy:keeping:replacement:dropMissing:progress:)`` or
    /// ``rotateKeys(keeping:dropMissing:progress:)``. This call is the routine one, for whoever can open one slot.
    ///
    /// The store must not be open; lock or close it first. One unlocker is enough, and every slot of the keyslot file
    /// keeps working. Space for a second copy of the database is needed. The durable steps, in order:
    ///
    /// 1. The new key is in the keyslot file, as the pending one.
    /// 2. The database under the new key lies beside the old one, whole and read back, and takes its place.
    /// 3. The new key is the only one in the keyslot file.
    ///
    /// A kill in between, a full disk or a cancelled task lose nothing: the database is under one of the two keys, and
    /// the next ``unlock(_:)`` or opening finds out which, keeps that and drops the other. Backups keep the key they were
    /// made with, in their own keyslot file.
    ///
    /// - Parameters:
    ///   - unlocker: An unlocker that opens the store.
    ///   - progress: Is told how far the database has come.
    /// - Returns: The keys from now on; keyrings that were opened before are outdated.
    /// - Throws: `StoreError` with code `notFound` when the folder has no store, `inUse` when it is open in this or
    ///   another process, and the others of ``/SQLCipherMaintenance/StoreFile/rekey(from:to:progress:)``; `KeyError` when the keys stay locked
    ///   or the keyslot file cannot be written, and with code `outdatedKeyslotFile` when it is not that of the database, after
    ///   which nothing has changed. The old key is then the store's, or, when only the very end failed, the
    ///   next opening finds the new one. `CancellationError`, with the old key, until the new database has its name.
    @discardableResult
    public func rotateDataKey(
        _ unlocker: any StoreUnlocker,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreKeyring {
        try await rotateDataKey(unlocker, keyslots, vouchedFile, progress)
    }

    /// The same, with a keyslot file and a database whose steps a test watches.
    package func rotateDataKey(
        _ unlocker: any StoreUnlocker,
        _ keyslots: Keyslots,
        _ file: StoreFile,
        _ progress: StoreProgressHandler?
    ) async throws -> StoreKeyring {
        try await recoveringRotation(with: [unlocker]) { course in
            try await keyslots.rotateDataKey(
                authorizedBy: unlocker,
                checking: { keyring in
                    let keys = try [keyring.dataKey, keyring.pendingDataKey].compactMap(\.self)
                    if try await file.namesOtherKey(than: keys) { throw outdatedKeyslotFile(cause: nil) }
                },
                reencrypt: { old, new in
                    course.begin()
                    if try await file.isEncrypted(with: new) { return }
                    // A revocation that was interrupted has lost its new database, and what was marked in it.
                    let isOverdue = try await KeyslotFile.read(at: keyslots.url).isRotationOverdue
                    try await file.rekey(
                        from: old,
                        to: new,
                        progress: progress,
                        marking: isOverdue ? Self.exposedFiles : nil,
                        beforeReplacing: nil
                    )
                }
            )
        }
    }

    /// Runs a rotation, and ends it when it fails after it has begun.
    func recoveringRotation<Value>(
        with unlockers: [any StoreUnlocker],
        _ body: (RotationCourse) async throws -> Value
    ) async throws -> Value {
        guard try hasDatabase else {
            throw StoreError(.notFound, "'\(url.path)' has no store; check the path.")
        }
        let course = RotationCourse()
        do {
            return try await body(course)
        } catch {
            // In a task of its own, since this one may be cancelled.
            if course.hasBegun { await Task { await recoverRotation(with: unlockers) }.value }
            if course.hasChangedSlots { throw Self.changedSlots(error) }
            // The keyslot file vouches for its key: the one that the database names is another file's.
            if let error = error as? StoreError, error.code == .wrongKey { throw outdatedKeyslotFile(cause: error) }
            throw error
        }
    }

    /// The error of a rotation that failed when its slots had changed: who repeats it must know.
    private static func changedSlots(_ error: any Error) -> any Error {
        let message =
            "The slots have changed already, and the root key with them; do not repeat the call. The next opening ends "
            + "what is left. What failed: "
        return switch error {
        case let error as StoreError: StoreError(error.code, message + error.message, cause: error)
        case let error as KeyError: KeyError(error.code, message + error.message, cause: error)
        default: error
        }
    }

    /// Ends a rotation with the first unlocker that opens the store as it is now.
    private func recoverRotation(with unlockers: [any StoreUnlocker]) async {
        for unlocker in unlockers {
            do {
                _ = try await unlock(unlocker)
                return
            } catch {
                // The next opening tries again; the caller gets the reason for the failure.
            }
        }
    }

    /// Runs an opening with the key of a keyring, and tells one that is out of date from a database that is damaged.
    func withCurrent<Value>(_ keyring: StoreKeyring, _ body: (SecretBytes) async throws -> Value) async throws -> Value
    {
        try await refuseOutdated(keyring)
        do {
            return try await body(keyring.dataKey)
        } catch let error as StoreError where error.code == .damaged {
            try await refuseOutdated(keyring)
            throw error
        } catch let error as StoreError where error.code == .wrongKey {
            try await refuseOutdated(keyring)
            throw outdatedKeyslotFile(cause: error)
        }
    }

    private func outdatedKeyslotFile(cause: StoreError?) -> KeyError {
        KeyError(
            .outdatedKeyslotFile,
            "The keyslot file in '\(url.path)' is whole, but not that of the database: the data key was rotated since, or one of "
                + "the two files comes from a backup. Put both back from the same one, into an empty folder; the database is not "
                + "damaged, and nothing was written.",
            cause: cause
        )
    }

    private func refuseOutdated(_ keyring: StoreKeyring) async throws {
        try refuse(keyring, outdatedFor: await KeyslotFile.read(at: keyslotsURL))
    }

    /// The same on the thread of the caller, who may wait: for the holder of the store's lock. Until that was taken, another
    /// process may have destroyed the keys, or have been killed in a rotation.
    func refuseOutdatedNow(_ keyring: StoreKeyring) throws {
        try refuse(keyring, outdatedFor: KeyslotFile.readBlocking(at: keyslotsURL))
    }

    private func refuse(_ keyring: StoreKeyring, outdatedFor file: KeyslotFile) throws(KeyError) {
        guard file.storeID == keyring.storeID else {
            throw KeyError(.wrongSecret, "The keyring is that of another store than the one in '\(url.path)'.")
        }
        // As long as a rotation has not come to its end, the database may be about to change over to the pending key, which an
        // older keyring does not know of: opened with that, the store would go on under the key that was to go.
        guard file.dataKeyID == keyring.dataKeyID, !file.isRotationPending || file.revision == keyring.revision else {
            throw KeyError(
                .outdatedKeyring,
                "The data key of the store in '\(url.path)' was rotated, or a rotation has not come to its end; unlock the store again."
            )
        }
    }
}

/// How far a rotation has come.
final class RotationCourse: Sendable {
    private let begun = Atomic(false)
    private let committed = Atomic(false)

    /// Whether the database is being encrypted anew.
    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Whether the keyslot file has its new slots, all under a new root key.
    var hasChangedSlots: Bool { committed.load(ordering: .acquiring) }

    func begin() { begun.store(true, ordering: .releasing) }

    /// A commit that is noted down here when it is done.
    func noting(_ commit: @escaping Keyslots.RotationCommit) -> Keyslots.RotationCommit {
        { [self] in
            do {
                try commit()
            } catch let error as KeyError where error.cause is UnprovenReplacement {
                // The keyslot file is the new one all the same, and the next opening goes by that.
                committed.store(true, ordering: .releasing)
                throw error
            }
            committed.store(true, ordering: .releasing)
        }
    }
}
