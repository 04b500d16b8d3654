/// What a write does to a row, between its check and its commit.
struct TableChange: Sendable {
    let id: RowID
    /// The row as it will be; nil when it is removed.
    let row: EmulatedRow?
    /// The version that the write saw; nil when it saw no row.
    let base: String?

    /// Whether another write has changed the row since.
    func isOvertaken(in table: EmulatedTable) -> Bool {
        table[id]?.version != base
    }
}
