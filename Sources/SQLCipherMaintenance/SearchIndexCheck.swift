import QueryEvaluation
import SQLCipherStore
import SyncContract

/// Holds the search index of a column against the rows of its table.
struct SearchIndexCheck {
    let index: SearchIndex
    let database: Database

    /// What is wrong; nil when nothing is. A closure is called for each row.
    func finding(_ progress: () throws -> Void) throws -> StoreFinding? {
        guard try hasAllParts() else { return finding("lacks a part that keeps it in step with the rows") }
        let column = index.column.sqlIdentifier
        let rows = "SELECT \"id\", \(column) FROM \(index.table.sqlIdentifier) WHERE \(column) IS NOT NULL"
        let isThere = "SELECT 1 FROM \(index.words) WHERE \"word\" = ?1 AND \"row\" = ?2"
        var words: Int64 = 0
        var isComplete = true
        try database.withStatement(rows) { row in
            while try row.step() {
                let id = SQLValue.text(row.text(0))
                for word in TextWords.words(of: row.text(1)) {
                    words += 1
                    let isFound = try database.withStatement(isThere) { lookup in
                        try lookup.bind([.text(word), id])
                        return try lookup.step()
                    }
                    isComplete = isComplete && isFound
                }
                try progress()
            }
        }
        guard isComplete else { return finding("lacks words: a search would not find all rows") }
        // All words are there; when their number is the same as well, there are no others.
        let stored = try database.int64("SELECT COUNT(*) FROM \(index.words)") ?? 0
        return stored == words ? nil : finding("has words that no row has: a search would find too many rows")
    }

    /// The table of words, its triggers and the index of the folded text, as this version makes them.
    private func hasAllParts() throws -> Bool {
        var stored: Set<String> = []
        try database.withStatement("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL") { row in
            while try row.step() { stored.insert(row.text(0)) }
        }
        return stored.isSuperset(of: index.creation)
    }

    private func finding(_ what: String) -> StoreFinding {
        StoreFinding(
            .inconsistentIndex,
            .table(index.table),
            "the search index of column '\(index.column)' of table '\(index.table)' \(what)",
            remedy: "open the store once with the column declared as not searchable: then the index is made anew"
        )
    }
}
