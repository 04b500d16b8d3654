/// Whether migrations lead to the tables that are declared.
///
/// Only the last tables are declared, so the steps are followed from there back to version 1: each must speak of a table
/// and of columns that there are after it.
struct MigrationCheck {
    /// The columns of each table; nil for all names, of a table that is dropped later.
    private var columns: [String: Set<String>?]

    init(_ tables: [TableDefinition]) {
        columns = Dictionary(tables.map { ($0.name, Set($0.columns.map(\.name))) }) { first, _ in first }
    }

    mutating func check(_ migrations: [Migration], to version: Int) throws(StoreError) {
        guard version >= 1 else { throw .invalidSchema("A schema has version \(version); the first one is 1.") }
        let expected = version > 1 ? Array(2...version) : []
        guard migrations.map(\.version) == expected else {
            let found = migrations.map { String($0.version) }.joined(separator: ", ")
            throw .invalidSchema(
                "The migrations lead to the versions \(found.isEmpty ? "none" : found); a schema of version \(version)"
                    + " needs one to each version from 2 on, in order. One that only adds tables or columns has no steps."
            )
        }
        for migration in migrations.reversed() {
            for step in migration.steps.reversed() {
                do throws(StoreError) {
                    try goBack(over: step)
                } catch {
                    throw .invalidSchema("The migration to version \(migration.version): \(error.message)")
                }
            }
        }
    }

    private mutating func goBack(over step: MigrationStep) throws(StoreError) {
        let table = step.table
        switch step.action {
        case .renameTable(let name):
            guard name != table, let names = columns.removeValue(forKey: name) else {
                throw .invalidSchema(
                    "table '\(table)' cannot get the name '\(name)': afterwards there is no other table of that name."
                )
            }
            columns[table] = .some(names)
        case .dropTable: columns[table] = .some(nil)
        case .column(let column, let action):
            guard !SystemProperties.names.contains(column), column != "id" else {
                throw .invalidSchema("column '\(column)' of '\(table)' is the server's, and not for the app to change.")
            }
            guard let names = columns[table] else {
                throw .invalidSchema("there is no table '\(table)' when the turn comes to its column '\(column)'.")
            }
            // Of a table that is dropped later nobody knows the columns.
            guard var names else { return }
            switch action {
            case .drop: names.insert(column)
            case .rename(let name):
                guard name != column, names.remove(name) != nil else {
                    throw .invalidSchema(
                        "column '\(column)' of '\(table)' cannot get the name '\(name)': afterwards there is no other"
                            + " column of that name."
                    )
                }
                names.insert(column)
            case .convert, .fill:
                guard names.contains(column) else {
                    throw .invalidSchema("table '\(table)' has no column '\(column)' when the turn comes to it.")
                }
            }
            columns[table] = .some(names)
        }
    }
}
