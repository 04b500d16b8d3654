import SyncContract

/// Writes JSON, member by member, in the order given. It is kept as bytes: of a text each piece that is added has to be
/// checked, and the whole copied where bytes are wanted.
package struct JSONWriter: Sendable {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    package init() {}

    /// Makes room, so that adding takes no memory piece by piece.
    package mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    /// Adds a member whose value is already JSON text.
    package mutating func add(_ name: String, json: String) {
        begin(name)
        bytes.append(contentsOf: json.utf8)
    }

    /// Adds a member whose value is already JSON text in UTF-8.
    package mutating func add(_ name: String, json: [UInt8]) {
        begin(name)
        bytes.append(contentsOf: json)
    }

    /// Adds a string member.
    package mutating func add(_ name: String, _ value: String) {
        begin(name)
        append(quoted: value)
    }

    /// Adds a member that is an object, in the same memory.
    package mutating func add<Failure: Error>(
        _ name: String,
        object write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
        try write(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Adds a member that is a list of objects, in the same memory.
    package mutating func add<Element, Failure: Error>(
        _ name: String,
        objects elements: some Sequence<Element>,
        write: (Element, inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "{"))
            try write(element, &self)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds a number member.
    package mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    /// Adds a truth value.
    package mutating func add(_ name: String, _ value: Bool) { add(name, json: value ? "true" : "false") }

    /// The object.
    package var object: String { String(decoding: utf8(), as: UTF8.self) }

    /// The object in UTF-8, when all of it was added.
    package consuming func utf8() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(quoted value: String) {
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        let isPlain = bytes[start...]
            .allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain {
            bytes.append(UInt8(ascii: "\""))
        } else {
            bytes.removeSubrange((start - 1)...)
            bytes.append(contentsOf: JSONText.quoted(value).utf8)
        }
    }
}
