internal import SyncContract

/// What one decoding of a type is given, and what it asked for.
final class ItemProbe {
    struct Property {
        let name: String
        let type: ColumnType
        let isOptional: Bool
        let swiftType: ObjectIdentifier
        let namesFiles: Bool
    }

    /// What was asked for, each once.
    private(set) var properties: [Property] = []

    /// The property that was asked for last: the one that failed, if one did.
    private(set) var last: String?

    /// Why the type is refused whatever its values are, and what helps.
    private(set) var refusal: String?

    /// What the property that differs was given.
    private(set) var differentValue: FieldValue?

    private let standIns: [String: Any]
    private let differing: String?
    /// How many other values the property that differs is not given, because it was given them before.
    private let passingOver: Int

    init(standIns: [String: Any], differing: String? = nil, passingOver: Int = 0) {
        self.standIns = standIns
        self.differing = differing
        self.passingOver = passingOver
    }

    struct Unprobed: Error {}

    /// Notes that a type cannot be described, however its values are.
    func refuse(_ reason: String, _ name: String? = nil) -> Unprobed {
        if let name { last = name }
        refusal = refusal ?? reason
        return Unprobed()
    }

    /// Why a type cannot be described: the property and the remedy.
    func problem(of type: Any.Type) -> String {
        if let refusal { return "\(last.map { "Property '\($0)' of " } ?? "")\(type) \(refusal)." }
        return
            "Property '\(last ?? "?")' of \(type) cannot be probed; make its type CaseIterable or optional, or give the"
            + " table an example: .example(\(type)(…))."
    }

    /// The value for a property; nil for an optional one.
    func value<Value: Decodable>(_ type: Value.Type, _ name: String, isOptional: Bool) throws -> Value? {
        last = name
        // The row's operation says it: it has no column.
        if let state = SyncState.synced as? Value { return state }
        let standIn = standIns[name] as? Value
        // What the example has need not be made up, and not every type takes contents of which nothing is known.
        let samples = Samples.of(type, contents: standIn == nil)
        if !properties.contains(where: { $0.name == name }) {
            properties.append(
                Property(
                    name: name,
                    type: samples.type,
                    isOptional: isOptional || (differing == nil && NestedJSON.holdsNull(type)),
                    swiftType: ObjectIdentifier(StoredForm.unwrapped(type)),
                    namesFiles: StoredForm.unwrapped(type) is any AttachmentName.Type
                )
            )
        }
        // Every row has an id, also where a type makes one of its own without.
        let plain = standIn ?? (isOptional && name != "id" ? nil : samples.values.first)
        guard differing == name else {
            guard let plain else {
                if isOptional { return nil }
                throw Unprobed()
            }
            return plain
        }
        let form = plain.map { StoredForm.of($0) } ?? .some(.null)
        guard let other = samples.values.filter({ StoredForm.of($0) != form }).dropFirst(passingOver).first else {
            throw Unprobed()
        }
        differentValue = StoredForm.of(other)
        return other
    }
}

/// Gives an item its properties.
struct ProbeDecoder: Decoder {
    let probe: ItemProbe
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeContainer<Key>(probe: probe))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw probe.refuse(Self.notNamed) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw probe.refuse(Self.notNamed) }

    /// What is said of a type that is no list of properties.
    static let notNamed =
        "must decode from named properties, each from a value; let a nested type of its own hold the rest"
}

private struct ProbeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: ItemProbe
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { throw tooWide(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { throw tooWide(key) }

    private func tooWide(_ key: Key) -> any Error {
        probe.refuse("has 128 bits, for which there is no column; make it an Int64 or a Decimal", key.stringValue)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let value = try probe.value(type, key.stringValue, isOptional: false) else { throw ItemProbe.Unprobed() }
        return value
    }

    // One per type: the default implementations ask whether there is a value, and decode it then.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? { try optional(key) }

    private func optional<Value: Decodable>(_ key: Key) throws -> Value? {
        try probe.value(Value.self, key.stringValue, isOptional: true)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw probe.refuse(ProbeDecoder.notNamed, key.stringValue)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw probe.refuse(ProbeDecoder.notNamed, key.stringValue)
    }

    // A superclass decodes from the same properties.
    func superDecoder() -> any Decoder { ProbeDecoder(probe: probe) }
    func superDecoder(forKey key: Key) -> any Decoder { ProbeDecoder(probe: probe) }
}
