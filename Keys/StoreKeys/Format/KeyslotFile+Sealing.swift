package import SecretMemory

/// A slot about to be sealed: an unlocker's kind and label, and the secret it made for the slot.
package struct NewSlot: Sendable {
    let kind: SlotKind
    let label: String
    let enrollment: SlotEnrollment

    package init(kind: SlotKind, label: String, enrollment: SlotEnrollment) {
        self.kind = kind
        self.label = label
        self.enrollment = enrollment
    }
}

extension KeyslotFile {
    /// Seals the root key into slots, the data keys under the root key, and the whole under its authentication code.
    ///
    /// The pending data key is that of a rotation in progress.
    package init(
        sealing rootKey: SecretBytes,
        dataKey: SecretBytes,
        pendingDataKey: SecretBytes? = nil,
        storeID: RandomIdentifier,
        slots newSlots: [NewSlot],
        createdMilliseconds created: Int64,
        random: RandomSource
    ) throws {
        let slots = try newSlots.map { newSlot in
            try Self.seal(rootKey, into: newSlot, storeID: storeID, created: created, random: random)
        }
        var dataKeys: [WrappedDataKey] = []
        for (role, key) in [(WrappedDataKey.Role.current, Optional(dataKey)), (.pending, pendingDataKey)] {
            guard let key else { continue }
            let new = NewDataKey(key: key, id: try random.makeIdentifier(), createdMilliseconds: created)
            dataKeys.append(try Self.wrap(new, as: role, under: rootKey, storeID: storeID, random: random))
        }
        try self.init(storeID: storeID, revision: 1, slots: slots, dataKeys: dataKeys, authenticatedWith: rootKey)
    }

    /// Puts a file together from sealed parts.
    init(
        storeID: RandomIdentifier,
        revision: UInt64,
        slots: [Keyslot],
        dataKeys: [WrappedDataKey],
        authenticatedWith rootKey: SecretBytes
    ) throws {
        let authenticatedBytes = Self.authenticatedBytes(
            storeID: storeID,
            revision: revision,
            slots: slots,
            dataKeys: dataKeys
        )
        self.storeID = storeID
        self.revision = revision
        self.slots = slots
        self.dataKeys = dataKeys
        self.authenticatedBytes = authenticatedBytes
        authenticationCode = try SHA256.authenticationCode(
            for: authenticatedBytes,
            key: Self.authenticationKey(from: rootKey, storeID: storeID)
        )
    }

    /// Seals the root key into a new slot.
    static func seal(
        _ rootKey: SecretBytes,
        into newSlot: NewSlot,
        storeID: RandomIdentifier,
        created: Int64,
        random: RandomSource
    ) throws -> Keyslot {
        let slot = Keyslot(
            id: try random.makeIdentifier(),
            kind: newSlot.kind,
            label: newSlot.label,
            createdMilliseconds: created,
            parameters: newSlot.enrollment.parameters,
            nonce: []
        )
        return try seal(rootKey, into: slot, secret: newSlot.enrollment.secret, storeID: storeID, random: random)
    }

    /// Seals a root key into a slot that is otherwise as it was, with the secret that opened it.
    static func seal(
        _ rootKey: SecretBytes,
        into slot: Keyslot,
        secret: SecretBytes,
        storeID: RandomIdentifier,
        random: RandomSource
    ) throws -> Keyslot {
        let nonce = try random.makeBytes(AES256GCM.nonceCount)
        return Keyslot(
            id: slot.id,
            kind: slot.kind,
            label: slot.label,
            createdMilliseconds: slot.createdMilliseconds,
            parameters: slot.parameters,
            nonce: nonce,
            wrappedRootKey: try AES256GCM.seal(
                rootKey,
                key: slotWrappingKey(from: secret, storeID: storeID, slotID: slot.id),
                nonce: nonce,
                associatedData: associatedPrefix(storeID: storeID) + slot.header
            )
        )
    }

    /// Wraps a data key under the root key.
    static func wrap(
        _ dataKey: NewDataKey,
        as role: WrappedDataKey.Role,
        under rootKey: SecretBytes,
        storeID: RandomIdentifier,
        random: RandomSource
    ) throws -> WrappedDataKey {
        var wrapped = WrappedDataKey(
            role: role,
            id: dataKey.id,
            createdMilliseconds: dataKey.createdMilliseconds,
            nonce: try random.makeBytes(AES256GCM.nonceCount)
        )
        wrapped.wrappedKey = try AES256GCM.seal(
            dataKey.key,
            key: dataKeyWrappingKey(from: rootKey, storeID: storeID),
            nonce: wrapped.nonce,
            associatedData: associatedPrefix(storeID: storeID) + wrapped.header
        )
        return wrapped
    }
}
