/// Which ids of rows can be part of an address.
package enum RowAddress {
    /// Why no address can name a row with this id, as the end of a sentence; nil when one can.
    ///
    /// Percent-encoding does not help: servers and what is in front of them decode a slash before they split the path,
    /// take dots for a way up, and refuse control characters.
    package static func problem(of id: String) -> String? {
        if id.isEmpty {
            "it is empty"
        } else if id == "." || id == ".." {
            "it is a path of its own"
        } else if id.utf8.contains(UInt8(ascii: "/")) {
            // With an accent behind it, it is another character and the same byte.
            "it contains a slash"
        } else if id.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
            "it contains a control character"
        } else {
            nil
        }
    }
}
