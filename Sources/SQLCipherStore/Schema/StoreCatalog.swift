package import SyncContract

/// The declared tables as they lie in the database.
package struct StoreCatalog: Sendable {
    private let layouts: [String: TableLayout]

    /// The declared tables, without the system tables.
    let appTables: [TableDefinition]

    init(_ layouts: [TableLayout]) {
        let systemTables = Set(SystemTables.all.map(\.name))
        appTables = layouts.map(\.definition).filter { !systemTables.contains($0.name) }
        self.layouts = Dictionary(layouts.map { ($0.definition.name, $0) }) { first, _ in first }
    }

    /// The layout of a declared table or system table.
    package func layout(of table: String) throws(StoreError) -> TableLayout {
        guard let layout = layouts[table] else { throw .tableNotFound(table) }
        return layout
    }
}
