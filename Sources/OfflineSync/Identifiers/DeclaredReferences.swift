internal import Synchronization
internal import SyncContract

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

    /// Nil where no column names rows of a table whose server chooses ids.
    init?(_ schema: StoreSchema) {
        declared = schema.syncedTables.flatMap { table in
            IdentifierTranslation(table, schema).references
                .compactMap { name, other in
                    table.columns.first { $0.name == name }.map { Reference(table: table, column: $0, other: other) }
                }
        }
        guard !declared.isEmpty else { return nil }
        self.schema = schema
    }

    private func new(_ transaction: inout some StoreReading & ~Copyable) throws -> [Reference] {
        try declared.filter { reference in
            let row = try ConfigurationTable.row(
                .reference,
                reference.table.name,
                reference.column.wireName,
                &transaction
            )
            return row?["value"]?.stringValue != reference.other.wireName
        }
    }

    /// Whether there are references that were not gone through since they were declared.
    func areNew(_ transaction: inout some StoreReading & ~Copyable) throws -> Bool { try !new(&transaction).isEmpty }

    /// Has rows and waiting changes name others by their local ids. What names a row that has none yet goes on doing so, and the
    /// row gets that one: it stands on both sides, as of rows that were here before.
    func translate(_ transaction: inout StoreTransaction) throws {
        for reference in try new(&transaction) {
            let (table, column) = (reference.table, reference.column.name)
            var named: Set<String> = []
            try transaction.forEach(Query(table.name).selecting([column])) { row in
                if let id = row[column]?.stringValue, !id.isEmpty { named.insert(id) }
            }
            let unknown = try Array(named).filter { try !isLocal($0, in: reference.other, &transaction) }
            let known = try IdentifierMapping.localIDs(namedBy: unknown, in: reference.other, &transaction)
            try ReferenceRedirection(of: table, in: [column], known).perform(schema, &transaction)
            try IdentifierMapping.add(
                unknown.filter { known[$0] == nil }.map { ($0, $0) },
                in: reference.other,
                &transaction
            )
            let value = FieldValue.string(reference.other.wireName)
            try ConfigurationTable.set(
                .reference,
                table.name,
                reference.column.wireName,
                ["value": value],
                &transaction
            )
        }
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

extension SyncContext {
    /// Whether every declared reference is known to hold local ids.
    var areReferencesTranslated: Bool { coordination.areReferencesTranslated.load(ordering: .relaxed) }

    /// Translates references that were declared since the last exchange. In a turn of the gate, as waiting changes may have
    /// them.
    func translateDeclaredReferences() async throws {
        guard !areReferencesTranslated else { return }
        if let references = DeclaredReferences(store.schema),
            try await store.read({ try references.areNew(&$0) })
        {
            try await store.write { try references.translate(&$0) }
        }
        coordination.areReferencesTranslated.store(true, ordering: .relaxed)
    }
}
