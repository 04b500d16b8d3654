public import Foundation

extension JSONValue {
    /// Reads JSON text in UTF-8.
    ///
    /// - Throws: `EmulatorError` with code `invalidJSON` when the text is not JSON or is nested deeper than 128 levels.
    public init(parsing data: Data) throws {
        do {
            self = try JSONParser.parse(data)
        } catch {
            throw EmulatorError(.invalidJSON, error.message)
        }
    }

    /// The value as compact JSON in UTF-8, members sorted by name.
    ///
    /// Whole numbers and doubles are written so that reading them back gives the same value. A double that is not
    /// finite has no JSON form and is written as `null`.
    public var encoded: Data {
        var output: [UInt8] = []
        write(to: &output)
        return Data(output)
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): output.append(contentsOf: value.description.utf8)
        case .double(let value): output.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .decimal(let digits): output.append(contentsOf: digits.utf8)
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, name) in members.keys.sorted().enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(name, to: &output)
                output.append(UInt8(ascii: ":"))
                members[name, default: .null].write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case UInt8(ascii: "\n"): output.append(contentsOf: "\\n".utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                output.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
