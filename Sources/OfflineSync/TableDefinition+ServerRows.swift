internal import SyncContract

extension TableDefinition {
    /// Whether the server's row says in the declared columns what the local row says.
    ///
    /// With `defaultsCountAsNull` a local null also equals what servers may make of a column that is left out: false or
    /// 0. With `shownColumns`, those that rows of the server have shown, another one that is absent from the server's
    /// row says nothing; otherwise every absent column counts as null.
    func hasSameContent(
        _ local: Record,
        _ server: Record,
        defaultsCountAsNull: Bool,
        shownColumns: Set<String>? = nil
    ) -> Bool {
        columns.allSatisfy { column in
            guard !column.isLocal else { return true }
            let name = column.name
            guard let theirs = server[name] else {
                return local[name]?.isNull ?? true || shownColumns.map { !$0.contains(name) } ?? false
            }
            let mine = local[name] ?? .null
            if mine.isNull, !theirs.isNull {
                return defaultsCountAsNull && (theirs == false || theirs.compare(with: 0) == 0)
            }
            return mine.hasSameContent(as: theirs)
        }
    }
}
