/// A row's id, compared by its UTF-8 bytes.
///
/// Swift's strings are equal when they are canonically equivalent; a server's ids are not.
struct RowID: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
    }

    static func == (first: RowID, second: RowID) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    static func < (first: RowID, second: RowID) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // The bytes lie together, so this takes all of them at once.
        unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        hasher.combine(0xff as UInt8)
    }
}
