import SyncContract

/// A record in the form in which it is bound: plain values, and its texts and bytes one after the other in a buffer.
///
/// Encoding one record after another uses the same memory. SQLite reads texts and bytes from the buffer and makes no
/// copy: the row must stay as it is until the statements it is bound to have run.
@safe
struct EncodedRow: ~Copyable {
    /// Which columns a record writes. Records of one shape are written by the same two statements.
    struct Shape {
        var writesSlot: [Bool]
        var extra = Extra.none
        /// The columns in which no other row may hold the same when the record is inserted.
        var uniqueColumns: [String] = []
    }

    /// What a record writes beside its columns: see ``ExtraValues``.
    enum Extra {
        case none
        /// Only that its dates have no finer texts: the same for all records of the shape.
        case clearsFinerTexts
        case patches
    }

    private let layout: TableLayout
    private let types: [ColumnType]
    private(set) var id = BoundValue.null
    private(set) var buffer = RowBuffer()
    private(set) var extra = Extra.none
    private(set) var patch = ExtraValuesPatch()

    /// The values of the declared columns, and which of them the record writes.
    private let values: UnsafeMutableBufferPointer<BoundValue>
    private let writesSlot: UnsafeMutableBufferPointer<Bool>

    /// What the patch is made of: values of undeclared keys, and the finer texts of dates by their columns.
    private var undeclared: [(name: String, value: FieldValue)] = []
    private var finerTexts: [Int: String] = [:]

    /// The names of the record before, and the column of each: -1 for undeclared ones.
    private var names: [String] = []
    private var slots: [Int] = []

    init(_ layout: TableLayout) {
        self.layout = layout
        types = layout.definition.allColumns.map(\.type)
        unsafe values = .allocate(capacity: layout.declaredCount)
        unsafe values.initialize(repeating: .null)
        unsafe writesSlot = .allocate(capacity: layout.declaredCount)
        unsafe writesSlot.initialize(repeating: false)
    }

    deinit {
        unsafe values.deallocate()
        unsafe writesSlot.deallocate()
    }

    /// Which columns the row writes, to be alone in some of them when it is inserted.
    func shape(uniqueColumns: [String]) -> Shape {
        Shape(writesSlot: unsafe Array(writesSlot), extra: extra, uniqueColumns: uniqueColumns)
    }

    /// Whether the row has a shape.
    func has(_ shape: borrowing Shape, uniqueColumns: [String]) -> Bool {
        guard extra == shape.extra, uniqueColumns == shape.uniqueColumns else { return false }
        for slot in unsafe writesSlot.indices where unsafe writesSlot[slot] != shape.writesSlot[slot] { return false }
        return true
    }

    /// Binds the values of the columns that the row writes, in order, and returns the number of the next parameter.
    func bindColumns(to statement: Statement, from first: Int) throws(SQLiteFailure) -> Int {
        var index = first
        for slot in unsafe writesSlot.indices where unsafe writesSlot[slot] {
            try statement.bind(unsafe values[slot], in: buffer, at: index)
            index += 1
        }
        return index
    }

    /// Takes over a record.
    ///
    /// - Throws: ``StoreError/Code/invalidRecord`` for an id of the wrong kind or a value that does not fit its column.
    mutating func encode(_ record: borrowing Borrowed<Record>) throws(StoreError) {
        try begin(record.value.id)
        // Records of one table mostly have the same names in the same order.
        if record.value.slotNames != names { find(record.value.slotNames) }
        var position = 0
        try Borrowed.forEach(record.value.slotValues) { value throws(StoreError) in
            try set(value, slot: slots[position], position: position)
            position += 1
        }
        finish()
    }

    private mutating func set(
        _ value: borrowing Borrowed<FieldValue?>,
        slot: Int,
        position: Int
    ) throws(StoreError) {
        switch value.value {
        case nil: break
        case .some(let value):
            if slot < 0 { try setUndeclared(copy value, names[position]) } else { try set(value, slot: slot) }
        }
    }

    /// Begins with a row: values follow, then ``finish()``.
    mutating func begin(_ id: borrowing RecordID) throws(StoreError) {
        removeAll()
        try layout.check(id)
        self.id = buffer.append(id)
    }

    /// Forgets the row, and gives back the memory of a large one.
    mutating func removeAll() {
        buffer.removeAll()
        unsafe writesSlot.update(repeating: false)
        extra = .none
        if !patch.isEmpty { patch = ExtraValuesPatch() }
        if !undeclared.isEmpty { undeclared = [] }
        if !finerTexts.isEmpty { finerTexts = [:] }
    }

    /// Ends a row.
    mutating func finish() {
        guard !undeclared.isEmpty || !finerTexts.isEmpty else { return }
        extra = .patches
        // A column of that name, left from an earlier declaration, keeps its value: the new one hides it.
        for (name, value) in undeclared { patch.set(value, for: name) }
        for slot in layout.dateSlots where unsafe writesSlot[slot] {
            patch.setFinerText(finerTexts[slot], for: layout.columns[slot].name)
        }
    }

    private mutating func find(_ names: [String]) {
        self.names = names
        slots = names.map { name in layout.slots[name].flatMap { $0 < layout.declaredCount ? $0 : nil } ?? -1 }
    }

    /// Takes the value of a declared column.
    mutating func set(_ value: borrowing FieldValue, slot: Int) throws(StoreError) {
        let type = types[slot]
        if !finerTexts.isEmpty { finerTexts[slot] = nil }
        unsafe writesSlot[slot] = true
        unsafe values[slot] = try bound(value, type, slot)
        // Also without a finer text: the one of an earlier value must go.
        if type == .date { extra = .clearsFinerTexts }
    }

    /// Takes a text in the same way.
    mutating func set(text: borrowing String, slot: Int) throws(StoreError) {
        guard types[slot] == .string else { return try set(.string(copy text), slot: slot) }
        unsafe writesSlot[slot] = true
        unsafe values[slot] = buffer.append(text: text)
    }

    private mutating func bound(
        _ value: borrowing FieldValue,
        _ type: ColumnType,
        _ slot: Int
    ) throws(StoreError) -> BoundValue {
        switch value {
        case .null: return .null
        case .bool(let value): if type == .bool { return .int64(value ? 1 : 0) }
        case .int64(let value): if type == .int64 { return .int64(value) }
        case .double(let value): if type == .double, !value.isNaN { return .double(value) }
        case .string(let value): if type == .string { return buffer.append(text: value) }
        case .decimal(let value): if type == .decimal { return buffer.append(text: value.text) }
        case .json(let value): if type == .json { return buffer.append(text: value.text) }
        case .bytes(let value): if type == .bytes { return buffer.append(bytes: value) }
        case .date(let value):
            if type == .date {
                if let text = value.finerText { finerTexts[slot] = text }
                return .int64(value.milliseconds)
            }
        }
        return try converted(copy value, slot)
    }

    /// A value of another type than its column's.
    private mutating func converted(_ value: FieldValue, _ slot: Int) throws(StoreError) -> BoundValue {
        let column = layout.columns[slot]
        switch column.type.accepting(value) {
        case .double(let value): return .double(value)
        case .decimal(let value): return buffer.append(text: value.text)
        default:
            throw StoreError(
                .invalidRecord,
                "Column '\(column.name)' of table '\(layout.definition.name)' takes \(column.type.rawValue) values;"
                    + " the record has another one there."
            )
        }
    }

    /// Takes the value of an undeclared key.
    mutating func setUndeclared(_ value: FieldValue, _ name: String) throws(StoreError) {
        if case .double(let number) = value, number.isNaN {
            throw StoreError(.invalidRecord, "A value of the record is not a number (NaN), which no store takes.")
        }
        if let index = undeclared.firstIndex(where: { $0.name == name }) {
            undeclared[index].value = value
        } else {
            undeclared.append((name, value))
        }
    }
}

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
