import SyncContract

/// The tables as an earlier open left them, from the table that remembers what each column was declared as.
package struct StoredSchema: Sendable {
    struct Table: Sendable {
        var idKind: String = ""
        var columns: [String: Column] = [:]
    }

    struct Column: Sendable {
        var type: ColumnType
        var isDeclared: Bool
    }

    var tables: [String: Table] = [:]
    var indexes: Set<String> = []
    package var searchIndexes: Set<SearchIndex> = []

    init() {}

    /// Reads what is remembered; nothing in a new database.
    package init(_ database: Database) throws {
        var hasMemory = false
        try database.withStatement(SchemaSQL.readNames) { statement in
            while try statement.step() {
                let name = statement.text(0)
                if name.hasPrefix(SchemaSQL.indexPrefix) {
                    indexes.insert(name)
                } else if name == SchemaSQL.memoryName {
                    hasMemory = true
                } else if let index = SearchIndex(storedName: name) {
                    searchIndexes.insert(index)
                }
            }
        }
        guard hasMemory else { return }
        try database.withStatement(SchemaSQL.readMemory) { statement in
            while try statement.step() {
                let (table, column, type) = (statement.text(0), statement.text(1), statement.text(2))
                if column == "id" {
                    tables[table, default: Table()].idKind = type
                } else if let type = ColumnType(rawValue: type) {
                    let column = (column, Column(type: type, isDeclared: statement.int64(3) != 0))
                    tables[table, default: Table()].columns[column.0] = column.1
                } else {
                    throw StoreError.unknownColumnType
                }
            }
        }
    }
}

/// The SQL of the tables that describe tables.
package enum SchemaSQL {
    /// No declared name holds a colon, so these names are free.
    static let indexPrefix = "index:"
    static let memoryName = "sealed:columns"
    static let memory = memoryName.sqlIdentifier
    package static let findMemory = "SELECT name FROM sqlite_master WHERE name = '\(memoryName)'"
    static let readNames =
        "SELECT name FROM sqlite_master WHERE type IN ('index', 'table') AND instr(name, ':') > 0"
    static let readMemory = "SELECT \"table\", \"column\", \"type\", \"declared\" FROM \(memory) ORDER BY rowid"
    static let createMemory = """
        CREATE TABLE IF NOT EXISTS \(memory) ("table" TEXT NOT NULL, "column" TEXT NOT NULL, "type" TEXT NOT NULL, \
        "declared" INTEGER NOT NULL, PRIMARY KEY ("table", "column"))
        """
    static let remember = "INSERT INTO \(memory) VALUES (?1, ?2, ?3, 1)"
    static let markDeclared = "UPDATE \(memory) SET \"declared\" = ?3 WHERE \"table\" = ?1 AND \"column\" = ?2"

    static let forget = "DELETE FROM \(memory) WHERE \"table\" = ?1"

    /// The name of a table that is about to be dropped, when its rows have been written anew.
    static func leaving(_ table: String) -> String { "leaving:\(table)".sqlIdentifier }

    static func createTable(_ table: TableDefinition) -> String {
        let columns = table.allColumns.map { "\($0.name.sqlIdentifier) \($0.type.sqlType)" }
        let list = [table.idKind.sqlColumn] + columns + ["\(TableLayout.extraColumn.sqlIdentifier) TEXT"]
        return "CREATE TABLE \(table.name.sqlIdentifier) (\(list.joined(separator: ", ")))"
    }

    static func addColumn(_ column: ColumnDefinition, to table: String) -> String {
        "ALTER TABLE \(table.sqlIdentifier) ADD COLUMN \(column.name.sqlIdentifier) \(column.type.sqlType)"
    }

    static func indexName(_ columns: [String], of table: String) -> String {
        "\(indexPrefix)\(table):\(columns.joined(separator: ","))"
    }

    static func createIndex(_ columns: [String], of table: String) -> String {
        let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
        return "CREATE INDEX \(indexName(columns, of: table).sqlIdentifier) ON \(table.sqlIdentifier) (\(list))"
    }
}
