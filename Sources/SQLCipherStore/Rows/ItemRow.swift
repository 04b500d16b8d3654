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
    func encode<Item: Encodable & Identifiable>(_ item: Item) throws where Item.ID == String {
        try sink.begin(.string(item.id))
        try encoder.encode(item)
        try sink.finish()
    }

    /// Lends the row. Not as a copy, which would count many references.
    func withRow(_ body: (inout EncodedRow) throws -> Void) rethrows { try unsafe body(&sink.row.pointee) }

    @safe
    private final class Sink: ItemSink {
        /// In memory of its own, because each use of a property of a class is checked at run time.
        let row: UnsafeMutablePointer<EncodedRow>

        private let declaredCount: Int

        /// The first value that does not fit. An item could catch what is thrown to it.
        private var failure: StoreError?

        init(_ layout: TableLayout) {
            unsafe row = .allocate(capacity: 1)
            unsafe row.initialize(to: EncodedRow(layout))
            declaredCount = layout.declaredCount
        }

        deinit {
            unsafe row.deinitialize(count: 1)
            unsafe row.deallocate()
        }

        func begin(_ id: RecordID) throws(StoreError) {
            failure = nil
            try unsafe row.pointee.begin(id)
        }

        func set(_ value: consuming FieldValue, slot: Int, name: String) {
            do {
                if slot < declaredCount {
                    try unsafe row.pointee.set(value, slot: slot)
                } else {
                    try unsafe row.pointee.setUndeclared(value, name)
                }
            } catch {
                failure = failure ?? error
            }
        }

        func finish() throws(StoreError) {
            if let failure { throw failure }
            unsafe row.pointee.finish()
        }
    }
}
