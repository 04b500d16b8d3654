/// JSON as a Datasync server writes it: as for the inside of a web page, so that a text has many escapes, and with
/// numbers in .NET's form.
enum DotNetJSON {
    static func write(_ value: JSONValue, to output: inout [UInt8]) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): output.append(contentsOf: value.description.utf8)
        case .double(let value): write(value, to: &output)
        case .decimal(let digits): output.append(contentsOf: digits.utf8)
        case .string(let text): write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(element, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, name) in members.keys.sorted().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(name, to: &output)
                output.append(UInt8(ascii: ":"))
                write(members[name, default: .null], to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    // MARK: Texts

    static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        // Most texts stand for themselves.
        let isPlain = text.utf8.allSatisfy { plain[Int($0)] }
        if isPlain { output.append(contentsOf: text.utf8) }
        for scalar in isPlain ? "".unicodeScalars : text.unicodeScalars {
            if scalar.isASCII, let short = escapes[Int(scalar.value)] {
                output.append(contentsOf: short)
            } else if scalar.isASCII {
                output.append(UInt8(ascii: scalar))
            } else {
                for unit in String(scalar).utf16 { writeEscape(unit, to: &output) }
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func writeEscape(_ unit: UInt16, to output: inout [UInt8]) {
        output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        for shift in [12, 8, 4, 0] { output.append(digits[Int(unit >> UInt16(shift)) & 15]) }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// What stands for each of ASCII's signs that do not stand for themselves.
    private static let escapes: [[UInt8]?] = (0..<128)
        .map { value -> [UInt8]? in
            switch UInt8(value) {
            case UInt8(ascii: "\\"): return Array("\\\\".utf8)
            case 0x08: return Array("\\b".utf8)
            case 0x09: return Array("\\t".utf8)
            case 0x0A: return Array("\\n".utf8)
            case 0x0C: return Array("\\f".utf8)
            case 0x0D: return Array("\\r".utf8)
            case let byte where byte < 0x20 || byte == 0x7F || "\"&'+<>`".utf8.contains(byte):
                var escape: [UInt8] = []
                writeEscape(UInt16(byte), to: &escape)
                return escape
            default: return nil
            }
        }

    /// For each byte whether it is a sign of ASCII that stands for itself.
    private static let plain = (0..<256).map { $0 < 128 && escapes[$0] == nil }

    // MARK: Numbers

    /// The fewest digits that read back as the number, with an exponent where it has more than 17 digits before the
    /// point or four zeros or more behind it. What is not finite has no form and becomes null.
    static func write(_ value: Double, to output: inout [UInt8]) {
        guard value.isFinite else { return output.append(contentsOf: "null".utf8) }
        if let whole = Int64(exactly: value), abs(whole) < 1 << 53, whole != 0 || value.sign == .plus {
            return output.append(contentsOf: whole.description.utf8)
        }
        if value.sign == .minus { output.append(UInt8(ascii: "-")) }
        // Swift's form has the same digits, in other places.
        let parts = value.magnitude.description.utf8.split(separator: UInt8(ascii: "e"))
        let numerals = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        var digits = Array(numerals.joined())
        var point = numerals[0].count + (parts.count > 1 ? Int(String(Substring(parts[1]))) ?? 0 : 0)
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(leading)
        point -= leading
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else { return output.append(UInt8(ascii: "0")) }
        write(digits, point: point, to: &output)
    }

    private static func write(_ digits: [UInt8], point: Int, to output: inout [UInt8]) {
        let zero = UInt8(ascii: "0")
        switch point {
        case (max(digits.count, 17) + 1)..., ..<(-3):
            output.append(digits[0])
            if digits.count > 1 { output.append(contentsOf: [UInt8(ascii: ".")] + digits[1...]) }
            let exponent = (point - 1).magnitude.description.utf8
            output.append(contentsOf: "E\(point > 0 ? "+" : "-")\(exponent.count < 2 ? "0" : "")".utf8)
            output.append(contentsOf: exponent)
        case ...0:
            output.append(contentsOf: [zero, UInt8(ascii: ".")] + Array(repeating: zero, count: -point) + digits)
        case digits.count...:
            output.append(contentsOf: digits + Array(repeating: zero, count: point - digits.count))
        default:
            output.append(contentsOf: digits[..<point])
            output.append(UInt8(ascii: "."))
            output.append(contentsOf: digits[point...])
        }
    }
}
