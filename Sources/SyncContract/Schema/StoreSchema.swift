/// The tables a store keeps: the app's and the three system tables.
///
/// Names of tables and columns are compared exactly. Two schemas are equal when their versions and tables are.
public struct StoreSchema: Sendable, ExpressibleByArrayLiteral {
    /// The version of the tables. A store records it, and is refused by a schema of a lower one.
    public let version: Int

    /// The app's tables, in declaration order.
    public let tables: [TableDefinition]

    /// How stores of earlier versions become this one, from version 2 on.
    public let migrations: [Migration]

    /// What is wrong with the tables of a literal.
    private let problem: StoreError?

    /// Checks the declarations, and that the migrations lead to them.
    ///
    /// - Parameters:
    ///   - version: The version of the tables. It rises when something that stores have already is renamed, converted,
    ///     filled or dropped; tables and columns that are merely new need no other version.
    ///   - tables: The app's tables.
    ///   - migrations: One to each version from 2 on, in order. Those of old versions stay for stores that were not opened
    ///     since.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` that names the table and column: for a name
    ///   that breaks the rules of ``TableDefinition``, for names that are equal but for the case of ASCII letters
    ///   (SQLite does not tell them apart), for a reserved column name, for an index over no column or an undeclared one, for a
    ///   searchable column that is not text, for a column that refers to a table and is not text, or whose table is
    ///   not declared, and for names on the wire that are no names, are equal, or belong to what stays on this device;
    ///   for migrations with a gap, and for a step that speaks of a table or column that there is not.
    public init(
        version: Int = 1,
        _ tables: [TableDefinition],
        migrations: [Migration] = []
    ) throws(StoreError) {
        try self.init(stored: tables, version: version, migrations)
        var check = MigrationCheck(tables)
        try check.check(migrations, to: version)
    }

    /// Tables of version 1: `[.init(TodoItem.self), .init(Customer.self)]`.
    ///
    /// They are checked when a store is opened with them, see ``check()``; a store in memory is open at once, and its reads
    /// and writes throw then.
    public init(arrayLiteral tables: TableDefinition...) {
        version = 1
        self.tables = tables
        migrations = []
        do throws(StoreError) {
            try Self.check(tables)
            problem = nil
        } catch {
            problem = error
        }
    }

    /// Throws what is wrong with a schema that was written as a literal. Whoever opens a store calls this first.
    ///
    /// - Throws: As ``init(version:_:migrations:)``. A schema that was made by another initializer throws nothing.
    public func check() throws(StoreError) { if let problem { throw problem } }

    /// The tables of a store as it remembers them itself, of whatever version.
    package init(
        stored tables: [TableDefinition],
        version: Int,
        _ migrations: [Migration] = []
    ) throws(StoreError) {
        try Self.check(tables)
        self.version = version
        self.tables = tables
        self.migrations = migrations
        problem = nil
    }

    /// This schema with further tables, of which its migrations know nothing.
    package func adding(_ others: [TableDefinition]) throws(StoreError) -> StoreSchema {
        try check()
        return try StoreSchema(stored: tables + others, version: version, migrations)
    }

    private static func check(_ tables: [TableDefinition]) throws(StoreError) {
        var seen: Set<String> = []
        for table in tables {
            try Self.check(table)
            guard seen.insert(table.name.asciiLowercased()).inserted else {
                throw .invalidSchema("Table '\(table.name)' is declared twice; names must differ in more than case.")
            }
        }
        for table in tables { try Self.checkReferences(of: table, tables.map(\.name)) }
        try Self.checkWireNames(of: tables)
    }

    /// The app's tables followed by the system tables.
    public var allTables: [TableDefinition] { tables + SystemTables.all }

    /// The app's tables that are kept in step with a server.
    package var syncedTables: [TableDefinition] { tables.filter { !$0.isLocalOnly } }

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
        for column in table.columns where column.textForm != .text && column.type != .string {
            throw .invalidSchema(
                "Column '\(column.name)' of '\(name)' is \(column.type.rawValue); only string columns hold days and times of"
                    + " day."
            )
        }
        for column in table.columns where column.attachment != nil && column.type != .string {
            throw .invalidSchema(
                "Column '\(column.name)' of '\(name)' is \(column.type.rawValue); only string columns name files."
            )
        }
        guard !table.indexes.contains([]) else {
            throw .invalidSchema("An index of '\(name)' names no column; name those to find rows by, or leave it out.")
        }
        for column in table.indexes.joined() where column != "id" && table.type(of: column) == nil {
            throw .invalidSchema("An index of '\(name)' names the column '\(column)', which is not declared.")
        }
    }

    private static func checkReferences(of table: TableDefinition, _ tables: [String]) throws(StoreError) {
        for column in table.columns {
            guard let other = column.references else {
                guard column.onDelete == .noAction else {
                    throw .invalidSchema(
                        "Column '\(column.name)' of '\(table.name)' has a rule for deletions and refers to no table."
                    )
                }
                continue
            }
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

    static func isIdentifier(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= 127, !(48...57).contains(first) else { return false }
        return bytes.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
        }
    }
}

extension StoreSchema: Hashable {
    /// Compares versions and tables. Migrations lead there, and have closures.
    public static func == (left: StoreSchema, right: StoreSchema) -> Bool {
        left.version == right.version && left.tables == right.tables
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(tables)
    }
}
