import SyncContract

/// A record in the form in which it is bound: plain values, and its texts and bytes one after the other in a buffer.
///
/// Encoding one record after another uses the same memory. SQLite reads texts and bytes from the buffer and makes no
/// copy: the row must stay as it is until the statements it is bound to have run.
struct EncodedRow {
    /// Which columns a record writes. Records of one shape are written by the same two statements.
    struct Shape: Equatable {
        var writesSlot: [Bool]
        var extra = Extra.none
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
    private(set) var shape: Shape
    private(set) var values: [BoundValue]
    private(set) var buffer = RowBuffer()
    private(set) var patch = ExtraValuesPatch()

    /// What the patch is made of: values of undeclared keys, and the finer texts of dates by their columns.
    private var undeclared: [(name: String, value: FieldValue)] = []
    private var finerTexts: [Int: String] = [:]

    /// The names of the record before, and the column of each: nil for undeclared ones.
    private var names: [String] = []
    private var slots: [Int?] = []

    init(_ layout: TableLayout) {
        self.layout = layout
        types = layout.definition.allColumns.map(\.type)
        shape = Shape(writesSlot: Array(repeating: false, count: layout.declaredCount))
        values = Array(repeating: .null, count: layout.declaredCount)
    }

    /// Takes over a record.
    ///
    /// - Throws: ``StoreError/Code/invalidRecord`` for an id of the wrong kind or a value that does not fit its column.
    mutating func encode(_ record: Record) throws(StoreError) {
        try begin(record.id)
        // Records of one table mostly have the same names in the same order.
        if record.slotNames != names { find(record.slotNames) }
        for position in slots.indices {
            guard let value = record.slotValues[position] else { continue }
            if let slot = slots[position] {
                try set(value, slot: slot)
            } else {
                try setUndeclared(value, names[position])
            }
        }
        finish()
    }

    /// Begins with a row: values follow, then ``finish()``.
    mutating func begin(_ id: RecordID) throws(StoreError) {
        buffer.removeAll()
        try layout.check(id)
        self.id = buffer.append(id)
        for slot in shape.writesSlot.indices { shape.writesSlot[slot] = false }
        shape.extra = .none
        if !patch.isEmpty { patch = ExtraValuesPatch() }
        if !undeclared.isEmpty { undeclared = [] }
        if !finerTexts.isEmpty { finerTexts = [:] }
    }

    /// Ends a row.
    mutating func finish() {
        guard !undeclared.isEmpty || !finerTexts.isEmpty else { return }
        shape.extra = .patches
        // A column of that name, left from an earlier declaration, keeps its value: the new one hides it.
        for (name, value) in undeclared { patch.set(value, for: name) }
        for slot in layout.dateSlots where shape.writesSlot[slot] {
            patch.setFinerText(finerTexts[slot], for: layout.columns[slot].name)
        }
    }

    private mutating func find(_ names: [String]) {
        self.names = names
        slots = names.map { name in layout.slots[name].flatMap { $0 < layout.declaredCount ? $0 : nil } }
    }

    /// Takes the value of a declared column.
    mutating func set(_ value: FieldValue, slot: Int) throws(StoreError) {
        shape.writesSlot[slot] = true
        let type = types[slot]
        if !finerTexts.isEmpty { finerTexts[slot] = nil }
        switch (type, value) {
        case (_, .null): values[slot] = .null
        case (.bool, .bool(let value)): values[slot] = .int64(value ? 1 : 0)
        case (.int64, .int64(let value)): values[slot] = .int64(value)
        case (.double, .double(let value)) where !value.isNaN: values[slot] = .double(value)
        case (.string, .string(let value)): values[slot] = buffer.append(text: value)
        case (.decimal, .decimal(let value)): values[slot] = buffer.append(text: value.text)
        case (.json, .json(let value)): values[slot] = buffer.append(text: value.text)
        case (.bytes, .bytes(let value)): values[slot] = buffer.append(bytes: value)
        case (.date, .date(let value)):
            values[slot] = .int64(value.milliseconds)
            if let text = value.finerText { finerTexts[slot] = text }
        default: try set(converting: value, slot: slot)
        }
        // Also without a finer text: the one of an earlier value must go.
        if type == .date { shape.extra = .clearsFinerTexts }
    }

    /// A value of another type than its column's.
    private mutating func set(converting value: FieldValue, slot: Int) throws(StoreError) {
        let column = layout.columns[slot]
        switch column.type.accepting(value) {
        case .double(let value): values[slot] = .double(value)
        case .decimal(let value): values[slot] = buffer.append(text: value.text)
        default:
            throw StoreError(
                .invalidRecord,
                "column '\(column.name)' of table '\(layout.definition.name)' takes \(column.type.rawValue) values;"
                    + " the record has another one there"
            )
        }
    }

    /// Takes the value of an undeclared key.
    mutating func setUndeclared(_ value: FieldValue, _ name: String) throws(StoreError) {
        if case .double(let number) = value, number.isNaN {
            throw StoreError(.invalidRecord, "a value of the record is not a number (NaN), which no store takes")
        }
        if let index = undeclared.firstIndex(where: { $0.name == name }) {
            undeclared[index].value = value
        } else {
            undeclared.append((name, value))
        }
    }
}

extension EncodedRow.Shape {
    /// The columns that are written, in order.
    var slots: [Int] { writesSlot.indices.filter { writesSlot[$0] } }

    /// Updates the row with the id; parameters: the id, the columns, the extra values and the patch for them.
    func updateSQL(_ layout: TableLayout) -> String {
        let extraColumn = TableLayout.extraColumn.sqlIdentifier
        var assignments = slots.enumerated().map { "\(layout.columns[$1].name.sqlIdentifier) = ?\($0 + 2)" }
        if extra != .none {
            let first = slots.count + 2
            assignments.append(
                "\(extraColumn) = CASE WHEN \(extraColumn) IS NULL THEN ?\(first) ELSE"
                    + " \(SQLFunctions.merge)(\(extraColumn), ?\(first + 1)) END"
            )
        }
        // A record without values still has to find out whether its row exists.
        if assignments.isEmpty { assignments = ["\(extraColumn) = \(extraColumn)"] }
        let table = layout.conflictClause + layout.sqlName
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \"id\" = ?1"
    }

    /// Inserts a row; parameters: the id, the columns, the extra values.
    func insertSQL(_ layout: TableLayout) -> String {
        var names = ["\"id\""] + slots.map { layout.columns[$0].name.sqlIdentifier }
        if extra != .none { names.append(TableLayout.extraColumn.sqlIdentifier) }
        let parameters = names.indices.map { "?\($0 + 1)" }
        return "INSERT \(layout.conflictClause)INTO \(layout.sqlName) (\(names.joined(separator: ", ")))"
            + " VALUES (\(parameters.joined(separator: ", ")))"
    }
}
