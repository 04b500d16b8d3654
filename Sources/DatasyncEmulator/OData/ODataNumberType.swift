/// What a number can be cast to.
enum ODataNumberType: String, Sendable {
    case byte = "Edm.Byte"
    case int16 = "Edm.Int16"
    case int32 = "Edm.Int32"
    case int64 = "Edm.Int64"
    case single = "Edm.Single"
    case double = "Edm.Double"
    case decimal = "Edm.Decimal"
    case text = "Edm.String"

    var isWhole: Bool {
        switch self {
        case .byte, .int16, .int32, .int64: true
        case .single, .double, .decimal, .text: false
        }
    }

    /// A number, or a text that reads as one, as this type; null where that cannot be.
    func value(_ value: ODataValue) -> ODataValue {
        if self == .text { return Self.text(value).map(ODataValue.string) ?? .null }
        guard let digits = value.decimal ?? value.text.flatMap({ ODataDecimal($0) }) else { return .null }
        if isWhole {
            return digits.double.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map(ODataValue.integer) ?? .null
        }
        return self == .decimal ? .decimal(digits) : digits.double.map(ODataValue.double) ?? .null
    }

    private static func text(_ value: ODataValue) -> String? {
        switch value {
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return value.description
        case .double(let value):
            var digits: [UInt8] = []
            DotNetJSON.write(value, to: &digits)
            return String(decoding: digits, as: UTF8.self)
        default: return value.text
        }
    }
}
