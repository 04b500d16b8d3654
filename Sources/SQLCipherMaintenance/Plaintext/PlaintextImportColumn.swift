import SQLCipherStore
import SyncContract

/// How the values of a column of a foreign table become those of a store.
struct PlaintextImportColumn {
    let name: String
    let type: ColumnType?

    /// The type of a column by the values that it has, or, when it has none, by its declaration.
    ///
    /// - Parameters:
    ///   - declaration: What the table says about the column, in capitals.
    ///   - classes: How its values are stored, nulls apart.
    ///   - isTruth: Whether all values are 0 or 1.
    /// - Returns: The type; nil when no type has all the values, or the declared one does not.
    static func type(declaration: String, classes: Set<StorageClass>, isTruth: Bool) -> ColumnType? {
        let declared = declaredType(declaration)
        switch classes {
        case []: return declared ?? .string
        case [.integer]: return declared == .bool && isTruth ? .bool : .int64
        case [.real], [.integer, .real]: return .double
        case [.text]: return declared == .int64 || declared == .double ? nil : .string
        case [.blob]: return declared == nil || declared == .bytes ? .bytes : nil
        default: return nil
        }
    }

    /// SQLite's rules for the words of a declaration, and truth values; nil for words that say nothing about values.
    private static func declaredType(_ declaration: String) -> ColumnType? {
        func has(_ words: String...) -> Bool { words.contains { declaration.contains($0) } }
        if has("BOOL") { return .bool }
        if has("INT") { return .int64 }
        if has("CHAR", "CLOB", "TEXT") { return .string }
        if has("BLOB") { return .bytes }
        return has("REAL", "FLOA", "DOUB", "NUM", "DEC") ? .double : nil
    }

    /// A value as the type has it, exactly; nil when the type does not have it.
    func value(_ row: Statement, _ index: Int) -> FieldValue? {
        switch row.storageClass(index) {
        case .null: .some(.null)
        case .integer: integer(row.int64(index))
        case .real: real(row.double(index))
        case .text: String(validating: row.bytes(index), as: UTF8.self).flatMap(text)
        case .blob: type == .bytes || type == nil ? .bytes(row.bytes(index)) : .none
        }
    }

    private func integer(_ value: Int64) -> FieldValue? {
        switch type {
        case .bool: value == 0 || value == 1 ? .bool(value == 1) : .none
        case .int64, nil: .int64(value)
        case .double, .decimal: type?.accepting(.int64(value))
        default: .none
        }
    }

    private func real(_ value: Double) -> FieldValue? {
        switch type {
        case .int64: Int64(exactly: value).map(FieldValue.int64)
        case .double, nil: .double(value)
        case .decimal: DecimalText(shortestOf: value).map(FieldValue.decimal)
        default: .none
        }
    }

    private func text(_ value: String) -> FieldValue? {
        switch type {
        case .string, nil: .string(value)
        case .decimal: DecimalText(value).map(FieldValue.decimal)
        case .date: Timestamp(value).map(FieldValue.date)
        case .json: JSONText(value).map(FieldValue.json)
        default: .none
        }
    }
}
