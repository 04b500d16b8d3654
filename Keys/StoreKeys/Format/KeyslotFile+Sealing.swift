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
    /// The pending data key is that of a rotation in progress; no version starts one yet.
    package init(
        sealing rootKey: SecretBytes,
        dataKey: SecretBytes,
        pendingDataKey: SecretBytes? = nil,
        storeID: RandomIdentifier,
        slots newSlots: [NewSlot],
        createdMilliseconds created: Int64,
        random: RandomSource
    ) throws {
        let revision: UInt64 = 1
        let slots = try newSlots.map { newSlot in
            try Self.seal(rootKey, into: newSlot, storeID: storeID, created: created, random: random)
        }
        let wrappingKey = try Self.dataKeyWrappingKey(from: rootKey, storeID: storeID)
        var dataKeys: [WrappedDataKey] = []
        for (role, key) in [(WrappedDataKey.Role.current, Optional(dataKey)), (.pending, pendingDataKey)] {
            guard let key else { continue }
            var wrapped = WrappedDataKey(
                role: role,
                id: try random.makeIdentifier(),
                createdMilliseconds: created,
                nonce: try random.makeBytes(AES256GCM.nonceCount)
            )
            wrapped.wrappedKey = try AES256GCM.seal(
                key,
                key: wrappingKey,
                nonce: wrapped.nonce,
                associatedData: Self.associatedPrefix(storeID: storeID) + wrapped.header
            )
            dataKeys.append(wrapped)
        }
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

    private static func seal(
        _ rootKey: SecretBytes,
        into newSlot: NewSlot,
        storeID: RandomIdentifier,
        created: Int64,
        random: RandomSource
    ) throws -> Keyslot {
        var slot = Keyslot(
            id: try random.makeIdentifier(),
            kind: newSlot.kind,
            label: newSlot.label,
            createdMilliseconds: created,
            parameters: newSlot.enrollment.parameters,
            nonce: try random.makeBytes(AES256GCM.nonceCount)
        )
        slot.wrappedRootKey = try AES256GCM.seal(
            rootKey,
            key: slotWrappingKey(from: newSlot.enrollment.secret, storeID: storeID, slotID: slot.id),
            nonce: slot.nonce,
            associatedData: associatedPrefix(storeID: storeID) + slot.header
        )
        return slot
    }
}
