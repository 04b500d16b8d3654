extension KeyslotFile {
    /// Takes a file's bytes apart.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if the checksum or any field is not right, or `newerFormat`.
    package init(decoding bytes: [UInt8]) throws(KeyError) {
        // Every format, also a later one, begins with the magic and the number and ends with the checksum. So a file
        // that says it is newer is believed only if the checksum agrees: a damaged number is damage.
        guard bytes.starts(with: Self.magic), bytes.count > Self.magic.count + SHA256.digestCount else {
            throw .damaged("It does not begin like one, or is too short.")
        }
        let content = Array(bytes.dropLast(SHA256.digestCount))
        guard try SHA256.areEqual(SHA256.hash(content), Array(bytes.suffix(SHA256.digestCount))) else {
            throw .damaged("Its checksum does not agree with its content.")
        }
        var reader = ByteReader(content.dropFirst(Self.magic.count))
        let format = try reader.integer(UInt16.self)
        guard format <= Self.format else {
            throw KeyError(
                .newerFormat,
                "The keyslot file has format \(format); this version reads up to \(Self.format). Update the app."
            )
        }
        guard format == Self.format else { throw .damaged("There is no format \(format).") }

        storeID = try reader.identifier()
        revision = try reader.integer()
        slots = try Self.slots(from: &reader)
        dataKeys = try Self.dataKeys(from: &reader)
        authenticationCode = try reader.bytes(SHA256.digestCount)
        guard reader.isAtEnd else { throw .damaged("Bytes are left over in it.") }
        authenticatedBytes = Array(content.dropLast(SHA256.digestCount))
    }

    private static func slots(from reader: inout ByteReader) throws(KeyError) -> [Keyslot] {
        let count = try Int(reader.integer(UInt8.self))
        guard (1...maximumSlotCount).contains(count) else { throw .damaged("It has \(count) slots.") }
        var slots: [Keyslot] = []
        for _ in 0..<count {
            let id = try reader.identifier()
            guard !slots.contains(where: { $0.id == id }) else { throw .damaged("Two slots have one identifier.") }
            guard let kind = try SlotKind(validating: reader.text()) else {
                throw .damaged("A slot's kind has no name.")
            }
            let label = try reader.text()
            let created = try reader.integer(Int64.self)
            let parameterCount = try Int(reader.integer(UInt16.self))
            guard parameterCount <= Limit.parameters else { throw .damaged("A slot's parameters are too long.") }
            slots.append(
                Keyslot(
                    id: id,
                    kind: kind,
                    label: label,
                    createdMilliseconds: created,
                    parameters: try reader.bytes(parameterCount),
                    nonce: try reader.bytes(AES256GCM.nonceCount),
                    wrappedRootKey: try reader.bytes(Limit.wrappedKey)
                )
            )
        }
        return slots
    }

    private static func dataKeys(from reader: inout ByteReader) throws(KeyError) -> [WrappedDataKey] {
        let count = try Int(reader.integer(UInt8.self))
        guard (1...Limit.dataKeys).contains(count) else { throw .damaged("It has \(count) data keys.") }
        var dataKeys: [WrappedDataKey] = []
        for index in 0..<count {
            // The current key comes first and the pending one, if any, second.
            let expected: WrappedDataKey.Role = index == 0 ? .current : .pending
            guard try reader.integer(UInt8.self) == expected.rawValue else {
                throw .damaged("A data key is out of place.")
            }
            dataKeys.append(
                WrappedDataKey(
                    role: expected,
                    id: try reader.identifier(),
                    createdMilliseconds: try reader.integer(),
                    nonce: try reader.bytes(AES256GCM.nonceCount),
                    wrappedKey: try reader.bytes(Limit.wrappedKey)
                )
            )
        }
        return dataKeys
    }
}
