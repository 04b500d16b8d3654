import SecretMemory

extension KeyslotFile {
    /// The next revision of the file, with other slots, under the root key it has.
    func replacingSlots(_ slots: [Keyslot], rootKey: SecretBytes) throws -> KeyslotFile {
        try next(slots: slots, dataKeys: dataKeys, rootKey: rootKey)
    }

    /// The next revision, with a data key that a rotation is about to change the database to.
    func addingPendingDataKey(_ key: NewDataKey, rootKey: SecretBytes, random: RandomSource) throws -> KeyslotFile {
        let pending = try Self.wrap(key, as: .pending, under: rootKey, storeID: storeID, random: random)
        return try next(slots: slots, dataKeys: [dataKeys[0], pending], rootKey: rootKey)
    }

    /// The next revision, in which the pending data key is the current one, and the one before is no more.
    func promotingPendingDataKey(rootKey: SecretBytes, random: RandomSource) throws -> KeyslotFile {
        let promoted = try dataKeys.dropFirst().map { try rewrapping($0, as: .current, rootKey, rootKey, random) }
        return try next(slots: slots, dataKeys: promoted, rootKey: rootKey)
    }

    /// The next revision, without the pending data key.
    func droppingPendingDataKey(rootKey: SecretBytes) throws -> KeyslotFile {
        try next(slots: slots, dataKeys: [dataKeys[0]], rootKey: rootKey)
    }

    /// The next revision, with the same data keys under a new root key, which only the given slots have.
    func renewingRootKey(
        from rootKey: SecretBytes,
        to newRootKey: SecretBytes,
        slots: [Keyslot],
        random: RandomSource
    ) throws -> KeyslotFile {
        let dataKeys = try dataKeys.map { try rewrapping($0, as: $0.role, rootKey, newRootKey, random) }
        return try next(slots: slots, dataKeys: dataKeys, rootKey: newRootKey)
    }

    /// The next revision, with a rotation to a new data key under a new root key, which only the given slots have.
    ///
    /// The role is that of the data key which opens the database; the other one, left by an interrupted rotation, goes.
    /// The one that stays is overdue until the new one takes its place. The root key so far never wraps the new data key.
    func beginningRotation(
        to new: NewDataKey,
        from role: WrappedDataKey.Role,
        rootKey: SecretBytes,
        newRootKey: SecretBytes,
        slots: [Keyslot],
        random: RandomSource
    ) throws -> KeyslotFile {
        let current = try dataKeys.first { $0.role == role }
            .map { try rewrapping($0, as: .current, isOverdue: true, rootKey, newRootKey, random) }
        let pending = try Self.wrap(new, as: .pending, under: newRootKey, storeID: storeID, random: random)
        return try next(slots: slots, dataKeys: [current, pending].compactMap(\.self), rootKey: newRootKey)
    }

    private func rewrapping(
        _ wrapped: WrappedDataKey,
        as role: WrappedDataKey.Role,
        isOverdue: Bool = false,
        _ rootKey: SecretBytes,
        _ newRootKey: SecretBytes,
        _ random: RandomSource
    ) throws -> WrappedDataKey {
        guard let key = try dataKey(wrapped.role, rootKey: rootKey) else {
            throw KeyError.damaged("A data key is out of place.")
        }
        let time = wrapped.createdMilliseconds
        let created = isOverdue && time >= 0 ? -max(1, time) : time
        let new = NewDataKey(key: key, id: wrapped.id, createdMilliseconds: created)
        return try Self.wrap(new, as: role, under: newRootKey, storeID: storeID, random: random)
    }

    private func next(slots: [Keyslot], dataKeys: [WrappedDataKey], rootKey: SecretBytes) throws -> KeyslotFile {
        guard revision < .max else { throw KeyError.damaged("It cannot have been written so often.") }
        return try KeyslotFile(
            storeID: storeID,
            revision: revision + 1,
            slots: slots,
            dataKeys: dataKeys,
            authenticatedWith: rootKey
        )
    }
}
