import QueryEvaluation
import SyncContract

/// What has to be done to bring the stored tables to the declared ones. Pure: made before anything is touched.
struct SchemaPlan: Sendable {
    enum Step: Sendable {
        case createTable(TableDefinition)
        case addColumn(ColumnDefinition, table: String)
        /// A column that was declared once is declared again.
        case declareAgain(ColumnDefinition, table: String)
        /// A column is no longer declared: it stays, and its values are those of an undeclared key.
        case undeclare(String, table: String)
        case createIndex([String], table: String)
        case dropIndex(String)
        case createSearchIndex(SearchIndex)
        case dropSearchIndex(SearchIndex)
    }

    /// SQLite 3.15 binds 999 values in one statement at most; a row needs one for each column and three more.
    static let maximumColumnCount = 900

    private(set) var steps: [Step] = []

    /// The tables as they are after the steps.
    private(set) var layouts: [TableLayout] = []

    /// Compares the stored tables with the declared ones.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` when they cannot be brought together;
    ///   ``StoreError/Code/invalidSchema`` for more columns than a table can have.
    init(from stored: StoredSchema, to schema: StoreSchema) throws(StoreError) {
        for table in schema.allTables { try add(table, stored) }
        let declaredTables = Set(schema.allTables.map(\.name))
        let wanted = Set(
            schema.allTables.flatMap { table in
                table.indexes.map { SchemaSQL.indexName($0, of: table.name) }
            }
        )
        for name in stored.indexes.subtracting(wanted).sorted() {
            // The index of an undeclared table waits for the table to be declared again.
            let table = name.dropFirst(SchemaSQL.indexPrefix.count).prefix { $0 != ":" }
            if declaredTables.contains(String(table)) { steps.append(.dropIndex(name)) }
        }
        addSearchIndexes(stored, declaredTables)
    }

    /// What is dropped goes first: triggers of an older version call functions that this one does not have.
    private mutating func addSearchIndexes(_ stored: StoredSchema, _ declaredTables: Set<String>) {
        let wanted = layouts.flatMap { $0.searchIndexes.values }.sorted { $0.words < $1.words }
        let dropped = stored.searchIndexes.subtracting(wanted)
            .filter { declaredTables.contains($0.table) || $0.version != TextFolding.version }
            .sorted { $0.words < $1.words }
        let created = wanted.filter { !stored.searchIndexes.contains($0) }
        steps = dropped.map(Step.dropSearchIndex) + steps + created.map(Step.createSearchIndex)
    }

    private mutating func add(_ table: TableDefinition, _ stored: StoredSchema) throws(StoreError) {
        let existing = stored.tables[table.name]
        if existing == nil, let other = stored.tables.keys.first(where: { $0.equalsIgnoringCase(table.name) }) {
            throw Self.mismatch("table '\(table.name)' is stored as '\(other)'; declare it in that spelling")
        }
        var undeclared: [ColumnDefinition] = []
        if let existing {
            guard existing.idKind == table.idKind.storedName else {
                throw Self.mismatch(
                    "the ids of table '\(table.name)' are stored as \(existing.idKind) and declared as"
                        + " \(table.idKind.storedName); declare them as they are stored, or fill a new table"
                )
            }
            let columns = table.allColumns
            for column in columns { try add(column, table.name, existing) }
            undeclared = Self.undeclaredColumns(of: existing, beside: columns)
            for column in undeclared where existing.columns[column.name]?.isDeclared == true {
                steps.append(.undeclare(column.name, table: table.name))
            }
        } else {
            steps.append(.createTable(table))
        }
        for columns in table.indexes where !stored.indexes.contains(SchemaSQL.indexName(columns, of: table.name)) {
            steps.append(.createIndex(columns, table: table.name))
        }
        let layout = TableLayout(table, undeclared: undeclared)
        guard layout.columns.count <= Self.maximumColumnCount else {
            throw StoreError(
                .invalidSchema,
                "table '\(table.name)' has \(layout.columns.count) columns, those included that were declared once;"
                    + " \(Self.maximumColumnCount) is the most"
            )
        }
        layouts.append(layout)
    }

    private static func undeclaredColumns(
        of table: StoredSchema.Table,
        beside columns: [ColumnDefinition]
    ) -> [ColumnDefinition] {
        // Mostly there are none, and every opening asks.
        guard table.columns.count > columns.count(where: { table.columns[$0.name] != nil }) else { return [] }
        let declared = Set(columns.map(\.name))
        return table.columns.filter { !declared.contains($0.key) }
            .sorted { $0.key < $1.key }
            .map { ColumnDefinition($0.key, $0.value.type) }
    }

    private mutating func add(
        _ column: ColumnDefinition,
        _ table: String,
        _ existing: StoredSchema.Table
    ) throws(StoreError) {
        guard let stored = existing.columns[column.name] else {
            if let other = existing.columns.keys.first(where: { $0.equalsIgnoringCase(column.name) }) {
                throw Self.mismatch(
                    "column '\(column.name)' of table '\(table)' is stored as '\(other)'; declare it in that spelling"
                )
            }
            return steps.append(.addColumn(column, table: table))
        }
        guard stored.type == column.type else {
            throw Self.mismatch(
                "column '\(column.name)' of table '\(table)' is stored as \(stored.type.rawValue) and declared as"
                    + " \(column.type.rawValue); declare it as it is stored, or use another name"
            )
        }
        if !stored.isDeclared { steps.append(.declareAgain(column, table: table)) }
    }

    private static func mismatch(_ message: String) -> StoreError { StoreError(.schemaMismatch, message) }
}

extension String {
    /// SQLite's comparison of names.
    fileprivate func equalsIgnoringCase(_ other: String) -> Bool { asciiLowercased() == other.asciiLowercased() }
}
