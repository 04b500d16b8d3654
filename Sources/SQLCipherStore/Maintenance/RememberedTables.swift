import SyncContract

/// The tables of a store as it remembers them itself, for reading it without the declarations of its app.
struct RememberedTables: Sendable {
    /// The tables, system tables included, in the order in which they were made.
    let layouts: [TableLayout]

    /// Reads what a database remembers. The path is what errors call it, when it was opened under another name.
    ///
    /// - Throws: `StoreError` with code `unsupportedFormat` for what only a newer version can have written.
    init(_ database: Database, of path: String? = nil) throws {
        let version = try database.int64("PRAGMA user_version") ?? 0
        guard version == SchemaMigrator.layoutVersion else {
            throw StoreError.unknownLayout(version, path ?? database.path)
        }
        var names: [String] = []
        var kinds: [String: IDKind] = [:]
        var declared: [String: [ColumnDefinition]] = [:]
        var undeclared: [String: [ColumnDefinition]] = [:]
        guard try database.text(SchemaSQL.findMemory) != nil else {
            layouts = []
            return
        }
        try database.withStatement(SchemaSQL.readMemory) { row in
            while try row.step() {
                let (table, column, type) = (row.text(0), row.text(1), row.text(2))
                if column == "id" {
                    guard let kind = IDKind(storedName: type) else { throw StoreError.unknownColumnType }
                    names.append(table)
                    kinds[table] = kind
                } else {
                    guard let type = ColumnType(rawValue: type) else { throw StoreError.unknownColumnType }
                    let definition = ColumnDefinition(column, type)
                    if row.int64(3) != 0 {
                        declared[table, default: []].append(definition)
                    } else {
                        undeclared[table, default: []].append(definition)
                    }
                }
            }
        }
        layouts = names.map { name in
            TableLayout(
                TableDefinition(name, idKind: kinds[name] ?? .string(.exact), columns: declared[name] ?? []),
                undeclared: undeclared[name] ?? []
            )
        }
    }

    /// The tables of the app, as an app would declare them to open the store as it is.
    var schema: StoreSchema {
        get throws(StoreError) {
            let systemNames = SystemTables.all.map(\.name)
            return try StoreSchema(layouts.map(\.definition).filter { !systemNames.contains($0.name) })
        }
    }
}

extension TableDefinition {
    /// A table of remembered columns, the server's among them.
    fileprivate init(_ name: String, idKind: IDKind, columns: [ColumnDefinition]) {
        let properties = [SystemProperties.createdAt, .updatedAt, .version, .deleted]
            .filter { columns.contains($0.columns[0]) }
        let names = properties.map { $0.columns[0].name }
        self.init(name, idKind: idKind, columns.filter { !names.contains($0.name) }, SystemProperties(properties), [])
    }
}

extension IDKind {
    /// The kind that is remembered under a word.
    fileprivate init?(storedName: String) {
        let kinds: [IDKind] = [.int64, .string(.exact), .string(.asciiCaseInsensitive)]
        guard let kind = kinds.first(where: { $0.storedName == storedName }) else { return nil }
        self = kind
    }
}
