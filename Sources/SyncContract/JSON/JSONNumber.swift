/// The grammar of numbers (RFC 8259, section 6).
enum JSONNumber {
    static func canContain(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    static func isValid(_ text: some Collection<UInt8>) -> Bool {
        var rest = text.makeIterator()
        var next = rest.next()
        // Goes behind digits; false when there are none.
        func digits() -> Bool {
            guard let first = next, (48...57).contains(first) else { return false }
            while let byte = next, (48...57).contains(byte) { next = rest.next() }
            return true
        }
        if next == UInt8(ascii: "-") { next = rest.next() }
        if next == UInt8(ascii: "0") { next = rest.next() } else if !digits() { return false }
        if next == UInt8(ascii: ".") {
            next = rest.next()
            guard digits() else { return false }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            next = rest.next()
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { next = rest.next() }
            guard digits() else { return false }
        }
        return next == nil
    }
}
