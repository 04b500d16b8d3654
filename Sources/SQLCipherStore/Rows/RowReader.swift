import SyncContract

/// Turns rows of one table into records: which columns a statement reads, and what they mean.
struct RowReader: Sendable {
    /// The columns in SQL: the id, the selected ones, and the extra values when they matter.
    let sqlColumns: String

    private let tableName: String
    private let hasNumericIDs: Bool
    private let names: [String]
    private let types: [ColumnType]
    /// How many of the columns are declared; a column that no longer is comes after them.
    private let declaredCount: Int
    private let readsExtra: Bool
    private let readsUndeclared: Bool
    private let readsSyncStates: Bool

    /// Reads the named columns, or all.
    init(_ layout: TableLayout, selection: [String]? = nil, readsSyncStates: Bool = false) {
        let columns: [ColumnDefinition]
        if let selection {
            columns = Set(selection.compactMap { layout.slots[$0] }).filter { $0 < layout.declaredCount }.sorted()
                .map { layout.columns[$0] }
            declaredCount = columns.count
            readsExtra = columns.contains { $0.type == .date }
        } else {
            columns = layout.columns
            declaredCount = layout.declaredCount
            readsExtra = true
        }
        readsUndeclared = selection == nil
        tableName = layout.definition.name
        hasNumericIDs = layout.definition.idKind == .int64
        names = columns.map(\.name)
        types = columns.map(\.type)
        var sqlNames = ["\"id\""] + names.map(\.sqlIdentifier)
        if readsExtra { sqlNames.append(TableLayout.extraColumn.sqlIdentifier) }
        self.readsSyncStates = readsSyncStates
        if readsSyncStates { sqlNames.append(SyncStateSQL.state(layout)) }
        sqlColumns = sqlNames.joined(separator: ", ")
    }

    /// The record in the statement's current row.
    func record(_ row: Statement) throws -> Record {
        let id: RecordID = hasNumericIDs ? .int64(row.int64(0)) : .string(row.text(0))
        let extraIndex = types.count + 1
        let extra = readsExtra && !row.isNull(extraIndex) ? try ExtraValues(text: row.text(extraIndex)) : nil
        var values: [FieldValue?] = []
        values.reserveCapacity(types.count)
        for slot in types.indices {
            if row.isNull(slot + 1) {
                // A column that is no longer declared is there for the rows that have a value in it.
                values.append(slot < declaredCount ? .some(.null) : nil)
            } else {
                values.append(try value(row, slot, extra))
            }
        }
        var record = Record(id: id, names: names, values: values)
        if readsSyncStates {
            record.syncState = SyncState(rawValue: row.text(readsExtra ? extraIndex + 1 : extraIndex))
        }
        if readsUndeclared, let extra {
            // Over the value in a column that is no longer declared: the key was written later.
            for (name, value) in try extra.undeclaredValues() { record[name] = value }
        }
        return record
    }

    private func value(_ row: Statement, _ slot: Int, _ extra: ExtraValues?) throws -> FieldValue {
        let index = slot + 1
        guard types[slot] == .date, let extra else { return try row.value(index, types[slot], names[slot], tableName) }
        return .date(extra.date(names[slot], milliseconds: row.int64(index)))
    }
}

extension Statement {
    /// The value of a column that is not null, of the kind it was stored as; dates without their finer text.
    ///
    /// - Throws: ``StoreError/Code/damaged`` for a decimal that is none, naming the column and the table.
    func value(_ index: Int, _ kind: ColumnType, _ name: String, _ table: String) throws(StoreError) -> FieldValue {
        switch kind {
        case .bool: return .bool(int64(index) != 0)
        case .int64: return .int64(int64(index))
        case .double: return .double(double(index))
        case .string: return .string(text(index))
        case .json: return .json(JSONText(validated: text(index)))
        case .bytes: return .bytes(bytes(index))
        case .date: return .date(Timestamp(milliseconds: int64(index)))
        case .decimal:
            guard let decimal = DecimalText(text(index)) else {
                throw StoreError(
                    .damaged,
                    "Column '\(name)' of table '\(table)' holds a text that is not a number; restore the store from a"
                        + " backup."
                )
            }
            return .decimal(decimal)
        }
    }
}
