/// A row of a table as a value: an id and named values.
///
/// A key that is absent and a key that is ``FieldValue/null`` differ: writing an absent key leaves the stored column as
/// it is, writing a null clears it.
///
/// A record keeps its names and its values as two lists side by side. Records of one table share the list of names, and
/// a row has few enough of them that comparing beats hashing.
public struct Record: Sendable, Identifiable {
    /// The id. It is also readable as the column `id`.
    public var id: RecordID

    /// Where the row stood when it was read, if the query asked for it with ``Query/includingSyncStates()``; else nil.
    ///
    /// It is no value of the row: what is set here is neither stored nor sent. It counts when records are compared.
    public var syncState: SyncState?

    /// The names that have, or had, a value. Never `id`, and none twice.
    package private(set) var slotNames: [String]

    /// The values by the position of their name; nil where the key is absent.
    package private(set) var slotValues: [FieldValue?]

    /// The positions of the names, kept where so many were added one by one that comparing them all would be slow.
    private var index: [String: Int]?
    private static let indexedCount = 32

    /// Creates a record. A key `id` among the values is ignored.
    public init(id: RecordID, _ values: [String: FieldValue] = [:]) {
        self.id = id
        slotNames = []
        slotValues = []
        guard !values.isEmpty else { return }
        slotNames.reserveCapacity(values.count)
        slotValues.reserveCapacity(values.count)
        for (name, value) in values where name != "id" && name != SyncStateTerm.name {
            slotNames.append(name)
            slotValues.append(value)
        }
    }

    /// Creates a record from lists of equal length. No name may be `id` or be there twice.
    package init(id: RecordID, names: [String], values: [FieldValue?]) {
        assert(names.count == values.count, "every name has a value or nil")
        self.id = id
        slotNames = names
        slotValues = values
    }

    /// The value under a column name, nil when the key is absent. Assigning nil removes the key.
    ///
    /// `id` reads as the id's value, and the name of ``Column/syncState`` as that of ``syncState``; assigning them has no
    /// effect: assign ``id`` and ``syncState`` instead.
    public subscript(name: String) -> FieldValue? {
        get {
            if let slot = slot(of: name) { return slotValues[slot] }
            if name == "id" { return id.fieldValue }
            return name == SyncStateTerm.name ? syncState.map { .string($0.rawValue) } : nil
        }
        set {
            if let slot = slot(of: name) {
                // The list stays shared where there is nothing to remove.
                guard newValue != nil || slotValues[slot] != nil else { return }
                slotValues[slot] = newValue
            } else if let newValue, name != "id", name != SyncStateTerm.name {
                append(newValue, as: name)
            }
        }
    }

    /// The names of the values, without `id`, in no particular order.
    public var names: some Collection<String> {
        slotNames.indices.filter { slotValues[$0] != nil }.map { slotNames[$0] }
    }

    /// The values by name, without `id`.
    public var fields: [String: FieldValue] {
        var fields: [String: FieldValue] = [:]
        fields.reserveCapacity(slotNames.count)
        for (name, value) in zip(slotNames, slotValues) {
            if let value { fields[name] = value }
        }
        return fields
    }

    /// This record with only the named values. The id always stays.
    public func selecting(_ names: some Sequence<String>) -> Record {
        var result = Record(id: id)
        result.syncState = syncState
        for name in names where name != "id" { result[name] = self[name] }
        return result
    }

    /// Takes over every value that the other record has; keys absent there stay as they are.
    public mutating func merge(_ other: Record) {
        for (name, value) in zip(other.slotNames, other.slotValues) {
            if let value { self[name] = value }
        }
    }

    /// Removes the values at positions of ``slotNames``.
    package mutating func removeValues(at slots: [Int]) {
        for slot in slots where slotValues[slot] != nil { slotValues[slot] = nil }
    }

    private func slot(of name: String) -> Int? {
        if let index { return index[name] }
        for slot in slotNames.indices where slotNames[slot] == name { return slot }
        return nil
    }

    private mutating func append(_ value: FieldValue, as name: String) {
        slotNames.append(name)
        slotValues.append(value)
        if index != nil {
            index?[name] = slotNames.count - 1
        } else if slotNames.count > Self.indexedCount {
            index = Dictionary(slotNames.enumerated().map { ($1, $0) }) { first, _ in first }
        }
    }

    private var valueCount: Int { slotValues.reduce(0) { $1 == nil ? $0 : $0 + 1 } }
}

extension Record: Hashable {
    /// Compares ids, states, names and values, in whatever order a record got them.
    public static func == (left: Record, right: Record) -> Bool {
        guard left.id == right.id, left.syncState == right.syncState else { return false }
        if left.slotNames == right.slotNames { return left.slotValues == right.slotValues }
        guard left.valueCount == right.valueCount else { return false }
        return zip(left.slotNames, left.slotValues).allSatisfy { name, value in value == nil || right[name] == value }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(syncState)
        // A sum does not depend on the order.
        var sum = 0
        for (name, value) in zip(slotNames, slotValues) {
            guard let value else { continue }
            var entry = Hasher()
            entry.combine(name)
            entry.combine(value)
            sum &+= entry.finalize()
        }
        hasher.combine(sum)
    }
}

extension Record {
    /// The version the server gave the row; nil when the record carries none, or an empty one, which no request can ask for.
    public var version: String? {
        guard let version = self["version"]?.stringValue, !version.isEmpty else { return nil }
        return version
    }

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

    /// This record without what every server sets itself: `updatedAt`, `version` and `deleted`, and without a `createdAt`
    /// that is null.
    ///
    /// A value of `createdAt` stays. Only some servers set it; for the others it is a column, which those that replace whole
    /// rows would blank.
    package func withoutServerProperties() -> Record {
        var result = self
        for name in SystemProperties.names where name != "createdAt" || self[name] == .some(.null) {
            result[name] = nil
        }
        return result
    }
}
