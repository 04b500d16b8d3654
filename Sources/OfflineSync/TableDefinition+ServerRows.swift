internal import SyncContract

extension TableDefinition {
    /// A server's row in the form the store keeps: without system properties that the table does not keep.
    func storable(_ serverRow: Record) -> Record {
        let kept = Set(systemProperties.columns.map(\.name))
        var row = serverRow
        for name in SystemProperties.names where !kept.contains(name) { row[name] = nil }
        return row
    }

    /// What of a server's row the app does not change: its version and other system properties, and the columns that
    /// are not declared here. Taken over without the rest, they let a local change be sent over that row.
    func beyondDeclaredColumns(of serverRow: Record) -> Record {
        var row = storable(serverRow)
        for column in columns { row[column.name] = nil }
        row["deleted"] = nil
        return row
    }

    /// Whether the server's row says in the declared columns what the local row says. With `defaultsCountAsNull` a local
    /// null also equals what servers may make of a column that is left out: false or 0.
    func hasSameContent(_ local: Record, _ server: Record, defaultsCountAsNull: Bool) -> Bool {
        columns.allSatisfy { column in
            let mine = local[column.name] ?? .null
            let theirs = server[column.name] ?? .null
            if mine.isNull, !theirs.isNull {
                return defaultsCountAsNull && (theirs == false || theirs.compare(with: 0) == 0)
            }
            return mine == theirs || mine.compare(with: theirs) == 0
        }
    }
}
