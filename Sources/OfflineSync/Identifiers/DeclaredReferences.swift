internal import SyncContract
internal import SyncMachines

/// References from before they were declared, or before the server was said to choose the ids of what they name: until then rows
/// have the server's ids in them. Which were gone through is remembered in the rows of `MS_TableConfig`.
struct DeclaredReferences {
    private struct Reference {
        let table: TableDefinition
        let column: ColumnDefinition
        let other: TableDefinition
    }

    private let schema: StoreSchema
    private let declared: [Reference]

    init(_ schema: StoreSchema) {
        declared = schema.syncedTables.flatMap { table in
            IdentifierTranslation(table, schema).references
                .compactMap { name, other in
                    table.columns.first { $0.name == name }.map { Reference(table: table, column: $0, other: other) }
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
        row["table"]?.stringValue == reference.table.name && row["key"]?.stringValue == reference.column.wireName
            && row["value"]?.stringValue == reference.other.wireName
    }

    /// Whether there are references that were not gone through since they were declared, or that are declared no more.
    func haveChanged(_ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        let stored = try stored(&transaction)
        return stored.count != declared.count
            || !declared.allSatisfy { reference in stored.contains { isStored(reference, in: $0) } }
    }

    /// Has rows and waiting changes name others by their local ids. What names a row that has none yet goes on doing so, and the
    /// row gets that one: it stands on both sides, as of rows that were here before.
    func translate(_ transaction: inout StoreTransaction) throws {
        let stored = try stored(&transaction)
        // One that is declared again later was not translated meanwhile.
        let withdrawn = stored.filter { row in !declared.contains { isStored($0, in: row) } }
        try transaction.delete(withdrawn.map(\.id), from: SystemTables.configuration.name)
        for reference in declared where !stored.contains(where: { isStored(reference, in: $0) }) {
            try translate(reference, &transaction)
            try ConfigurationTable.set(
                .reference,
                reference.table.name,
                reference.column.wireName,
                ["value": .string(reference.other.wireName)],
                &transaction
            )
        }
    }

    private func translate(_ reference: Reference, _ transaction: inout StoreTransaction) throws {
        let (table, column) = (reference.table, reference.column.name)
        let cancelled = Set(try CancelledInserts.rows(of: reference.other, &transaction).map(\.id))
        let unknown = try ReferenceRedirection.ids(in: column, of: table, schema, &transaction)
            .filter { id in
                try !cancelled.contains { reference.other.isSameID($0, .string(id)) }
                    && !isLocal(id, in: reference.other, &transaction)
            }
        let known = try IdentifierMapping.localIDs(namedBy: unknown, in: reference.other, &transaction)
        try ReferenceRedirection(of: table, in: [column], known).perform(schema, &transaction)
        let stand = unknown.filter { known[$0] == nil }.map { ($0, $0) }
        try IdentifierMapping.add(stand, in: reference.other, isHere: false, &transaction)
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
