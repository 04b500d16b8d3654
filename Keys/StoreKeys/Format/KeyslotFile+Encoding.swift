extension KeyslotFile {
    /// What begins every associated data: the format, so that nothing of one can be taken for another, and the store.
    static func associatedPrefix(storeID: RandomIdentifier) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(magic)
        writer.append(integer: format)
        writer.append(storeID.bytes)
        return writer.bytes
    }

    /// Everything before the authentication code.
    static func authenticatedBytes(
        storeID: RandomIdentifier,
        revision: UInt64,
        slots: [Keyslot],
        dataKeys: [WrappedDataKey]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(associatedPrefix(storeID: storeID))
        writer.append(integer: revision)
        writer.append(integer: UInt8(slots.count))
        for slot in slots {
            writer.append(slot.header)
            writer.append(slot.nonce)
            writer.append(slot.wrappedRootKey)
        }
        writer.append(integer: UInt8(dataKeys.count))
        for dataKey in dataKeys {
            writer.append(dataKey.header)
            writer.append(dataKey.nonce)
            writer.append(dataKey.wrappedKey)
        }
        return writer.bytes
    }

    /// The whole file.
    package func encoded() throws -> [UInt8] {
        let bytes = authenticatedBytes + authenticationCode
        return try bytes + SHA256.hash(bytes)
    }
}

extension Keyslot {
    /// The fields before the nonce, as they stand in the file.
    var header: [UInt8] {
        var writer = ByteWriter()
        writer.append(id.bytes)
        writer.append(integer: UInt8(kind.description.utf8.count))
        writer.append(kind.description.utf8)
        writer.append(integer: UInt8(label.utf8.count))
        writer.append(label.utf8)
        writer.append(integer: createdMilliseconds)
        writer.append(integer: UInt16(parameters.count))
        writer.append(parameters)
        return writer.bytes
    }
}

extension WrappedDataKey {
    /// The fields before the nonce, as they stand in the file.
    var header: [UInt8] {
        var writer = ByteWriter()
        writer.append(integer: role.rawValue)
        writer.append(id.bytes)
        writer.append(integer: createdMilliseconds)
        return writer.bytes
    }
}
