import SyncContract

/// Compares records with the rows of a statement that reads all columns, without making values of what the rows hold.
///
/// It knows which column stands beside which value of records that share their list of names. A class, because it is handed
/// over for every row.
final class StoredRowComparison: Sendable {
    private let names: [String]
    private let ignored: [String]
    /// What is to be the same: a column of the statement, and where the record has its value; nil where it has none.
    private let pairs: [(column: Int, kind: ColumnType, slot: Int?)]
    /// Where the record has values that stand in no declared column.
    private let undeclaredSlots: [Int]
    /// The columns of the statement that are to be null: those that are declared no more, and the extra values.
    private let emptyColumns: [Int]

    /// Lines up.
    ///
    /// - Parameters:
    ///   - layout: The columns, as a ``RowReader`` without a selection reads them: the id first.
    ///   - record: One of the records that are to be compared.
    ///   - ignored: The names of columns that are not compared.
    init(_ layout: TableLayout, _ record: Record, ignoring ignored: [String]) {
        names = record.slotNames
        self.ignored = ignored
        let declared = layout.columns[..<layout.declaredCount]
        pairs = declared.indices.filter { !ignored.contains(declared[$0].name) }
            .map { [names] in ($0 + 1, declared[$0].type, names.firstIndex(of: declared[$0].name)) }
        undeclaredSlots = names.indices.filter { [names] slot in
            !ignored.contains(names[slot]) && layout.slots[names[slot]].map { $0 >= layout.declaredCount } ?? true
        }
        emptyColumns = Array((layout.declaredCount + 1)...(layout.columns.count + 1))
    }

    /// Whether it is of this record as well.
    func isOf(_ record: Record, ignoring ignored: [String]) -> Bool {
        names == record.slotNames && self.ignored == ignored
    }

    /// Whether the statement's row is stored just as the record would be. Rows with extra values are not: these are texts
    /// that would have to be read.
    func isSame(_ record: Record, _ row: Statement) -> Bool {
        let values = record.slotValues
        guard emptyColumns.allSatisfy(row.isNull), undeclaredSlots.allSatisfy({ values[$0] == nil }) else {
            return false
        }
        switch record.id {
        case .string(let id): guard row.isText(0, id) else { return false }
        case .int64(let id): guard row.int64(0) == id else { return false }
        }
        for pair in pairs {
            guard row.holds(pair.slot.flatMap { values[$0] } ?? .null, pair.column, pair.kind) else { return false }
        }
        return true
    }
}

extension Statement {
    /// Whether a column of the current row holds a value as it would be stored in a column of this kind, to the bit.
    fileprivate func holds(_ value: FieldValue, _ column: Int, _ kind: ColumnType) -> Bool {
        switch (storageClass(column), kind, value) {
        case (.null, _, .null): true
        case (.integer, .bool, .bool(let value)): int64(column) == (value ? 1 : 0)
        case (.integer, .int64, .int64(let value)): int64(column) == value
        case (.integer, .date, .date(let value)): int64(column) == value.milliseconds && value.finerText == nil
        case (.real, .double, .double(let value)): double(column).bitPattern == value.bitPattern
        case (.text, .decimal, .decimal(let value)): isText(column, value.text)
        case (.text, .string, .string(let value)): isText(column, value)
        case (.text, .json, .json(let value)): isText(column, value.text)
        case (.blob, .bytes, .bytes(let value)): isBlob(column, value)
        default: false
        }
    }
}
