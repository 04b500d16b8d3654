import SyncContract

/// Turns rows of one table into records: which columns a statement reads, and what they mean.
struct RowReader {
    private let layout: TableLayout
    private let slots: [Int]
    private let readsExtra: Bool
    private let readsUndeclared: Bool

    /// Reads the named columns, or all.
    init(_ layout: TableLayout, selection: [String]? = nil) {
        self.layout = layout
        readsUndeclared = selection == nil
        if let selection {
            slots = Set(selection.compactMap { layout.slots[$0] }).filter { $0 < layout.declaredCount }.sorted()
            readsExtra = slots.contains { layout.columns[$0].type == .date }
        } else {
            slots = Array(layout.columns.indices)
            readsExtra = true
        }
    }

    /// The columns in SQL: the id, the selected ones, and the extra values when they matter.
    var sqlColumns: String {
        var names = ["\"id\""] + slots.map { layout.columns[$0].name.sqlIdentifier }
        if readsExtra { names.append(TableLayout.extraColumn.sqlIdentifier) }
        return names.joined(separator: ", ")
    }

    /// The record in the statement's current row.
    func record(_ row: Statement) throws -> Record {
        let id: RecordID = layout.definition.idKind == .int64 ? .int64(row.int64(0)) : .string(row.text(0))
        let extraIndex = slots.count + 1
        let extra = readsExtra && !row.isNull(extraIndex) ? try ExtraValues(text: row.text(extraIndex)) : nil
        var values: [String: FieldValue] = [:]
        values.reserveCapacity(slots.count)
        for (index, slot) in slots.enumerated() {
            let column = layout.columns[slot]
            if row.isNull(index + 1) {
                // A column that is no longer declared is there for the rows that have a value in it.
                if slot < layout.declaredCount { values[column.name] = .null }
            } else {
                values[column.name] = try value(row, index + 1, column, extra)
            }
        }
        if readsUndeclared, let extra {
            // Over the value in a column that is no longer declared: the key was written later.
            for (name, value) in try extra.undeclaredValues() { values[name] = value }
        }
        return Record(id: id, values)
    }

    private func value(
        _ row: Statement,
        _ index: Int,
        _ column: ColumnDefinition,
        _ extra: ExtraValues?
    ) throws -> FieldValue {
        switch column.type {
        case .bool: return .bool(row.int64(index) != 0)
        case .int64: return .int64(row.int64(index))
        case .double: return .double(row.double(index))
        case .string: return .string(row.text(index))
        case .json: return .json(JSONText(validated: row.text(index)))
        case .bytes: return .bytes(row.bytes(index))
        case .date:
            let milliseconds = row.int64(index)
            return .date(
                extra?.date(column.name, milliseconds: milliseconds) ?? Timestamp(milliseconds: milliseconds)
            )
        case .decimal:
            guard let decimal = DecimalText(row.text(index)) else {
                throw StoreError(
                    .damaged,
                    "column '\(column.name)' of table '\(layout.definition.name)' holds a text that is no number;"
                        + " restore the store from a backup"
                )
            }
            return .decimal(decimal)
        }
    }
}
