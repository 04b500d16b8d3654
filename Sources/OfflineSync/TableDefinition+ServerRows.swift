internal import SyncContract

extension TableDefinition {
    /// A server's row in the form the store keeps: without system properties that the table does not keep.
    func storable(_ serverRow: Record) -> Record {
        let kept = Set(systemProperties.columns.map(\.name))
        var row = serverRow
        for name in SystemProperties.names where !kept.contains(name) { row[name] = nil }
        return row
    }

    /// Only the id and the system properties of a server's row, to take over its version without its content.
    func systemColumns(of serverRow: Record) -> Record {
        storable(serverRow).selecting(systemProperties.columns.map(\.name))
    }

    /// Whether the server's row says what the local row says, so that there is nothing to send.
    ///
    /// System properties do not count. A local null equals what servers make of a column that is left out: null,
    /// nothing, false or 0.
    func hasSameContent(_ local: Record, _ server: Record) -> Bool {
        columns.allSatisfy { column in
            let mine = local[column.name] ?? .null
            let theirs = server[column.name] ?? .null
            if mine.isNull { return [.null, false, 0, 0.0].contains(theirs) }
            return mine == theirs || mine.compare(with: theirs) == 0
        }
    }
}
