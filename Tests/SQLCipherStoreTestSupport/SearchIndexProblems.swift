import QueryEvaluation
import Foundation
import SQLCipherStore
import SyncContract

extension TestFolder {
    /// What is wrong with the indexes of the searchable columns of a closed store, held against the columns' texts.
    package func searchIndexProblems(
        _ columns: [String] = ["shop", "owner"],
        _ table: String = "T"
    ) throws -> [String] {
        let database = try openDatabase()
        var problems: [String] = []
        let found = try searchIndexObjects().filter { $0.contains(":\(table):") }
        let expected = Self.searchIndexObjects(of: columns, table)
        if found != expected { problems.append("\(found) instead of \(expected)") }
        for column in columns {
            var expected: Set<[String]> = []
            let rows = "SELECT id, \"\(column)\" FROM \"\(table)\" NOT INDEXED WHERE \"\(column)\" IS NOT NULL"
            try database.withStatement(rows) { row in
                while try row.step() {
                    for word in TextWords.words(of: row.text(1)) { expected.insert([word, row.text(0)]) }
                }
            }
            var found: Set<[String]> = []
            try database.withStatement("SELECT word, row FROM \"words1:\(table):\(column)\"") { row in
                while try row.step() { found.insert([row.text(0), row.text(1)]) }
            }
            if found != expected { problems.append("words of \(column): \(found) instead of \(expected)") }
        }
        // Compares every index of SQLite's, those of folded text included, with its table.
        let check = try database.text("PRAGMA integrity_check")
        if check != "ok" { problems.append("integrity check: \(check ?? "nothing")") }
        return problems
    }

    /// The names of tables, triggers and indexes that belong to searchable columns.
    package func searchIndexObjects() throws -> Set<String> {
        var names: Set<String> = []
        try openDatabase()
            .withStatement("SELECT name FROM sqlite_master") { statement in
                while try statement.step() {
                    let name = statement.text(0)
                    if name.contains(":"), name.hasPrefix("words") || name.hasPrefix("folded") { names.insert(name) }
                }
            }
        return names
    }

    private static func searchIndexObjects(of columns: [String], _ table: String) -> Set<String> {
        Set(
            columns.flatMap { column in
                ["", ":insert", ":update", ":delete"].map { "words1:\(table):\(column)\($0)" }
                    + ["folded1:\(table):\(column)"]
            }
        )
    }
}
