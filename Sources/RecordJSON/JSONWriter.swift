import SyncContract

/// Writes JSON text, member by member, in the order given.
package struct JSONWriter: Sendable {
    private var text = "{"

    package init() {}

    /// Adds a member whose value is already JSON text.
    package mutating func add(_ name: String, json: String) {
        begin(name)
        text += json
    }

    /// Adds a string member.
    package mutating func add(_ name: String, _ value: String) {
        begin(name)
        append(quoted: value)
    }

    /// Adds a number member.
    package mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    /// Adds a truth value.
    package mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    /// The object.
    package var object: String { text + "}" }

    private mutating func begin(_ name: String) {
        if text.utf8.count > 1 { text += "," }
        append(quoted: name)
        text += ":"
    }

    private mutating func append(quoted value: String) {
        let isPlain = value.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard isPlain else {
            text += JSONText.quoted(value)
            return
        }
        text += "\""
        text += value
        text += "\""
    }
}
