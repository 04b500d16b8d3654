/// The query of an address: names as they are, values percent-encoded, in the order they were added.
struct QueryText: Sendable, Hashable {
    private(set) var text = ""

    var isEmpty: Bool { text.isEmpty }

    /// Adds a pair; a missing value adds nothing.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (text.isEmpty ? "" : "&") + name + "=" + PercentEncoding.value(value)
    }
}

enum PercentEncoding {
    /// A text with every byte but the unreserved ones of RFC 3986 (section 2.3) percent-encoded.
    static func value(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default: result += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
