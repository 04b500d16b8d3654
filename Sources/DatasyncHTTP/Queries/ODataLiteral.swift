internal import RemoteContract
internal import SyncContract

/// Prints values as OData literals.
enum ODataLiteral {
    /// The literal of a value.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidRequest` for what has no literal that servers of the
    ///   dialect read: bytes, JSON, numbers that are not finite, dates outside the years 1 to 9999, and decimals too long to
    ///   write without an exponent.
    static func text(_ value: FieldValue, in dialect: DatasyncDialect) throws(RemoteError) -> String {
        switch value {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .int64(let value): return Int32(exactly: value) != nil ? "\(value)" : "\(value)\(dialect.int64Suffix)"
        case .double(let value):
            guard value.isFinite else { throw .invalidRequest("A query compares with a number that is not finite.") }
            // The shortest text that reads back as the same number; it always has a point or an exponent.
            return value.description + dialect.doubleSuffix
        case .decimal(let value): return try plain(value) + dialect.decimalSuffix
        case .string(let value): return quoted(value)
        case .date(let value):
            guard Timestamp.wireMilliseconds.contains(value.milliseconds) else {
                throw .invalidRequest(
                    "A query compares with a date before the year 1 or after 9999, which services do not read; Date.distantPast"
                        + " is one."
                )
            }
            switch dialect {
            case .datasync: return "cast(\(value.text),Edm.DateTimeOffset)"
            case .azureMobileApps: return "datetimeoffset'\(value.text)'"
            }
        case .bytes, .json:
            throw .invalidRequest(
                "A query compares with bytes or JSON, which servers do not; filter by another column."
            )
        }
    }

    /// Whether a value may stand in a list. Some servers turn lists into JSON on the way and stumble over quotes,
    /// brackets, backslashes and suffixes, so that only harmless text and plain whole numbers do.
    static func isSafeInList(_ value: FieldValue) -> Bool {
        switch value {
        case .int64(let value): Int32(exactly: value) != nil
        case .string(let value): !value.isEmpty && value.utf8.allSatisfy(isHarmless)
        default: false
        }
    }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":")].contains(byte)
    }

    private static func quoted(_ text: String) -> String {
        var result: [UInt8] = [UInt8(ascii: "'")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "'") { result.append(byte) }
            result.append(byte)
        }
        result.append(UInt8(ascii: "'"))
        return String(decoding: result, as: UTF8.self)
    }

    /// A decimal without an exponent, which decimal literals do not have everywhere.
    private static func plain(_ value: DecimalText) throws(RemoteError) -> String {
        let parts = value.text.split { $0 == "e" || $0 == "E" }
        guard parts.count == 2 else { return value.text }
        // Servers keep 28 to 38 digits; what lies far beyond could only be refused or rounded.
        guard let exponent = Int(parts[1]), abs(exponent) <= 64 else {
            throw .invalidRequest("A query compares with a decimal beyond what servers can hold.")
        }
        let isNegative = parts[0].hasPrefix("-")
        let number = parts[0].drop { $0 == "-" }.split(separator: ".")
        var digits = number.joined()
        var point = number[0].count + exponent
        if point < 1 {
            digits = String(repeating: "0", count: 1 - point) + digits
            point = 1
        }
        digits += String(repeating: "0", count: max(0, point - digits.count))
        let whole = digits.prefix(point).drop { $0 == "0" }
        let fraction = digits.dropFirst(point)
        return (isNegative ? "-" : "") + (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
    }
}

extension DatasyncDialect {
    fileprivate var int64Suffix: String { self == .datasync ? "L" : "l" }
    /// Protocol 3 knows a double by its point.
    fileprivate var doubleSuffix: String { self == .datasync ? "" : "d" }
    fileprivate var decimalSuffix: String { self == .datasync ? "M" : "m" }
}
