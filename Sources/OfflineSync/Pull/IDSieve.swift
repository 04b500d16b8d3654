internal import SyncContract

/// Tells quickly that all ids of a page are different: by their hashes, which are made of the bytes without the case of
/// letters. Different ids may look the same; the same id never looks different.
struct IDSieve {
    /// Zero is a free slot.
    private var slots: [UInt64]

    /// Room for as many ids: a quarter of the slots is taken at most.
    init(count: Int) {
        var size = 16
        while size < 4 * count { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
    }

    /// Whether an id, or one that looks like it, was asked about before.
    mutating func mayHave(_ id: RecordID) -> Bool {
        let hash = Self.hash(id)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash >> 32) & mask
        while slots[slot] != 0 {
            if slots[slot] == hash { return true }
            slot = (slot + 1) & mask
        }
        slots[slot] = hash
        return false
    }

    /// FNV-1a, mixed once more because its upper bits say little of short texts.
    private static func hash(_ id: RecordID) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        switch id {
        case .string(let text):
            for byte in text.utf8 { hash = (hash ^ UInt64(byte | 0x20)) &* 0x0000_0100_0000_01b3 }
        case .int64(let number):
            hash = (hash ^ UInt64(bitPattern: number)) &* 0x0000_0100_0000_01b3
        }
        hash ^= hash >> 29
        hash = hash &* 0xbf58_476d_1ce4_e5b9
        return hash | 1
    }
}
