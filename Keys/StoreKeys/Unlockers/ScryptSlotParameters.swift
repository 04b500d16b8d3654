/// The parameters of a slot of the kind `passphrase-scrypt`.
package struct ScryptSlotParameters: Hashable, Sendable {
    package static let saltCount = 16

    package let cost: ScryptCost
    package let salt: [UInt8]

    package init(cost: ScryptCost, salt: [UInt8]) {
        self.cost = cost
        self.salt = salt
    }

    /// Takes a slot's parameters apart, and refuses costs above the limits for reading.
    package init(decoding bytes: [UInt8]) throws(KeyError) {
        var reader = ByteReader(bytes)
        let log2N = try Int(reader.integer(UInt8.self))
        let blockSize = try Int(reader.integer(UInt32.self))
        let parallelization = try Int(reader.integer(UInt32.self))
        cost = ScryptCost(unchecked: log2N, blockSize, parallelization)
        salt = try reader.bytes(Self.saltCount)
        guard reader.isAtEnd else { throw .damaged("A slot's parameters are too long.") }
        try cost.validateForReading()
    }

    /// One byte for the logarithm of N, four each for r and p, and the salt.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(integer: UInt8(truncatingIfNeeded: cost.log2N))
        writer.append(integer: UInt32(truncatingIfNeeded: cost.blockSize))
        writer.append(integer: UInt32(truncatingIfNeeded: cost.parallelization))
        writer.append(salt)
        return writer.bytes
    }
}
