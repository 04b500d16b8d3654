/// Texts by their UTF-8 bytes, where they lie: `==` and `hash(into:)` of `String` take composed and decomposed accents for
/// the same.
extension String {
    /// Whether the bytes are the same.
    package func hasSameBytes(as other: String) -> Bool {
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { mine in
            unsafe other.utf8.withContiguousStorageIfAvailable { theirs in
                unsafe mine.count == theirs.count && mine.elementsEqual(theirs)
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Hashes the bytes.
    package func hashBytes(into hasher: inout Hasher) {
        let isHashed: Void? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        // A text that is not stored as UTF-8 comes from Foundation.
        if isHashed == nil { unsafe Array(utf8).withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
    }
}
