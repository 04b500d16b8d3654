import SQLCipherStore
import SyncContract

/// Holds the tables against what the store remembers of them.
struct TableCheck {
    let database: Database

    /// Returns the remembered tables whose columns are those that are remembered, and hands what is wrong with others
    /// to a closure.
    func soundTables(_ remembered: RememberedTables, _ report: (StoreFinding) -> Void) throws -> [TableLayout] {
        var names: Set<String> = []
        try database.withStatement("SELECT name FROM sqlite_master WHERE type = 'table'") { row in
            while try row.step() { names.insert(row.text(0)) }
        }
        var sound: [TableLayout] = []
        for layout in remembered.layouts {
            let name = layout.definition.name
            if names.remove(name) == nil {
                report(Self.finding(name, "is missing"))
            } else if try columns(of: name) != Self.expectedColumns(layout) {
                report(Self.finding(name, "has other columns than the store remembers"))
            } else {
                sound.append(layout)
            }
        }
        for system in SystemTables.all where !remembered.layouts.contains(where: { $0.definition.name == system.name })
        {
            report(Self.finding(system.name, "is missing"))
        }
        // Names with a colon are the store's own, those with SQLite's prefix SQLite's.
        for name in names.sorted() where !name.contains(":") && !name.hasPrefix("sqlite_") {
            report(Self.finding(name, "is not one that the store remembers"))
        }
        return sound
    }

    private func columns(of table: String) throws -> [String: String] {
        var columns: [String: String] = [:]
        try database.withStatement("PRAGMA table_info(\(table.sqlIdentifier))") { row in
            while try row.step() { columns[row.text(1)] = row.text(2) }
        }
        return columns
    }

    private static func expectedColumns(_ layout: TableLayout) -> [String: String] {
        var columns = Dictionary(layout.columns.map { ($0.name, $0.type.sqlType) }) { first, _ in first }
        columns["id"] = layout.definition.idKind == .int64 ? "INTEGER" : "TEXT"
        columns[TableLayout.extraColumn] = "TEXT"
        return columns
    }

    private static func finding(_ table: String, _ what: String) -> StoreFinding {
        StoreFinding(.alteredTable, .table(table), "table '\(table)' \(what)")
    }
}
