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
///
/// A class, so that its memory stays where it is while SQLite reads from it.
@safe
final class RowBuffer {
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

    func removeAll() {
        count = 0
        if unsafe storage.count > Self.keptCapacity { resize(to: Self.keptCapacity) }
    }

    func append(_ id: RecordID) -> BoundValue {
        switch id {
        case .string(let value): append(text: value)
        case .int64(let value): .int64(value)
        }
    }

    func append(text: String) -> BoundValue {
        let place = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe BoundValue.text(offset: append(UnsafeRawBufferPointer(bytes)), count: bytes.count)
        }
        // A text that is not stored as UTF-8 comes from Foundation.
        return place ?? append(text: String(decoding: Array(text.utf8), as: UTF8.self))
    }

    func append(bytes: [UInt8]) -> BoundValue {
        unsafe bytes.withUnsafeBytes { bytes in unsafe .bytes(offset: append(bytes), count: bytes.count) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let offset = count
        reserve(offset + bytes.count)
        if let source = bytes.baseAddress, let target = unsafe storage.baseAddress {
            unsafe (target + offset).copyMemory(from: source, byteCount: bytes.count)
        }
        count += bytes.count
        return offset
    }

    private func reserve(_ needed: Int) {
        let capacity = unsafe storage.count
        if capacity < needed { resize(to: max(needed, 2 * capacity)) }
    }

    private func resize(to capacity: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
        if count > 0 { unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<count])) }
        unsafe storage.deallocate()
        unsafe storage = larger
    }
}
