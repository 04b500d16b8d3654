import SQLCipherStore
import SyncContract

/// Says which value of a row is none of its column.
struct RowCheck {
    let layout: TableLayout

    /// The columns to read, in the order of ``problem(in:)``: after the row's number the id, the columns, the extra
    /// values.
    var sqlColumns: String {
        (["id"] + layout.columns.map(\.name) + [TableLayout.extraColumn]).map(\.sqlIdentifier).joined(separator: ", ")
    }

    /// What is wrong with the statement's current row; nil when nothing is. Reads every value to its end.
    func problem(in row: Statement) -> String? {
        guard row.storageClass(1) == (layout.definition.idKind == .int64 ? .integer : .text), isWhole(row, 1) else {
            return "the id is none of this table"
        }
        for (index, column) in layout.columns.enumerated() where !row.isNull(index + 2) {
            if !fits(row, index + 2, column.type) { return "column '\(column.name)' holds no \(column.type.rawValue)" }
        }
        let extra = layout.columns.count + 2
        guard row.isNull(extra) || hasExtraValues(row, extra) else {
            return "the values of undeclared columns cannot be read"
        }
        return nil
    }

    private func fits(_ row: Statement, _ index: Int, _ type: ColumnType) -> Bool {
        switch (type, row.storageClass(index)) {
        case (.bool, .integer): (0...1).contains(row.int64(index))
        case (.int64, .integer), (.date, .integer), (.double, .real): true
        case (.decimal, .text): isWhole(row, index) && DecimalText(row.text(index)) != nil
        case (.string, .text): isWhole(row, index)
        case (.json, .text): isWhole(row, index) && JSONText(row.text(index)) != nil
        case (.bytes, .blob): row.bytes(index).count == row.byteCount(index)
        default: false
        }
    }

    /// Whether a text is UTF-8: otherwise reading it gives another one.
    private func isWhole(_ row: Statement, _ index: Int) -> Bool {
        row.storageClass(index) != .text || String(validating: row.bytes(index), as: UTF8.self) != nil
    }

    private func hasExtraValues(_ row: Statement, _ index: Int) -> Bool {
        guard row.storageClass(index) == .text, isWhole(row, index) else { return false }
        do {
            _ = try ExtraValues(text: row.text(index)).undeclaredValues()
            return true
        } catch {
            // The finding says all there is to say: the error would quote nothing else.
            return false
        }
    }
}
