import SyncContract

/// A record split into the columns of its table. Encoding one record after another reuses the memory.
struct EncodedRow {
    /// Which columns a record writes. Records of one shape are written by the same two statements.
    struct Shape: Hashable {
        var writesSlot: [Bool]
        var writesExtra = false
    }

    private let layout: TableLayout
    private(set) var id = SQLValue.null
    private(set) var shape: Shape
    private(set) var values: [SQLValue]
    private(set) var patch = ExtraValuesPatch()

    init(_ layout: TableLayout) {
        self.layout = layout
        shape = Shape(writesSlot: Array(repeating: false, count: layout.declaredCount))
        values = Array(repeating: .null, count: layout.declaredCount)
    }

    /// Takes over a record.
    ///
    /// - Throws: ``StoreError/Code/invalidRecord`` for an id of the wrong kind or a value that does not fit its column.
    mutating func encode(_ record: Record) throws(StoreError) {
        id = try layout.sqlValue(of: record.id)
        for slot in shape.writesSlot.indices { shape.writesSlot[slot] = false }
        if !patch.isEmpty { patch = ExtraValuesPatch() }
        for (name, value) in record.fields {
            if let slot = layout.slots[name], slot < layout.declaredCount {
                try encode(value, into: slot)
            } else {
                try encodeUndeclared(value, name)
            }
        }
        shape.writesExtra = !patch.isEmpty
    }

    private mutating func encode(_ value: FieldValue, into slot: Int) throws(StoreError) {
        let column = layout.columns[slot]
        guard let accepted = column.type.accepting(value) else {
            throw StoreError(
                .invalidRecord,
                "column '\(column.name)' of table '\(layout.definition.name)' takes \(column.type.rawValue) values;"
                    + " the record has another one there"
            )
        }
        values[slot] = SQLValue(accepted)
        shape.writesSlot[slot] = true
        // Also without a finer text: the one of an earlier value must go.
        if column.type == .date { patch.setFinerText(accepted.dateValue?.finerText, for: column.name) }
    }

    private mutating func encodeUndeclared(_ value: FieldValue, _ name: String) throws(StoreError) {
        if case .double(let number) = value, number.isNaN {
            throw StoreError(.invalidRecord, "a value of the record is not a number (NaN), which no store takes")
        }
        // A column of that name, left from an earlier declaration, keeps its value: the new one hides it.
        patch.set(value, for: name)
    }
}

extension EncodedRow.Shape {
    private var slots: [Int] { writesSlot.indices.filter { writesSlot[$0] } }

    /// Updates the row with the id; parameters: the id, the columns, the extra values and the patch for them.
    func updateSQL(_ layout: TableLayout) -> String {
        let extra = TableLayout.extraColumn.sqlIdentifier
        var assignments = slots.enumerated().map { "\(layout.columns[$1].name.sqlIdentifier) = ?\($0 + 2)" }
        if writesExtra {
            let first = slots.count + 2
            assignments.append(
                "\(extra) = CASE WHEN \(extra) IS NULL THEN ?\(first) ELSE"
                    + " \(SQLFunctions.merge)(\(extra), ?\(first + 1)) END"
            )
        }
        // A record without values still has to find out whether its row exists.
        if assignments.isEmpty { assignments = ["\(extra) = \(extra)"] }
        let table = layout.conflictClause + layout.sqlName
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \"id\" = ?1"
    }

    /// Inserts a row; parameters: the id, the columns, the extra values.
    func insertSQL(_ layout: TableLayout) -> String {
        var names = ["\"id\""] + slots.map { layout.columns[$0].name.sqlIdentifier }
        if writesExtra { names.append(TableLayout.extraColumn.sqlIdentifier) }
        let parameters = names.indices.map { "?\($0 + 1)" }
        return "INSERT \(layout.conflictClause)INTO \(layout.sqlName) (\(names.joined(separator: ", ")))"
            + " VALUES (\(parameters.joined(separator: ", ")))"
    }
}

extension EncodedRow {
    /// Binds the row to a statement of its shape.
    func bind(to statement: Statement, patching: Bool) throws(SQLiteFailure) {
        try statement.bind(id, at: 1)
        var index = 2
        for slot in values.indices where shape.writesSlot[slot] {
            try statement.bind(values[slot], at: index)
            index += 1
        }
        guard shape.writesExtra else { return }
        try statement.bind(patch.keptText.map(SQLValue.text) ?? .null, at: index)
        if patching { try statement.bind(.text(patch.text), at: index + 1) }
    }
}
