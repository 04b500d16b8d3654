/// Header fields in their order. A name may occur more than once.
public struct HTTPFields: Sendable, Hashable {
    private var fields: [HTTPField] = []

    /// No fields.
    public init() {}

    /// The value of a field; nil when there is none. Values of a name that occurs more than once are joined by `, `
    /// (RFC 9110, section 5.3).
    ///
    /// Setting replaces all fields of the name by one, where the first one was; setting nil removes them.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            var value = fields[first].value
            for field in fields[(first + 1)...] where field.name == name { value += ", " + field.value }
            return value
        }
        set {
            let first = fields.firstIndex { $0.name == name }
            fields.removeAll { $0.name == name }
            guard let newValue else { return }
            fields.insert(HTTPField(name: name, value: newValue), at: first ?? fields.endIndex)
        }
    }

    /// The values of all fields of a name, in their order.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Makes room, so that appending takes no memory piece by piece.
    package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Adds a field at the end, also of a name that occurs already.
    public mutating func append(_ field: HTTPField) { fields.append(field) }

    /// Whether a field of this name occurs.
    public func contains(_ name: HTTPField.Name) -> Bool { fields.contains { $0.name == name } }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position behind the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Fields in the order of the literal.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        fields = elements.map { HTTPField(name: $0, value: $1) }
    }
}
