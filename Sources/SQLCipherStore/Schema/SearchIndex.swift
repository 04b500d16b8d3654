import QueryEvaluation
import SyncContract

/// What is stored beside a searchable column: a table of its words, kept by triggers in the statement that writes the
/// row, and an index of its folded text.
///
/// Its names say how text was folded. An index of another version is dropped and made anew when the store is opened,
/// before anything is written.
package struct SearchIndex: Sendable, Hashable {
    package let version: Int
    package let table: String
    package let column: String

    /// The index of a column, as this version of the library makes it.
    package init(table: String, column: String) {
        self.init(version: TextFolding.version, table: table, column: column)
    }

    /// Reads the name of a stored table; nil for any other table.
    init?(storedName name: String) {
        guard name.hasPrefix(Self.wordsPrefix) else { return nil }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let version = Int(parts[0].dropFirst(Self.wordsPrefix.count))
        else { return nil }
        self.init(version: version, table: String(parts[1]), column: String(parts[2]))
    }

    /// Whether a stored trigger is, word for word, one that this version of the library makes.
    package static func makes(trigger name: String, sql: String) -> Bool {
        guard let end = name.lastIndex(of: ":"), let index = SearchIndex(storedName: String(name[..<end])) else {
            return false
        }
        return index.creation.contains(sql)
    }

    /// The version of the index that a table, index or trigger of this name is part of; nil for any other name.
    package static func version(of name: String) -> Int? {
        let start = name.prefix { $0 != ":" }
        guard start.endIndex < name.endIndex else { return nil }
        for prefix in [wordsPrefix, foldedPrefix] where start.hasPrefix(prefix) {
            return Int(start.dropFirst(prefix.count))
        }
        return nil
    }

    private init(version: Int, table: String, column: String) {
        self.version = version
        self.table = table
        self.column = column
    }

    // No declared name holds a colon, so these names are free.
    private static let wordsPrefix = "words"
    private static let foldedPrefix = "folded"
    private var suffix: String { "\(version):\(table):\(column)" }

    /// The table of the words and the ids of the rows that have them, ready for SQL.
    package var words: String { (Self.wordsPrefix + suffix).sqlIdentifier }

    private var foldedIndex: String { (Self.foldedPrefix + suffix).sqlIdentifier }

    private func trigger(_ event: String) -> String { "words\(suffix):\(event)".sqlIdentifier }

    /// The folded text of a column.
    static func folded(_ column: String) -> String { "\(SQLFunctions.fold)(\(column.sqlIdentifier))" }

    /// Makes everything for a table that exists, but for the words of its rows.
    package var creation: [String] {
        let (table, column) = (table.sqlIdentifier, column.sqlIdentifier)
        return [
            """
            CREATE TABLE \(words) ("word" TEXT NOT NULL, "row" TEXT NOT NULL, PRIMARY KEY ("word", "row")) WITHOUT ROWID
            """,
            // The id decides between texts that fold to the same: with it the index gives the whole order.
            "CREATE INDEX \(foldedIndex) ON \(table) (\(Self.folded(self.column)), \"id\")",
            """
            CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(table) WHEN new.\(column) IS NOT NULL BEGIN
            \(adding) END
            """,
            """
            CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF "id", \(column) ON \(table)
            WHEN old.\(column) IS NOT new.\(column) OR old."id" IS NOT new."id" COLLATE BINARY BEGIN
            \(removing) \(adding) END
            """,
            """
            CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table) WHEN old.\(column) IS NOT NULL BEGIN
            \(removing) END
            """,
        ]
    }

    /// Removes everything, whichever version it is of.
    var removal: [String] {
        ["insert", "update", "delete"].map { "DROP TRIGGER IF EXISTS \(trigger($0))" }
            + ["DROP INDEX IF EXISTS \(foldedIndex)", "DROP TABLE IF EXISTS \(words)"]
    }

    private var adding: String {
        "INSERT OR IGNORE INTO \(words) SELECT word, new.\"id\" FROM (\(wordList("new")));"
    }

    private var removing: String {
        "DELETE FROM \(words) WHERE \"row\" = old.\"id\" AND \"word\" IN (\(wordList("old")));"
    }

    /// The words of a row's text. They come in parts, because SQLite copies a value for each call that takes it. The
    /// list of the parts is made once, as every query in parentheses is that depends on no row of the statement: so it
    /// stands in one place only.
    private func wordList(_ row: String) -> String {
        let list = "(SELECT \(SQLFunctions.words)(\(row).\(column.sqlIdentifier)))"
        let item = SQLFunctions.word
        return """
            WITH RECURSIVE p(i, part) AS (SELECT -1, x'' \
            UNION ALL SELECT i + 1, \(item)(\(list), i + 1) FROM p WHERE part IS NOT NULL), \
            w(part, i, word) AS (SELECT part, 0, \(item)(part, 0) FROM p WHERE i >= 0 AND part IS NOT NULL \
            UNION ALL SELECT part, i + 1, \(item)(part, i + 1) FROM w WHERE word IS NOT NULL) \
            SELECT word FROM w WHERE word IS NOT NULL
            """
    }
}

extension Database {
    /// Makes the index of a column, and fills it from the rows that are there.
    package func createSearchIndex(_ index: SearchIndex) throws {
        for statement in index.creation { try run(statement) }
        let column = index.column.sqlIdentifier
        let rows = "SELECT \"id\", \(column) FROM \(index.table.sqlIdentifier) WHERE \(column) IS NOT NULL"
        let insertion = "INSERT INTO \(index.words) VALUES (?1, ?2)"
        try withStatement(rows) { row in
            while try row.step() {
                let id = SQLValue.text(row.text(0))
                for word in TextWords.words(of: row.text(1)) { try run(insertion, [.text(word), id]) }
            }
        }
    }

    /// Removes the index of a column.
    package func dropSearchIndex(_ index: SearchIndex) throws {
        for statement in index.removal { try run(statement) }
    }
}
