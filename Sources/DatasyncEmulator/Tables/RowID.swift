/// A row's id, compared by its UTF-8 bytes.
///
/// Swift's strings are equal when they are canonically equivalent; a server's ids are not.
struct RowID: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (first: RowID, second: RowID) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    static func < (first: RowID, second: RowID) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 {
            hasher.combine(byte)
        }
        hasher.combine(0xff as UInt8)
    }
}
