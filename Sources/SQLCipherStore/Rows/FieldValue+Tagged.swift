import SyncContract

/// A value as text with its type in front: the form in which values without a column are stored.
extension FieldValue {
    /// The type, a colon and the value.
    var tagged: String {
        switch self {
        case .null: "null:"
        case .bool(let value): value ? "bool:1" : "bool:0"
        case .int64(let value): "int64:\(value)"
        case .double(let value): "double:" + String(value.bitPattern, radix: 16)
        case .decimal(let value): "decimal:" + value.text
        case .string(let value): "string:" + value
        case .date(let value): "date:\(value.milliseconds)" + (value.finerText.map { " " + $0 } ?? "")
        case .bytes(let value): "bytes:" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .json(let value): "json:" + value.text
        }
    }

    /// Reads what ``tagged`` wrote; nil for anything else.
    init?(tagged text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let content = text[text.utf8.index(after: colon)...]
        switch text[..<colon] {
        case "null": self = .null
        case "bool": self = .bool(content == "1")
        case "int64":
            guard let value = Int64(content) else { return nil }
            self = .int64(value)
        case "double":
            guard let bits = UInt64(content, radix: 16) else { return nil }
            self = .double(Double(bitPattern: bits))
        case "decimal":
            guard let value = DecimalText(String(content)) else { return nil }
            self = .decimal(value)
        case "string": self = .string(String(content))
        case "date":
            let parts = content.split(separator: " ", maxSplits: 1)
            guard let first = parts.first, let milliseconds = Int64(first) else { return nil }
            if parts.count == 2 {
                guard let finer = Timestamp(String(parts[1])), finer.milliseconds == milliseconds else { return nil }
                self = .date(finer)
            } else {
                self = .date(Timestamp(milliseconds: milliseconds))
            }
        case "bytes":
            guard let bytes = [UInt8](hexadecimal: content) else { return nil }
            self = .bytes(bytes)
        case "json": self = .json(JSONText(validated: String(content)))
        default: return nil
        }
    }
}

extension [UInt8] {
    fileprivate init?(hexadecimal text: Substring) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self = bytes
    }
}
