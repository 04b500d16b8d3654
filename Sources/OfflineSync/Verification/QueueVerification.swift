public import SyncContract

/// Checks what the engine keeps in its three tables: that it can be read, contradicts neither itself nor the rows, and
/// that nothing which waits has lost what it is to send.
public enum QueueVerification {
    /// Checks the three tables.
    ///
    /// Sound means: every operation can be read, its groups included; its number is positive; its table is declared and
    /// it is the only one of its item; an insert or update has its row in the table, a delete the row it deleted. Every
    /// error belongs to an operation, of the same item, that is not older than the error. An operation in conflict has an
    /// error, without which nobody could resolve it. Every setting is of a known kind, there once, and has a value of its
    /// form.
    ///
    /// - Parameters:
    ///   - reader: The state to look at.
    ///   - schema: The declared tables.
    ///   - schemaIsComplete: Whether the schema has every table of the store. Otherwise operations of other tables are
    ///     left alone: their rows have no types.
    /// - Returns: What is wrong, in the order of the tables: operations, errors, settings.
    /// - Throws: What the store throws.
    public static func findings(
        in reader: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema,
        schemaIsComplete: Bool = false
    ) throws -> [StoreFinding] {
        var operations = OperationVerification(schema: schema, schemaIsComplete: schemaIsComplete)
        try operations.check(&reader)
        var errors = OperationErrorVerification(schema: schema, operations: operations.sound)
        try errors.check(&reader)
        let settings = try ConfigurationVerification.findings(&reader)
        return operations.findings + errors.findings + settings
    }
}

extension SyncContextDataSource {
    /// Checks what the engine keeps in the system tables of this store: see ``QueueVerification``.
    ///
    /// - Returns: What is wrong; empty when nothing is.
    /// - Throws: As `read`.
    public func verifyQueue() async throws -> [StoreFinding] {
        let schema = schema
        return try await read { try QueueVerification.findings(in: &$0, schema) }
    }
}

extension StoreFinding {
    /// A finding about a row of a system table, whose number says more than its id.
    static func queue(_ message: String, table: TableDefinition, number: Int64? = nil) -> StoreFinding {
        StoreFinding(
            .inconsistentQueue,
            number.map { .row($0, table: table.name) } ?? .table(table.name),
            message,
            remedy: "pull and compare with the server; if a change is lost there too, restore the store from a backup"
        )
    }
}
