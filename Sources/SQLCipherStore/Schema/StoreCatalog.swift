package import SyncContract

/// The declared tables as they lie in the database.
package struct StoreCatalog: Sendable {
    private let layouts: [String: TableLayout]

    init(_ layouts: [TableLayout]) {
        self.layouts = Dictionary(layouts.map { ($0.definition.name, $0) }) { first, _ in first }
    }

    /// The layout of a declared table or system table.
    package func layout(of table: String) throws(StoreError) -> TableLayout {
        guard let layout = layouts[table] else { throw .tableNotFound(table) }
        return layout
    }
}
