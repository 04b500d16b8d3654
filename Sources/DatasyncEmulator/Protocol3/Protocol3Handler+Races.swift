extension Protocol3Handler {
    /// Commits a change that was prepared earlier.
    ///
    /// - Returns: What is answered instead of what was prepared, when another write came in between: 500 to an insert, for
    ///   the database refuses a second row of one id, and where the row is gone; 409 to the rest, where the database notices.
    func commit(_ change: TableChange, to table: inout EmulatedTable) -> EmulatorResponse? {
        if change.isOvertaken(in: table) {
            if configuration.edition == .predecessor { return Self.problem(500) }
            guard change.base != nil, let row = table[change.id] else { return EmulatorResponse(500) }
            if configuration.store.hasConcurrencyToken { return entity(409, row, in: table) }
        }
        table.commit(change)
        return nil
    }
}
