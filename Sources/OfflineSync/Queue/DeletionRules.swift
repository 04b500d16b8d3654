internal import SyncContract

/// What the deletion of a row does to those that refer to it, as their columns declare.
struct DeletionRules {
    /// The columns with a rule, by the table that they refer to.
    private var references: [String: [(table: TableDefinition, column: ColumnDefinition)]] = [:]

    init(_ schema: StoreSchema) {
        for table in schema.tables {
            for column in table.columns where column.onDelete != .noAction {
                if let other = column.references { references[other, default: []].append((table, column)) }
            }
        }
    }

    /// Whether a deletion in a table may have consequences.
    func concern(_ table: TableDefinition) -> Bool { references[table.name] != nil }

    /// The rows that change with a deletion.
    struct Consequences {
        /// Those in which a column becomes null.
        var cleared: [(table: TableDefinition, id: String, column: String)] = []
        /// Those that are deleted, a row that refers to another one before it. Where rows refer to each other in a circle
        /// one of them is the first.
        var deleted: [(table: TableDefinition, id: String)] = []

        var isEmpty: Bool { cleared.isEmpty && deleted.isEmpty }
    }

    /// What the deletion of a row leads to, the row itself left out.
    func consequences(
        of id: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Consequences {
        var consequences = Consequences()
        var seen: Set<ItemKey> = []
        // A stack of its own: rows may refer to each other in a chain of any length.
        var open: [(table: TableDefinition, id: String, isFollowed: Bool)] = [(table, id, false)]
        while let row = open.popLast() {
            guard !row.isFollowed else {
                if !open.isEmpty { consequences.deleted.append((row.table, row.id)) }
                continue
            }
            // Looked at when its turn comes, so that one which refers to several goes before all of them.
            guard seen.insert(key(row.id, row.table)).inserted else { continue }
            open.append((row.table, row.id, true))
            for (other, column) in references[row.table.name] ?? [] {
                for found in try ids(of: other, column.name, referringTo: row.id, row.table, &transaction) {
                    if column.onDelete == .cascade {
                        open.append((other, found, false))
                    } else {
                        consequences.cleared.append((other, found, column.name))
                    }
                }
            }
        }
        consequences.cleared.removeAll { seen.contains(key($0.id, $0.table)) }
        return consequences
    }

    private func key(_ id: String, _ table: TableDefinition) -> ItemKey {
        ItemKey(table: table.name, key: OperationCoding.itemKey(id, table))
    }

    private func ids(
        of table: TableDefinition,
        _ column: String,
        referringTo id: String,
        _ other: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String] {
        var spellings = [id]
        if other.idComparison == .asciiCaseInsensitive {
            let stored = try transaction.record(.string(id), in: other.name)?.id.stringValue
            spellings += [stored ?? id, id.lowercased(), id.uppercased()]
        }
        let query = Query(table.name).filtered(by: Column(column).isAny(of: spellings.map(FieldValue.string)))
            .ordered(by: "id").selecting([])
        return try transaction.records(query).compactMap(\.id.stringValue)
    }
}
