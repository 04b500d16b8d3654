/// The tables a store keeps: the app's and the three system tables.
///
/// Names of tables and columns are compared exactly.
public struct StoreSchema: Sendable, Hashable {
    /// The app's tables, in declaration order.
    public let tables: [TableDefinition]

    /// Checks the declarations.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` that names the table and column: for a name
    ///   that breaks the rules of ``TableDefinition``, for names that are equal but for the case of ASCII letters
    ///   (SQLite does not tell them apart), for a reserved column name, for an index over an undeclared column, for a
    ///   searchable column that is not text, and for a column that refers to a table and is not text, or whose table is
    ///   not declared.
    public init(_ tables: [TableDefinition]) throws(StoreError) {
        var seen: Set<String> = []
        for table in tables {
            try Self.check(table)
            guard seen.insert(table.name.asciiLowercased()).inserted else {
                throw .invalidSchema("Table '\(table.name)' is declared twice; names must differ in more than case.")
            }
        }
        for table in tables { try Self.checkReferences(of: table, tables.map(\.name)) }
        self.tables = tables
    }

    /// The app's tables followed by the system tables.
    public var allTables: [TableDefinition] { tables + SystemTables.all }

    /// The declaration of a table, system tables included; nil when there is none of that name.
    public func table(_ name: String) -> TableDefinition? {
        tables.first { $0.name == name } ?? SystemTables.all.first { $0.name == name }
    }

    private static func check(_ table: TableDefinition) throws(StoreError) {
        let name = table.name
        let folded = name.asciiLowercased()
        guard isIdentifier(name), !folded.hasPrefix("sqlite_"), !folded.hasPrefix("ms_") else {
            throw .invalidSchema(
                "'\(name)' cannot name a table: use a letter or underscore, then letters, digits and underscores, 127"
                    + " at most, and neither 'sqlite_' nor 'MS_' in front."
            )
        }
        var seen: Set<String> = Set(SystemProperties.names.map { $0.asciiLowercased() }).union(["id"])
        for column in table.columns {
            guard isIdentifier(column.name), !column.name.hasPrefix("__") else {
                throw .invalidSchema(
                    "'\(column.name)' cannot name a column of '\(name)': use a letter or underscore, then letters,"
                        + " digits and underscores, 127 at most, and no two underscores in front."
                )
            }
            guard seen.insert(column.name.asciiLowercased()).inserted else {
                throw .invalidSchema(
                    "Column '\(column.name)' of '\(name)' is declared twice or is kept by the server; names must"
                        + " differ in more than case."
                )
            }
        }
        for column in table.columns where column.isSearchable && column.type != .string {
            throw .invalidSchema(
                "Column '\(column.name)' of '\(name)' is \(column.type.rawValue); only string columns are searchable."
            )
        }
        for column in table.indexes.joined() where column != "id" && table.type(of: column) == nil {
            throw .invalidSchema("An index of '\(name)' names the column '\(column)', which is not declared.")
        }
    }

    private static func checkReferences(of table: TableDefinition, _ tables: [String]) throws(StoreError) {
        for column in table.columns {
            guard let other = column.references else { continue }
            guard tables.contains(other) else {
                throw .invalidSchema(
                    "Column '\(column.name)' of '\(table.name)' refers to table '\(other)', which is not declared."
                )
            }
            guard column.type == .string else {
                throw .invalidSchema(
                    "Column '\(column.name)' of '\(table.name)' is \(column.type.rawValue); only string columns refer to"
                        + " a table."
                )
            }
        }
    }

    private static func isIdentifier(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= 127, !(48...57).contains(first) else { return false }
        return bytes.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
        }
    }
}
