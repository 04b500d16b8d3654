/// A row of a table as a value: an id and named values.
///
/// A key that is absent and a key that is ``FieldValue/null`` differ: writing an absent key leaves the stored column as
/// it is, writing a null clears it.
public struct Record: Sendable, Hashable {
    /// The id. It is also readable as the column `id`.
    public var id: RecordID

    private var values: [String: FieldValue]

    /// Creates a record. A key `id` among the values is ignored.
    public init(id: RecordID, _ values: [String: FieldValue] = [:]) {
        self.id = id
        self.values = values
        self.values["id"] = nil
    }

    /// The value under a column name, nil when the key is absent. Assigning nil removes the key.
    ///
    /// `id` reads as the id's value; assigning it has no effect: assign ``id`` instead.
    public subscript(name: String) -> FieldValue? {
        get { name == "id" ? id.fieldValue : values[name] }
        set { if name != "id" { values[name] = newValue } }
    }

    /// The names of the values, without `id`, in no particular order.
    public var names: some Collection<String> { values.keys }

    /// The values by name, without `id`.
    public var fields: [String: FieldValue] { values }

    /// This record with only the named values. The id always stays.
    public func selecting(_ names: some Sequence<String>) -> Record {
        var result = Record(id: id)
        for name in names { result[name] = values[name] }
        return result
    }

    /// Takes over every value that the other record has; keys absent there stay as they are.
    public mutating func merge(_ other: Record) {
        values.merge(other.values) { _, new in new }
    }
}

extension Record {
    /// The version the server gave the row, when the record carries one.
    public var version: String? { self["version"]?.stringValue }

    /// When the server last changed the row, when the record carries it.
    public var updatedAt: Timestamp? { self["updatedAt"]?.dateValue }

    /// Whether the row is a tombstone: deleted on the server, but still told to clients.
    public var isDeleted: Bool { self["deleted"]?.boolValue ?? false }

    /// This record without the four system properties `createdAt`, `updatedAt`, `version` and `deleted`.
    public func withoutSystemProperties() -> Record {
        var result = self
        for name in SystemProperties.names { result[name] = nil }
        return result
    }
}
