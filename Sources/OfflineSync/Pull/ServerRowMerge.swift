internal import SyncContract

/// What a server's row makes of the local one: it takes its place.
///
/// A column that rows of the server have shown and that is absent now is null. A declared column that was never shown
/// is the app's own or newer than the server, and keeps its value. A local column is never touched. An undeclared
/// column that is absent disappears.
struct ServerRowMerge: Sendable {
    let table: TableDefinition
    /// The declared columns that rows of the server have shown so far.
    private(set) var shownColumns: Set<String>
    /// Whether a row has shown a column for the first time.
    private(set) var hasNews = false

    private let storesUndeclaredColumns: Bool
    private let declaredNames: Set<String>
    /// What is not taken from a server's row: system properties that the table does not keep, and local columns.
    private let excluded: [String]
    /// The columns that were not shown yet.
    private var unshown: [String]
    private var shown: [String]
    /// What is not compared with the server's rows: what is not taken from them, and columns that were not shown yet.
    private(set) var ignored: [String]
    /// Of the rows that came last.
    private var alignment: Alignment?

    init(_ table: TableDefinition, shownColumns: Set<String>, storesUndeclaredColumns: Bool) {
        self.table = table
        self.shownColumns = shownColumns
        self.storesUndeclaredColumns = storesUndeclaredColumns
        let kept = table.systemProperties.columns.map(\.name)
        excluded =
            SystemProperties.names.filter { !kept.contains($0) } + table.columns.filter(\.isLocal).map(\.name)
        declaredNames = SystemProperties.names.union(table.columns.map(\.name))
        let names = table.columns.filter { !$0.isLocal }.map(\.name)
        shown = names.filter(shownColumns.contains)
        unshown = names.filter { !shownColumns.contains($0) }
        ignored = excluded + unshown
    }

    /// How a local row changes.
    struct Change: Sendable {
        /// What is to be written: a whole row, or what differs.
        var row: Record
        /// Whether the local row has to be removed first, because it has columns that are to disappear.
        var replacesRow = false
    }

    /// Takes note of the columns that a row shows.
    mutating func see(_ serverRow: Record) {
        guard !unshown.isEmpty else { return }
        let news = unshown.filter { serverRow[$0] != nil }
        guard !news.isEmpty else { return }
        hasNews = true
        shownColumns.formUnion(news)
        shown += news
        unshown.removeAll { news.contains($0) }
        ignored = excluded + unshown
    }

    /// What is to be written when the server's row, which was seen and is no tombstone, takes the place of the local
    /// one; nil when that says it all already.
    mutating func replacement(of local: Record?, by serverRow: Record) -> Change? {
        let alignment = alignment(of: local, with: serverRow)
        var row = serverRow
        guard let local else {
            row.removeValues(at: alignment.excluded)
            return Change(row: row)
        }
        if alignment.isSame(local, serverRow) { return nil }
        row.removeValues(at: alignment.excluded)
        for name in shown where row[name] == nil { row[name] = .null }
        return withoutAbsentColumns(local, besides: row) ?? Change(row: row)
    }

    /// What is to be written when a local change is to go over the server's row: everything of it that the app does not
    /// declare. Taken over without the rest, it lets the change be sent without undoing what others wrote.
    func beyondDeclaredColumns(of serverRow: Record, over local: Record) -> Change {
        var row = storable(serverRow)
        for column in table.columns { row[column.name] = nil }
        row["deleted"] = nil
        return withoutAbsentColumns(local, besides: row) ?? Change(row: row)
    }

    /// A server's row in the form the store keeps.
    private func storable(_ serverRow: Record) -> Record {
        var row = serverRow
        row.removeValues(at: excludedSlots(of: row.slotNames))
        return row
    }

    private func excludedSlots(of names: [String]) -> [Int] {
        names.indices.filter { slot in
            excluded.contains(names[slot]) || (!storesUndeclaredColumns && !declaredNames.contains(names[slot]))
        }
    }

    /// The whole row, when undeclared columns of the local one are absent from the other: they disappear.
    private func withoutAbsentColumns(_ local: Record, besides row: Record) -> Change? {
        let isAbsent = zip(local.slotNames, local.slotValues)
            .contains { name, value in
                !(value?.isNull ?? true) && !declaredNames.contains(name) && row[name] == nil
            }
        guard isAbsent else { return nil }
        var whole = row
        for name in declaredNames where whole[name] == nil { whole[name] = local[name] }
        return Change(row: whole, replacesRow: true)
    }
}

extension ServerRowMerge {
    /// How the values of a server's row lie beside those of a local one. Rows of one page mostly share their list of names, as
    /// do local rows, so that names are compared once for all of them. A class, because it is handed over for every row.
    private final class Alignment: Sendable {
        let serverNames: [String]
        let localNames: [String]
        let shownCount: Int
        /// Where the server's row has what is not taken from it.
        let excluded: [Int]
        /// What is to be the same: places in the server's row and in the local one, nil where one has none, and whether a
        /// value that is absent from the server's row is a null.
        let pairs: [(server: Int?, local: Int?, isShown: Bool)]

        init(
            serverNames: [String],
            localNames: [String],
            shownCount: Int,
            excluded: [Int],
            pairs: [(server: Int?, local: Int?, isShown: Bool)]
        ) {
            self.serverNames = serverNames
            self.localNames = localNames
            self.shownCount = shownCount
            self.excluded = excluded
            self.pairs = pairs
        }

        /// Whether the local row has what the server's makes of it.
        func isSame(_ local: Record, _ serverRow: Record) -> Bool {
            let (mine, theirs) = (local.slotValues, serverRow.slotValues)
            for pair in pairs {
                let mine = pair.local.flatMap { mine[$0] } ?? .null
                if let theirs = pair.server.flatMap({ theirs[$0] }) {
                    guard mine == theirs else { return false }
                } else if pair.isShown, !mine.isNull {
                    return false
                }
            }
            return true
        }
    }

    private mutating func alignment(of local: Record?, with serverRow: Record) -> Alignment {
        let localNames = local?.slotNames ?? alignment?.localNames ?? []
        if let alignment, alignment.serverNames == serverRow.slotNames, alignment.localNames == localNames,
            alignment.shownCount == shown.count
        {
            return alignment
        }
        let names = serverRow.slotNames
        let excluded = excludedSlots(of: names)
        let taken = names.indices.filter { !excluded.contains($0) }
        var pairs =
            taken
            .map { slot in
                // An undeclared column that is absent disappears.
                let isShown = shown.contains(names[slot]) || !declaredNames.contains(names[slot])
                return (server: Int?.some(slot), local: localNames.firstIndex(of: names[slot]), isShown: isShown)
            }
        for name in shown where !names.contains(name) {
            pairs.append((server: nil, local: localNames.firstIndex(of: name), isShown: true))
        }
        let takenNames = taken.map { names[$0] }
        for (slot, name) in localNames.enumerated() where !declaredNames.contains(name) && !takenNames.contains(name) {
            pairs.append((server: nil, local: slot, isShown: true))
        }
        let made = Alignment(
            serverNames: names,
            localNames: localNames,
            shownCount: shown.count,
            excluded: excluded,
            pairs: pairs
        )
        alignment = made
        return made
    }

    /// As of what the store remembers.
    init(
        _ table: TableDefinition,
        storesUndeclaredColumns: Bool,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        let shown = try ConfigurationTable.shownColumns(of: table, &transaction)
        self.init(table, shownColumns: shown, storesUndeclaredColumns: storesUndeclaredColumns)
    }

    /// Puts the server's row in the place of the local one.
    /// One that was kept here, and is not shown by the server as it is, tells nothing of the columns there.
    mutating func replace(
        _ local: Record?,
        by serverRow: Record,
        isShown: Bool = true,
        _ transaction: inout StoreTransaction
    ) throws {
        if isShown { see(serverRow) }
        if let change = replacement(of: local, by: serverRow) { try write(change, &transaction) }
        try remember(&transaction)
    }

    /// Writes a change of one row.
    func write(_ change: Change, _ transaction: inout StoreTransaction) throws {
        if change.replacesRow { try transaction.delete([change.row.id], from: table.name) }
        try transaction.upsert([change.row], into: table.name)
    }

    /// Stores the columns that were shown for the first time.
    mutating func remember(_ transaction: inout StoreTransaction) throws {
        guard hasNews else { return }
        try ConfigurationTable.setShownColumns(shownColumns, of: table, &transaction)
        hasNews = false
    }
}
