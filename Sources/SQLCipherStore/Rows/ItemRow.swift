import ItemCoding
import SyncContract

/// Encodes items as rows, one after the other in the same memory, without making records of them.
@safe
final class ItemRow {
    private let sink: Sink
    private let encoder: ItemEncoder

    init(_ layout: TableLayout) {
        sink = Sink(layout)
        encoder = ItemEncoder(layout.definition, into: sink)
    }

    /// Takes over an item.
    ///
    /// - Throws: ``StoreError/Code/invalidItem``, what the item throws, and ``StoreError/Code/invalidRecord`` for a value
    ///   that does not fit its column.
    func encode<Item: Encodable & Identifiable>(_ item: borrowing Borrowed<Item>) throws where Item.ID: RowID {
        try sink.begin(item.value.id.recordID)
        try encoder.encode(item.value)
        try sink.finish()
    }

    /// Takes over an item that was made on this device, under an id that may be another than its own.
    ///
    /// - Throws: As ``encode(_:)``, and ``StoreError/Code/invalidItem`` for what ``LocalValues`` refuses.
    func encode(made item: some Encodable, id: String) throws {
        try sink.begin(.string(id), takesLocalValuesOnly: true)
        try encoder.encode(item)
        try sink.finish()
    }

    /// Forgets the row: an item that kept its encoder writes nowhere any more.
    func removeAll() { sink.close() }

    /// Whether the next call may use this again. It remembers the name of every property that it meets, and some items
    /// make theirs up.
    var isWorthKeeping: Bool { encoder.memorySize <= 2 * sink.declaredCount + 64 }

    /// Lends the row.
    func withRow<Value>(_ body: (borrowing EncodedRow) throws -> Value) rethrows -> Value {
        try unsafe body(sink.row.pointee)
    }

    @safe
    private final class Sink: ItemSink {
        /// In memory of its own, because each use of a property of a class is checked at run time.
        let row: UnsafeMutablePointer<EncodedRow>

        let declaredCount: Int

        private let table: TableDefinition

        /// Whether it takes what a device may say of a row, and no more.
        private var takesLocalValuesOnly = false

        /// Whether values are taken.
        private var isOpen = false

        /// The first value that does not fit. An item could catch what is thrown to it.
        private var failure: StoreError?

        init(_ layout: TableLayout) {
            unsafe row = .allocate(capacity: 1)
            unsafe row.initialize(to: EncodedRow(layout))
            declaredCount = layout.declaredCount
            table = layout.definition
        }

        deinit {
            unsafe row.deinitialize(count: 1)
            unsafe row.deallocate()
        }

        func begin(_ id: RecordID, takesLocalValuesOnly: Bool = false) throws(StoreError) {
            isOpen = true
            self.takesLocalValuesOnly = takesLocalValuesOnly
            failure = nil
            try unsafe row.pointee.begin(id)
        }

        func set(_ value: borrowing FieldValue, slot: Int, name: String) {
            guard isOpen, admits(value, slot, name) else { return }
            do {
                if slot < declaredCount {
                    try unsafe row.pointee.set(value, slot: slot)
                } else {
                    try unsafe row.pointee.setUndeclared(copy value, name)
                }
            } catch {
                failure = failure ?? error
            }
        }

        func set(text: borrowing String, slot: Int, name: String) {
            guard isOpen, admits(.null, slot, name) else { return }
            do {
                if slot < declaredCount {
                    try unsafe row.pointee.set(text: text, slot: slot)
                } else {
                    try unsafe row.pointee.setUndeclared(.string(copy text), name)
                }
            } catch {
                failure = failure ?? error
            }
        }

        /// Whether a value is to be written.
        private func admits(_ value: borrowing FieldValue, _ slot: Int, _ name: String) -> Bool {
            guard takesLocalValuesOnly else { return true }
            if slot < table.columns.count {
                switch value {
                case .double(let number):
                    if number.isFinite { return true }
                    failure = failure ?? StoreError(.invalidItem, LocalValues.notFinite(name, table))
                case .date:
                    guard LocalValues.isBeyondServices(value, table.columns[slot], table) else { return true }
                    failure = failure ?? StoreError(.invalidItem, LocalValues.beyondServices(name, table))
                default: return true
                }
            } else if !SystemProperties.names.contains(name) {
                failure = failure ?? StoreError(.invalidItem, LocalValues.undeclared(name, table))
            }
            return false
        }

        func close() {
            isOpen = false
            unsafe row.pointee.removeAll()
        }

        func finish() throws(StoreError) {
            if let failure { throw failure }
            unsafe row.pointee.finish()
        }
    }
}
