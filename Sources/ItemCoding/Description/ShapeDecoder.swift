internal import SyncContract

/// What a type of an app's own asked for first: that says which column holds it.
final class ValueShape {
    private(set) var type: ColumnType?

    func note(_ type: ColumnType) { if self.type == nil { self.type = type } }
}

/// Gives a value that is inside of a property the samples of one number, and nested values empty lists and no optionals.
struct ShapeDecoder: Decoder {
    private let shape: ValueShape
    private let number: Int
    /// Whether there are nested values at all.
    private let contents: Bool
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ shape: ValueShape, _ number: Int, contents: Bool = true) {
        self.shape = shape
        self.number = number
        self.contents = contents
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        shape.note(.json)
        guard contents else { throw ItemProbe.Unprobed() }
        return KeyedDecodingContainer(ShapeContainer<Key>())
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        shape.note(.json)
        guard contents else { throw ItemProbe.Unprobed() }
        return EmptyList()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ShapeValue(shape: shape, number: number) }
}

private struct ShapeValue: SingleValueDecodingContainer {
    let shape: ValueShape
    let number: Int
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let samples = Samples<Value>.of(type)
        shape.note(samples.type)
        if let type = type as? any FixedWidthInteger.Type, let value = exactly(type) as? Value { return value }
        guard number < samples.values.count else { throw ItemProbe.Unprobed() }
        return samples.values[number]
    }

    private func exactly<Number: FixedWidthInteger>(_ type: Number.Type) -> Any? { Number(exactly: number) }
}

private struct ShapeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { true }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let value = Samples<Value>.of(type).values.first else { throw ItemProbe.Unprobed() }
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(ShapeContainer<Nested>()) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { EmptyList() }
    func superDecoder() -> any Decoder { ShapeDecoder(ValueShape(), 0) }
    func superDecoder(forKey key: Key) -> any Decoder { ShapeDecoder(ValueShape(), 0) }
}

private struct EmptyList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() throws -> Bool { throw ItemProbe.Unprobed() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw ItemProbe.Unprobed() }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw ItemProbe.Unprobed()
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ItemProbe.Unprobed() }
    func superDecoder() throws -> any Decoder { throw ItemProbe.Unprobed() }
}
