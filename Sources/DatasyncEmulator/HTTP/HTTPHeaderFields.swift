import Foundation

/// Header fields by name, ignoring the case of names and keeping it.
public struct HTTPHeaderFields: Sendable, ExpressibleByDictionaryLiteral, Sequence {
    private var fields: [(name: String, value: String)] = []

    /// Makes header fields; of a name that occurs twice the last one counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements {
            self[name] = value
        }
    }

    /// The value of a field; nil when there is none.
    ///
    /// The values of a repeated field are joined by a comma and a space, as RFC 9110 5.3 allows and as the genuine
    /// servers show them to their handlers. Setting a value replaces all fields of the name; setting nil removes them.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// Adds a field after the others, also when there is one of that name already.
    public mutating func append(_ name: String, _ value: String) {
        fields.append((name, value))
    }

    /// The values of all fields of a name, in their order; none when there is no such field.
    public func values(of name: String) -> [String] {
        fields.filter { Self.matches($0.name, name) }.map(\.value)
    }

    /// Goes through the fields in the order they were set; a repeated field comes as often as it is there.
    public func makeIterator() -> some IteratorProtocol<(name: String, value: String)> {
        fields.makeIterator()
    }

    private static func matches(_ first: String, _ second: String) -> Bool {
        first.utf8.count == second.utf8.count && first.lowercased() == second.lowercased()
    }
}

extension HTTPHeaderFields {
    /// The members of a field that is a comma-separated list, in lower case; empty members are left out.
    func list(_ name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            .filter { !$0.isEmpty }
    }
}
