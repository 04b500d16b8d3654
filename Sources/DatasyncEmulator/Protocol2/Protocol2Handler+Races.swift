extension Protocol2Handler {
    /// Commits a change that was prepared earlier. One that was overtaken is made anew: the database checks and changes
    /// in one statement, which waits for whoever changes the row.
    ///
    /// - Returns: What is answered instead of what was prepared; nil when that stands.
    func commit(_ change: TableChange, to table: inout EmulatedTable) -> EmulatorResponse? {
        if change.isOvertaken(in: table) { return response(id: request.segments?.dropFirst(2).first, table: &table) }
        table.commit(change)
        return nil
    }
}
