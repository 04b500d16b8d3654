import SyncContract

/// Writes JSON text, member by member, in the order given.
package struct JSONWriter: Sendable {
    private var members: [String] = []

    package init() {}

    /// Adds a member whose value is already JSON text.
    package mutating func add(_ name: String, json: String) {
        members.append(JSONText.quoted(name) + ":" + json)
    }

    /// Adds a string member.
    package mutating func add(_ name: String, _ value: String) { add(name, json: JSONText.quoted(value)) }

    /// Adds a number member.
    package mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    /// Adds a truth value.
    package mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    /// The object.
    package var object: String { "{" + members.joined(separator: ",") + "}" }
}
