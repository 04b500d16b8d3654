/// How the Node server's SQLite provider stores a value in a column of a type.
enum ColumnConversion {
    /// The type a column gets from its first value.
    static func type(of value: JSONValue) -> EmulatedTableDefinition.ColumnType {
        switch value {
        case .bool: .boolean
        case .integer, .double, .decimal: .number
        case .null, .string, .array, .object: .text
        }
    }

    static func convert(_ value: JSONValue, to type: EmulatedTableDefinition.ColumnType) -> JSONValue {
        guard value != .null else { return .null }
        return switch type.kind {
        case .boolean: .bool(isTruthy(value))
        case .text, .day, .time, .bytes, .uuid, .json: .string(text(value))
        case .integer, .number, .decimal: number(value)
        case .date:
            Timestamp.ticks(isoText: text(value))
                .map { ticks in
                    // Whole first: a negative number of ticks would be rounded up.
                    .string(
                        Timestamp.text(
                            milliseconds: Timestamp.wholeMilliseconds(ticks) / Timestamp.ticksPerMillisecond
                        )
                    )
                } ?? .null
        }
    }

    /// A value as text: an id may be sent as a number, a text column may be given one.
    static func text(_ value: JSONValue) -> String {
        switch javaScriptNumber(value) {
        case .null, .array, .object: ""
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): value.description
        case .double(let value): value.description
        case .decimal(let text), .string(let text): text
        }
    }

    private static func isTruthy(_ value: JSONValue) -> Bool {
        switch value {
        case .null: false
        case .bool(let value): value
        case .integer(let value): value != 0
        case .double(let value): value != 0
        case .decimal(let digits): Double(digits) != 0
        case .string(let text): !text.isEmpty
        case .array, .object: true
        }
    }

    private static func number(_ value: JSONValue) -> JSONValue {
        switch value {
        case .bool(let value): .integer(value ? 1 : 0)
        case .string(let text):
            Int64(text).map { javaScriptNumber(.integer($0)) } ?? Double(text).map { .double($0) } ?? value
        default: javaScriptNumber(value)
        }
    }

    /// JavaScript has doubles only: a large whole number loses its last digits.
    private static func javaScriptNumber(_ value: JSONValue) -> JSONValue {
        guard case .integer(let whole) = value else { return value }
        let double = Double(whole)
        return Int64(exactly: double).map { .integer($0) } ?? .double(double)
    }
}
