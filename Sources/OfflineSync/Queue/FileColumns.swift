internal import SyncContract

/// The columns of synced tables that name files, remembered by the names of here beyond the version of the app that declares
/// them: a migration that drops one knows only the store, which has neither what names files nor what stays on the device.
struct FileColumns {
    let schema: StoreSchema

    /// Those of a table that are remembered; nil where none was ever declared to a version that remembers them.
    static func remembered(
        of table: String,
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> Set<String>? {
        try ConfigurationTable.row(.fileColumns, table, "", &reader).map(ConfigurationTable.names)
    }

    /// Whether others are declared than at the last look.
    func haveChanged(_ reader: inout some StoreReading & ~Copyable) throws -> Bool {
        try !changed(&reader).isEmpty
    }

    /// Remembers what is declared now.
    func follow(_ transaction: inout StoreTransaction) throws {
        for table in try changed(&transaction) {
            // Where none names a file any more, that is remembered, too.
            let value = Self.declared(in: table).sorted().joined(separator: " ")
            try ConfigurationTable.set(.fileColumns, table.name, "", ["value": .string(value)], &transaction)
        }
    }

    private func changed(_ reader: inout some StoreReading & ~Copyable) throws -> [TableDefinition] {
        let rows = try reader.records(ConfigurationTable.query(.fileColumns, anyOf: schema.tables.map(\.name)))
        var remembered: [String: Set<String>] = [:]
        for row in rows {
            if let table = row["table"]?.stringValue { remembered[table] = ConfigurationTable.names(in: row) }
        }
        return schema.tables.filter { Self.declared(in: $0) != remembered[$0.name] ?? [] }
    }

    private static func declared(in table: TableDefinition) -> Set<String> {
        guard !table.isLocalOnly else { return [] }
        return Set(table.columns.filter { $0.attachment != nil && !$0.isLocal }.map(\.name))
    }
}
