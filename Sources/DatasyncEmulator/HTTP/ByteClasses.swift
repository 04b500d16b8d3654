/// The classes of bytes that HTTP's grammar is made of (RFC 9110 5.6, RFC 5234 B.1).
enum ByteClasses {
    static let carriageReturn = UInt8(ascii: "\r")
    static let lineFeed = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// What names of fields and methods are made of.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: symbols.contains(byte)
        }
    }

    private static let symbols = Set("!#$%&'*+-.^_`|~".utf8)

    /// What targets are made of: all that can be seen in ASCII. Percent-encoding is looked at elsewhere.
    static func isVisible(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte)
    }

    /// What values of fields are made of: anything but control characters, though tabs are allowed.
    static func isFieldContent(_ byte: UInt8) -> Bool {
        byte == tab || (byte >= space && byte != 0x7F)
    }

    /// What a host and its port are made of (RFC 3986 3.2.2), so that a Host field cannot smuggle a path.
    static func isHost(_ byte: UInt8) -> Bool {
        isToken(byte) && !hostless.contains(byte) || hostSymbols.contains(byte)
    }

    private static let hostless = Set("#^`|".utf8)
    private static let hostSymbols = Set("()=;:,[]".utf8)

    /// The value of a text of digits only; nil for anything else, and for what an `Int` cannot hold.
    static func number(_ digits: some Collection<UInt8>, radix: Int = 10) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for byte in digits {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, digit < radix else { return nil }
            let (product, productOverflows) = value.multipliedReportingOverflow(by: radix)
            let (sum, sumOverflows) = product.addingReportingOverflow(digit)
            guard !productOverflows, !sumOverflows else { return nil }
            value = sum
        }
        return value
    }

    /// A slice without the spaces and tabs at its ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == space || first == tab { bytes.removeFirst() }
        while let last = bytes.last, last == space || last == tab { bytes.removeLast() }
        return bytes
    }
}
