internal import SyncContract

extension TableDefinition {
    /// What a store gives back for a row that it has just inserted: every declared column, each value as its column stores
    /// it.
    func stored(_ row: Record) -> Record {
        let columns = allColumns
        return Record(
            id: row.id,
            names: columns.map(\.name),
            values: columns.map { column in row[column.name].flatMap(column.type.accepting) ?? .null }
        )
    }
}
