/// A list of values as one blob, so that a list of any length is one parameter.
///
/// Layout, little-endian: the number of values (4 bytes), the offset of each value (4 bytes each), the values. A value
/// is a type byte and its content.
enum PackedValues {
    private enum Tag: UInt8 {
        case null
        case int64
        case double
        case text
        case blob
    }

    static func pack(_ values: [SQLValue]) -> [UInt8] {
        var contents: [UInt8] = []
        var offsets: [UInt8] = []
        let start = 4 + 4 * values.count
        for value in values {
            // An offset beyond 4 GiB belongs to a list that SQLite refuses as a whole.
            append(UInt32(truncatingIfNeeded: start + contents.count), to: &offsets)
            switch value {
            case .null: contents.append(Tag.null.rawValue)
            case .int64(let value):
                contents.append(Tag.int64.rawValue)
                append(UInt64(bitPattern: value), to: &contents)
            case .double(let value):
                contents.append(Tag.double.rawValue)
                append(value.bitPattern, to: &contents)
            case .text(let value):
                contents.append(Tag.text.rawValue)
                contents.append(contentsOf: value.utf8)
            case .blob(let value):
                contents.append(Tag.blob.rawValue)
                contents.append(contentsOf: value)
            }
        }
        var packed: [UInt8] = []
        packed.reserveCapacity(start + contents.count)
        append(UInt32(values.count), to: &packed)
        packed.append(contentsOf: offsets)
        packed.append(contentsOf: contents)
        return packed
    }

    /// The value at an index, or nil when there is none or the blob is not a packed list.
    static func value(at index: Int, of packed: UnsafeRawBufferPointer) -> SQLValue? {
        guard let count = unsafe integer(UInt32.self, at: 0, of: packed).map(Int.init), (0..<count).contains(index),
            let start = unsafe integer(UInt32.self, at: 4 + 4 * index, of: packed).map(Int.init),
            let end = index + 1 == count
                ? packed.count : unsafe integer(UInt32.self, at: 8 + 4 * index, of: packed).map(Int.init),
            start < end, end <= packed.count, let tag = unsafe Tag(rawValue: packed[start])
        else { return nil }
        let content = unsafe UnsafeRawBufferPointer(rebasing: packed[start + 1..<end])
        return switch tag {
        case .null: .null
        case .int64: unsafe integer(UInt64.self, at: 0, of: content).map { .int64(Int64(bitPattern: $0)) }
        case .double: unsafe integer(UInt64.self, at: 0, of: content).map { .double(Double(bitPattern: $0)) }
        case .text: unsafe .text(String(decoding: content, as: UTF8.self))
        case .blob: unsafe .blob(Array(content))
        }
    }

    /// Every value, or nil when the blob is not a packed list.
    static func all(of packed: UnsafeRawBufferPointer) -> [SQLValue]? {
        guard let count = unsafe integer(UInt32.self, at: 0, of: packed).map(Int.init) else { return nil }
        var values: [SQLValue] = []
        for index in 0..<count {
            guard let value = unsafe value(at: index, of: packed) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    private static func integer<Value: FixedWidthInteger>(
        _ type: Value.Type,
        at offset: Int,
        of bytes: UnsafeRawBufferPointer
    ) -> Value? {
        guard offset >= 0, offset + MemoryLayout<Value>.size <= bytes.count else { return nil }
        return unsafe Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}
