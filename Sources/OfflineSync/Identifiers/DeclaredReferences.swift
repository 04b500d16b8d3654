internal import SyncContract
internal import SyncMachines

/// Ids from before the server was said to choose them, and references from before they were declared or before that: until then
/// rows have the server's ids in them. Which were gone through is remembered in the rows of `MS_TableConfig`.
struct DeclaredReferences {
    private struct Reference {
        let table: TableDefinition
        /// Nil for the table's own ids.
        let column: ColumnDefinition?
        let other: TableDefinition

        /// No column has the name that stands for the ids.
        var key: String { column?.wireName ?? "id" }
    }

    private let schema: StoreSchema
    private let declared: [Reference]

    init(_ schema: StoreSchema) {
        // References go by whether what they name is known.
        declared =
            schema.syncedTables.filter(\.assignsIDs).map { Reference(table: $0, column: nil, other: $0) }
            + schema.syncedTables.flatMap { table in
                IdentifierTranslation(table, schema).references
                    .compactMap { name, other in
                        table.columns.first { $0.name == name }
                            .map { Reference(table: table, column: $0, other: other) }
                    }
            }
        self.schema = schema
    }

    /// What was gone through, by the rows that say so.
    private func stored(_ transaction: inout some StoreReading & ~Copyable) throws -> [Record] {
        let query = ConfigurationTable.query(.reference, anyOf: schema.syncedTables.map(\.name))
        return try transaction.records(query)
    }

    private func isStored(_ reference: Reference, in row: Record) -> Bool {
        row["table"]?.stringValue == reference.table.name && row["key"]?.stringValue == reference.key
            && row["value"]?.stringValue == reference.other.wireName
    }

    /// Whether there are references that were not gone through since they were declared, or that are declared no more.
    func haveChanged(_ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        let stored = try stored(&transaction)
        return stored.count != declared.count
            || !declared.allSatisfy { reference in stored.contains { isStored(reference, in: $0) } }
    }

    /// Has rows that were here before have the ids they have on both sides for ever, and rows and waiting changes name others by
    /// their local ids. What names a row that has none yet goes on doing so, and the
    /// row gets that one: it stands on both sides, as of rows that were here before.
    func translate(_ transaction: inout StoreTransaction) throws {
        let stored = try stored(&transaction)
        // One that is declared again later was not translated meanwhile.
        let withdrawn = stored.filter { row in !declared.contains { isStored($0, in: row) } }
        try transaction.delete(withdrawn.map(\.id), from: SystemTables.configuration.name)
        for reference in declared where !stored.contains(where: { isStored(reference, in: $0) }) {
            if let column = reference.column {
                try translate(reference.table, column.name, reference.other, &transaction)
            } else {
                try keepIDs(of: reference.table, &transaction)
            }
            try ConfigurationTable.set(
                .reference,
                reference.table.name,
                reference.key,
                ["value": .string(reference.other.wireName)],
                &transaction
            )
        }
    }

    /// Remembers of rows that have the same id on both sides that they have: when they leave and come back, or come while
    /// they are away, nothing else would tell.
    private func keepIDs(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        var ids: [String] = []
        try transaction.forEach(Query(table.name).selecting([])) { row in
            if let id = row.id.stringValue { ids.append(id) }
        }
        // Deletions that wait are of rows that are not here.
        ids += try OperationQueue.itemIDs(of: table.name, &transaction)
        let translation = IdentifierTranslation(table, schema)
        for start in stride(from: 0, to: ids.count, by: Self.rowsAtATime) {
            let some = Array(ids[start..<min(start + Self.rowsAtATime, ids.count)])
            let known = try IdentifierMapping.serverIDs(of: some, in: table, &transaction)
            let taken = try IdentifierMapping.localIDs(ofServerIDs: some, in: table, &transaction)
            let keys = some.map { OperationCoding.itemKey($0, table) }
            let waiting = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
            let remembered = try ItemMemoryStorage.remembered(among: { keys }, in: table, &transaction)
            let own = try zip(some, keys)
                .filter { id, key in
                    guard known[key] == nil, taken[id] == nil else { return false }
                    guard waiting.contains(key) || remembered.contains(key) else { return true }
                    do {
                        return try translation.knownServerID(of: id, &transaction) == id
                    } catch let error as SyncError where error.code == .damagedQueue {
                        // Which id its row has is not known, and a forced purge is the remedy.
                        return false
                    }
                }
                .map(\.0)
            try IdentifierMapping.add(own.map { ($0, $0) }, in: table, &transaction)
        }
    }

    private static let rowsAtATime = 500

    private func translate(
        _ table: TableDefinition,
        _ column: String,
        _ other: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let cancelled = Set(try CancelledInserts.rows(of: other, &transaction).map(\.id))
        let unknown = try ReferenceRedirection.ids(in: column, of: table, schema, &transaction)
            .filter { id in
                try !cancelled.contains { other.isSameID($0, .string(id)) }
                    && !isLocal(id, in: other, &transaction)
            }
        let known = try IdentifierMapping.localIDs(namedBy: unknown, in: other, &transaction)
        try ReferenceRedirection(of: table, in: [column], known).perform(schema, &transaction)
        let stand = unknown.filter { known[$0] == nil }.map { ($0, $0) }
        try IdentifierMapping.add(stand, in: other, isHere: false, &transaction)
    }

    /// Whether an id is one of this device: that of a row that is here, was, or waits to be deleted.
    private func isLocal(
        _ id: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> Bool {
        try transaction.record(.string(id), in: table.name) != nil
            || !IdentifierMapping.serverIDs(of: [id], in: table, &transaction).isEmpty
            || IdentifierMapping.hasFormerID(id, in: table, &transaction)
            || OperationQueue.operation(for: id, in: table, &transaction, schema) != nil
            || ItemMemoryStorage.isDroppedInsert(id, of: table, &transaction)
    }
}
