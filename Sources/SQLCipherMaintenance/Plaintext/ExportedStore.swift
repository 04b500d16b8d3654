import CSQLCipher
import SQLCipherStore
import SyncContract

/// A plain file that holds a whole store, as an export writes it.
struct ExportedStore: PlainContent {
    let droppedIndexes: [String] = []
    private let source: PlainDatabase
    private let schema: StoreSchema?

    /// Looks whether the file is still what was exported: anybody could write to it.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` for tables or values that a store cannot have.
    init(_ source: PlainDatabase, _ schema: StoreSchema?) throws {
        self.source = source
        self.schema = schema
        let database = source.database
        let remembered = try RememberedTables(database)
        let layouts = try TableCheck(database: database)
            .soundTables(remembered) { _ in }
        for layout in remembered.layouts
        where !layouts.contains(where: { $0.definition.name == layout.definition.name }) {
            throw Self.changed(layout.definition.name, "has lost columns or has others than were exported")
        }
        for name in try DatabaseContent(database).rowCounts.keys.sorted()
        where !layouts.contains(where: { $0.definition.name == name }) && !name.contains(":") {
            throw Self.changed(name, "was not exported with the others")
        }
        for entry in try DatabaseContent(database).entries where entry.type == "trigger" {
            throw Self.changed(entry.name, "is a trigger, which was not exported")
        }
        for index in try StoredSchema(database).searchIndexes {
            let layout = layouts.first { $0.definition.name == index.table }
            guard layout?.definition.type(of: index.column) == .string else {
                throw Self.changed(index.table, "lacks the column '\(index.column)', which could be searched")
            }
        }
        if let schema { try SchemaMigrator(database: database, schema: schema).check() }
        for layout in layouts { try check(layout) }
    }

    func write(
        to path: String,
        _ cipherConfiguration: CipherConfiguration,
        _ work: CancellableWork,
        _ progress: StoreProgressHandler?
    ) throws {
        let copy = DatabaseCopy(source: source.database, size: source.size, work: work, progress: progress)
        let content = try copy.run(to: path, cipherConfiguration)
        let database = try cipherConfiguration.open(path: path, flags: SQLITE_OPEN_READWRITE)
        try database.configureTemporary()
        guard try DatabaseContent(database) == content else {
            throw StoreError(
                .internal,
                "the copy lacks rows of '\(source.path)'; repeat, and report this if it stays so"
            )
        }
        // The plain file has only the names of the indexes for searching.
        for index in try StoredSchema(database).searchIndexes {
            try database.transaction(.writing) {
                try database.dropSearchIndex(index)
                try database.createSearchIndex(SearchIndex(table: index.table, column: index.column))
            }
        }
        if let schema { _ = try SchemaMigrator(database: database, schema: schema).migrate() }
    }

    private func check(_ layout: TableLayout) throws {
        let database = source.database
        let name = layout.definition.name
        let key = try PlainTable(name, database).primaryKey
        guard key == ["id"] else { throw Self.changed(name, "does not have 'id' as its primary key any more") }
        let check = RowCheck(layout: layout)
        let sql = "SELECT _rowid_, \(check.sqlColumns) FROM \(layout.sqlName)"
        try database.withStatement(sql) { row in
            while try row.step() {
                if let problem = check.problem(in: row) {
                    throw Self.changed(name, "has a row that no store has: \(problem)")
                }
            }
        }
    }

    private static func changed(_ table: String, _ what: String) -> StoreError {
        .notTakenOver("the file was changed after its export: '\(table)' \(what)", "undo that, or export anew")
    }
}
