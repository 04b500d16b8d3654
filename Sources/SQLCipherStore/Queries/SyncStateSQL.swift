import SyncContract

/// The `SyncState` of rows in SQL: that of their operations, by the operations' index, which holds all that it takes unless a
/// push runs in this process: the numbers of pushes are looked up in the operations themselves.
enum SyncStateSQL {
    /// The state of a row of the table, as its text.
    static func state(_ layout: TableLayout) -> String {
        // The index compares bytes, and holds the key in the form in which the table compares ids.
        let key = layout.foldsIDs ? "lower(\(layout.sqlName).\"id\")" : "\(layout.sqlName).\"id\""
        return "ifnull((SELECT \(stored) FROM \(operations(of: layout)) AND \"itemKey\" = \(key)), "
            + "'\(SyncState.synced.rawValue)')"
    }

    /// The keys of the rows of the table whose operations are in one of the states.
    static func keys(_ layout: TableLayout, in states: Set<SyncState>) -> String {
        let names = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        // A null in the list would make NOT IN null.
        return "SELECT \"itemKey\" FROM \(operations(of: layout)) AND \"itemKey\" IS NOT NULL"
            + " AND \(stored) IN (\(names))"
    }

    // SQLite goes from the index to the row only when a column is wanted that the index lacks.
    private static let stored =
        "\(SQLFunctions.syncState)(\"state\", CASE WHEN \(SQLFunctions.isPushing)() THEN \"push\" END)"

    /// Names of tables are letters, digits and underscores.
    private static func operations(of layout: TableLayout) -> String {
        "\(SystemTables.operations.name.sqlIdentifier) WHERE \"table\" = '\(layout.definition.name)'"
    }
}

extension PredicateCompiler {
    /// A condition on the state alone, as one on the id.
    func isInOne(of states: Set<SyncState>) -> SQLCondition {
        // Every row without an operation is synced.
        guard !states.contains(.synced) else {
            let others = Set(SyncState.allCases).subtracting(states)
            return others.isEmpty ? .constant(true) : isInOne(of: others).negated()
        }
        guard !states.isEmpty else { return .constant(false) }
        // Ids are compared as the table compares them: the collation is that of the left side.
        return SQLCondition("(\"id\" IN (\(SyncStateSQL.keys(layout, in: states))))", stackNeed: 40)
    }
}
