import QueryEvaluation
import SQLCipherStore
import SyncContract

/// What a database and a copy of it must agree in.
struct DatabaseContent: Hashable, Sendable {
    /// A table, an index, or something else that has SQL of its own.
    struct Entry: Hashable, Sendable {
        let type: String
        let name: String
        let sql: String

        /// Whether it is the table in which the files beside rows have their keys, which the module of these files declares.
        /// An app's own table of that name has other columns.
        fileprivate var holdsFileKeys: Bool {
            type == "table" && name == "AttachmentFiles"
                && ["file", "key", "isExposed"].allSatisfy { sql.contains($0.sqlIdentifier) }
        }
    }

    /// The layout of the store's tables.
    let layoutVersion: Int64

    /// What is declared, in the order of the names.
    private(set) var entries: [Entry]

    /// How many rows each table has.
    private(set) var rowCounts: [String: Int64]

    /// Reads what a connection's first database has.
    init(_ database: Database) throws {
        layoutVersion = try database.int64("PRAGMA user_version") ?? 0
        var entries: [Entry] = []
        // The tables with SQLite's statistics may be missing in a copy: they are not content.
        let sql = """
            SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_stat%' ESCAPE '@' \
            ORDER BY name
            """
        try database.withStatement(sql) { row in
            while try row.step() { entries.append(Entry(type: row.text(0), name: row.text(1), sql: row.text(2))) }
        }
        self.entries = entries
        var rowCounts: [String: Int64] = [:]
        for entry in entries where entry.type == "table" {
            rowCounts[entry.name] = try database.int64("SELECT COUNT(*) FROM main.\(entry.name.sqlIdentifier)")
        }
        self.rowCounts = rowCounts
    }

    /// What a plain copy has, which needs none of this library's functions: no keys of files either, which stay encrypted
    /// where they are.
    var plain: DatabaseContent {
        var content = leavingSearchIndexes { _ in true }
        for entry in entries where entry.holdsFileKeys { content.rowCounts[entry.name] = 0 }
        return content
    }

    /// What an encrypted copy has: not the indexes for searching that another version of this library made, and that
    /// opening the store would make anew.
    var current: DatabaseContent { leavingSearchIndexes { $0 != TextFolding.version } }

    /// The content without the indexes for searching of some versions. Their tables stay, empty, and tell that there
    /// was one.
    private func leavingSearchIndexes(_ isLeft: (Int) -> Bool) -> DatabaseContent {
        func leaves(_ name: String) -> Bool { SearchIndex.version(of: name).map(isLeft) ?? false }
        var content = self
        content.entries.removeAll { leaves($0.name) && $0.type != "table" }
        for name in rowCounts.keys where leaves(name) { content.rowCounts[name] = 0 }
        return content
    }
}
