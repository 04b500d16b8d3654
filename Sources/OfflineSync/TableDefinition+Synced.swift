internal import SyncContract

extension TableDefinition {
    /// Refuses what has no meaning for a table that stays on this device.
    ///
    /// - Parameter what: What was asked for, as a participle.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidParameter``.
    func checkSynced(_ what: String) throws(SyncError) {
        guard isLocalOnly else { return }
        throw SyncError(
            .invalidParameter,
            "Table '\(name)' is local only: no server has it, so that it cannot be \(what). To remove rows, delete them."
        )
    }
}
