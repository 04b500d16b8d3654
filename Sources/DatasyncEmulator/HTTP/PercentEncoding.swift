/// Percent-encoding of URLs, decoded exactly once and by hand: the usual helpers disagree about `+`.
enum PercentEncoding {
    /// Decodes a path segment; nil when an escape is malformed or the result is not UTF-8.
    static func decode(_ text: Substring) -> String? {
        guard let bytes = bytes(of: text, plusIsSpace: false, isLenient: false) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Decodes a query's name or value; a malformed escape stands for itself.
    static func decodeLeniently(_ text: Substring, plusIsSpace: Bool) -> String {
        String(decoding: bytes(of: text, plusIsSpace: plusIsSpace, isLenient: true) ?? [], as: UTF8.self)
    }

    /// Decodes a path segment as Kestrel does: an encoded slash, what is no escape and what is no UTF-8 stay as they are.
    static func decodeKeepingSlashes(_ text: Substring) -> String {
        var output = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "%") {
            output += rest[..<start]
            rest = rest[start...]
            // A sign may be several escapes, so those in a row are decoded together.
            var run = rest.prefix(0)
            while rest[run.endIndex...].first == "%", let byte = escape(rest[run.endIndex...]), byte != 0x2F {
                run = rest[..<rest.index(run.endIndex, offsetBy: 3)]
            }
            if run.isEmpty { run = rest.prefix(1) }
            output += decode(run) ?? String(run)
            rest = rest[run.endIndex...]
        }
        return output + rest
    }

    private static func escape(_ text: Substring) -> UInt8? {
        let bytes = Array(text.utf8.prefix(3))
        guard bytes.count == 3, let high = digit(bytes[1]), let low = digit(bytes[2]) else { return nil }
        return high << 4 | low
    }

    /// Encodes all but RFC 3986's unreserved characters and those of `also`.
    static func encode(_ text: String, also: String = "") -> String {
        let kept = Set("-._~".utf8).union(also.utf8)
        var output: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                output.append(byte)
            case _ where kept.contains(byte): output.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                output.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func bytes(of text: Substring, plusIsSpace: Bool, isLenient: Bool) -> [UInt8]? {
        // The usual text has nothing to decode.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return Array(text.utf8)
        }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                if index + 1 < bytes.count, let high = digit(bytes[index]), let low = digit(bytes[index + 1]) {
                    output.append(high << 4 | low)
                    index += 2
                    continue
                }
                guard isLenient else { return nil }
            }
            output.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
        }
        return output
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
