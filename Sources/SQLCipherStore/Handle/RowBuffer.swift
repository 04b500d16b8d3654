import SyncContract

/// A value ready to be bound. Texts and bytes are places in a ``RowBuffer``.
enum BoundValue {
    case null
    case int64(Int64)
    case double(Double)
    case text(offset: Int, count: Int)
    case bytes(offset: Int, count: Int)
}

/// The texts and bytes of one row, one after the other, in memory that is used again for the next row.
@safe
struct RowBuffer: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer
    private var count = 0

    /// What is kept for the next row; the memory of a larger row is given back with it.
    private static let keptCapacity = 1 << 16

    init() { unsafe storage = .allocate(byteCount: 1 << 10, alignment: 1) }

    deinit { unsafe storage.deallocate() }

    /// The place of a value, until the next change.
    func address(_ offset: Int) -> UnsafeRawPointer? {
        unsafe storage.baseAddress.map { unsafe UnsafeRawPointer($0 + offset) }
    }

    mutating func removeAll() {
        count = 0
        if unsafe storage.count > Self.keptCapacity { resize(to: Self.keptCapacity) }
    }

    mutating func append(_ id: borrowing RecordID) -> BoundValue {
        switch id {
        case .string(let value): append(text: value)
        case .int64(let value): .int64(value)
        }
    }

    mutating func append(text: borrowing String) -> BoundValue {
        let offset = count
        let length = text.utf8.count
        // Before the text is lent: what happens meanwhile is a plain copy, around which no references are counted.
        reserve(offset + length)
        let target = unsafe storage.baseAddress.map { unsafe $0 + offset }
        let isCopied: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            if let source = bytes.baseAddress, let target = unsafe target {
                unsafe target.copyMemory(from: source, byteCount: length)
            }
        }
        if isCopied == nil { copy(scattered: text, to: offset) }
        count += length
        return .text(offset: offset, count: length)
    }

    /// A text that is not stored as UTF-8 comes from Foundation.
    @inline(never)
    private func copy(scattered text: borrowing String, to offset: Int) {
        for (index, byte) in text.utf8.enumerated() { unsafe storage[offset + index] = byte }
    }

    mutating func append(bytes: borrowing [UInt8]) -> BoundValue {
        let offset = count
        let length = bytes.count
        reserve(offset + length)
        let target = unsafe storage.baseAddress.map { unsafe $0 + offset }
        unsafe bytes.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress, let target = unsafe target {
                unsafe target.copyMemory(from: source, byteCount: length)
            }
        }
        count += length
        return .bytes(offset: offset, count: length)
    }

    private mutating func reserve(_ needed: Int) {
        let capacity = unsafe storage.count
        if capacity < needed { resize(to: max(needed, 2 * capacity)) }
    }

    private mutating func resize(to capacity: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        if count > 0 { unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<count])) }
        unsafe storage.deallocate()
        unsafe storage = larger
    }
}
