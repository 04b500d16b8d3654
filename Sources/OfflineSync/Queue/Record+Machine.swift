package import SyncContract
internal import SyncMachines

extension Record: MachineRow {
    package func contradicts(_ other: Record) -> Bool {
        guard let mine = updatedAt, let theirs = other.updatedAt else { return false }
        return mine != theirs
    }
}

/// How the contents of a table's rows are compared.
struct TableRowComparison: RowComparison {
    let table: TableDefinition
    /// The columns that rows of the server have shown: another one that is absent says nothing.
    let shownColumns: Set<String>
    /// The columns in which the server's row may say the same in other letters: it names a row by the id that it has here.
    let caselessColumns: Set<String>
    /// Whether an earlier attempt of this device may have written the row: then a default of the server can stand in place of a null.
    var mayBeOwn = false
    /// The columns that migrations have filled here: the server may have no value in them in a row that it shows again.
    var filledColumns: Set<String> = []

    init(_ table: TableDefinition, _ schema: StoreSchema, shownColumns: Set<String>, mayBeOwn: Bool = false) {
        self.table = table
        self.shownColumns = shownColumns
        self.mayBeOwn = mayBeOwn
        caselessColumns = table.caselessColumns(schema)
    }

    func wrote(_ sent: Record, _ shown: Record) -> Bool {
        table.hasSameContent(
            sent,
            shown,
            defaultsCountAsNull: mayBeOwn,
            shownColumns: shownColumns,
            caselessColumns: caselessColumns
        )
    }

    /// A change of letters alone is one.
    func agrees(_ local: Record, _ shown: Record) -> Bool {
        table.hasSameContent(
            local,
            shown,
            defaultsCountAsNull: mayBeOwn,
            shownColumns: mayBeOwn ? shownColumns : nil
        )
    }

    func isUnchanged(_ base: Record, _ shown: Record) -> Bool {
        table.hasSameContent(base, shown, defaultsCountAsNull: false, shownColumns: shownColumns)
    }

    func isStill(_ base: Record, _ shown: Record) -> Bool {
        var base = base
        for name in filledColumns where shown[name]?.isNull ?? true { base[name] = nil }
        return isUnchanged(base, shown)
    }

    func mayBeLeft(of deleted: Record, _ tombstone: Record) -> Bool {
        var shown = tombstone
        for column in table.columns where shown[column.name]?.isNull ?? false { shown[column.name] = nil }
        return table.hasSameContent(
            deleted,
            shown,
            defaultsCountAsNull: true,
            shownColumns: Set(table.columns.map(\.name).filter { shown[$0] != nil }),
            caselessColumns: caselessColumns
        )
    }
}
