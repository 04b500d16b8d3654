package import SyncContract

/// The tables of a store as it remembers them itself, for reading it without the declarations of its app.
package struct RememberedTables: Sendable {
    /// The tables, system tables included, in the order in which they were made.
    package let layouts: [TableLayout]

    /// Reads what a database remembers. The path is what errors call it, when it was opened under another name.
    ///
    /// - Throws: `StoreError` with code `unsupportedFormat` for what only a newer version can have written.
    package init(_ database: Database, of path: String? = nil) throws {
        try Self.checkLayout(of: database, path)
        let stored = try StoredSchema(database)
        var names: [String] = []
        var kinds: [String: IDKind] = [:]
        var columns: [String: [(definition: ColumnDefinition, isDeclared: Bool)]] = [:]
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
                    let isSearchable = stored.searchIndexes.contains { $0.table == table && $0.column == column }
                    let definition = ColumnDefinition(column, type, isSearchable: isSearchable)
                    columns[table, default: []].append((definition, row.int64(3) != 0))
                }
            }
        }
        layouts = names.map { name in
            let columns = columns[name] ?? []
            let declared = columns.filter(\.isDeclared).map(\.definition)
            let table = TableDefinition(
                name,
                idKind: kinds[name] ?? .string(.exact),
                columns: declared,
                indexes: stored.indexes(of: name, over: declared)
            )
            return TableLayout(table, undeclared: columns.filter { !$0.isDeclared }.map(\.definition))
        }
    }

    /// Throws `StoreError` with code `unsupportedFormat` when a newer version has laid out the tables.
    package static func checkLayout(of database: Database, _ path: String? = nil) throws {
        let version = try database.int64("PRAGMA user_version") ?? 0
        guard version == SchemaMigrator.layoutVersion else {
            throw StoreError.unknownLayout(version, path ?? database.path)
        }
    }

    /// The tables of the app, as an app would declare them to open the store as it is.
    ///
    /// - Parameter version: That of the tables, which is found with rows, and matters to who opens the store: whoever looks
    ///   for damage has to know the tables first.
    /// - Returns: The tables, without the system's.
    /// - Throws: `StoreError` with code `invalidSchema` for names that no app can have declared.
    package func schema(version: Int = 1) throws(StoreError) -> StoreSchema {
        let systemNames = SystemTables.all.map(\.name)
        return try StoreSchema(
            stored: layouts.map(\.definition).filter { !systemNames.contains($0.name) },
            version: version
        )
    }
}

extension TableDefinition {
    /// A table of remembered columns, the server's among them.
    fileprivate init(_ name: String, idKind: IDKind, columns: [ColumnDefinition], indexes: [[String]]) {
        let properties = [SystemProperties.createdAt, .updatedAt, .version, .deleted]
            .filter { columns.contains($0.columns[0]) }
        let names = properties.map { $0.columns[0].name }
        self.init(
            name,
            idKind: idKind,
            columns.filter { !names.contains($0.name) },
            SystemProperties(properties),
            indexes
        )
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

extension StoredSchema {
    /// The columns of each index of a table, by the order of the indexes' names.
    fileprivate func indexes(of table: String, over columns: [ColumnDefinition]) -> [[String]] {
        let prefix = SchemaSQL.indexName([], of: table)
        let names = Set(columns.map(\.name) + ["id"])
        return indexes.filter { $0.hasPrefix(prefix) }.sorted()
            .map { $0.dropFirst(prefix.count).split(separator: ",").map(String.init) }
            .filter { names.isSuperset(of: $0) }
    }
}
