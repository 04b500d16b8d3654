import SQLCipherStore
import SyncContract

/// A table of a plain file, as SQLite describes it.
struct PlainTable {
    struct Column {
        let name: String
        /// What stands behind the name, in capitals.
        let declaration: String
        /// The place in the primary key, from 1 on; 0 for none.
        let keyPosition: Int
    }

    struct Index {
        let name: String
        /// The columns; nil when it is none that a store can have: unique, partial, descending, with an order of its
        /// own, or over expressions.
        let columns: [String]?
    }

    let name: String
    let columns: [Column]
    let indexes: [Index]

    /// Whether the primary key compares texts without the case of ASCII letters.
    let foldsKey: Bool

    /// The columns of the primary key in its order.
    var primaryKey: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    /// The name, ready for SQL.
    var sqlName: String { name.sqlIdentifier }

    /// Reads the description of a table.
    init(_ name: String, _ database: Database) throws {
        self.name = name
        columns = try database.withStatement("PRAGMA table_info(\(name.sqlIdentifier))") { row in
            var columns: [Column] = []
            while try row.step() {
                let declaration = row.text(2).asciiUppercased()
                columns.append(Column(name: row.text(1), declaration: declaration, keyPosition: Int(row.int64(5))))
            }
            return columns
        }
        var indexes: [Index] = []
        var foldsKey = false
        for (index, isUnique, origin, isPartial) in try Self.list(of: name, database) {
            let entries = try Self.entries(of: index, database)
            if origin == "pk" { foldsKey = entries.contains { $0.collation.asciiUppercased() == "NOCASE" } }
            guard origin == "c" else { continue }
            let isPlain =
                !isUnique && !isPartial
                && entries.allSatisfy { $0.column != nil && !$0.isDescending && $0.collation == "BINARY" }
            indexes.append(Index(name: index, columns: isPlain ? entries.compactMap(\.column) : nil))
        }
        self.indexes = indexes
        self.foldsKey = foldsKey
    }

    private static func list(of table: String, _ database: Database) throws -> [(String, Bool, String, Bool)] {
        try database.withStatement("PRAGMA index_list(\(table.sqlIdentifier))") { row in
            var list: [(String, Bool, String, Bool)] = []
            while try row.step() { list.append((row.text(1), row.int64(2) != 0, row.text(3), row.int64(4) != 0)) }
            return list
        }
    }

    private struct Entry {
        let column: String?
        let isDescending: Bool
        let collation: String
    }

    private static func entries(of index: String, _ database: Database) throws -> [Entry] {
        try database.withStatement("PRAGMA index_xinfo(\(index.sqlIdentifier))") { row in
            var entries: [Entry] = []
            while try row.step() {
                guard row.int64(5) != 0 else { continue }
                let column = row.isNull(2) ? nil : row.text(2)
                entries.append(Entry(column: column, isDescending: row.int64(3) != 0, collation: row.text(4)))
            }
            return entries
        }
    }
}
