internal import SyncContract

extension TableDefinition {
    /// Whether the server's row says in the declared columns what the local row says.
    ///
    /// With `defaultsCountAsNull` a local null also equals what servers may make of a column that is left out: false or
    /// 0. With `shownColumns`, those that rows of the server have shown, another one that is absent from the server's
    /// row says nothing; otherwise every absent column counts as null. In `caselessColumns` the case of letters says nothing.
    func hasSameContent(
        _ local: Record,
        _ server: Record,
        defaultsCountAsNull: Bool,
        shownColumns: Set<String>? = nil,
        caselessColumns: Set<String> = []
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
            if caselessColumns.contains(name), let mine = mine.stringValue, let theirs = theirs.stringValue {
                return RecordID.string(mine).folded(for: .asciiCaseInsensitive)
                    == RecordID.string(theirs).folded(for: .asciiCaseInsensitive)
            }
            return mine.hasSameContent(as: theirs)
        }
    }

    /// The columns that name rows of tables whose ids do not tell the case of letters: another spelling names the same row.
    func caselessColumns(_ schema: StoreSchema) -> Set<String> {
        let named = columns.lazy.filter { column in
            column.references.flatMap(schema.table)?.idComparison == .asciiCaseInsensitive
        }
        return Set(named.map(\.name))
    }
}
