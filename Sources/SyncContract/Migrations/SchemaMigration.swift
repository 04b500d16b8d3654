/// What has to be done to bring a store from the version that it has to that of a schema.
///
/// A store with the capability ``StoreCapabilities/migrations`` makes one when it is opened, from ``storedVersion(_:)`` and
/// the tables that it remembers, and does this in one transaction, or nothing of it:
///
/// 1. ``QueueTranslation/check(_:_:)``, with a reader that sees the tables as they are;
///    without a translation ``refuseUntranslated(_:)``.
/// 2. Every row of ``tables`` becomes what ``TableMigration/row(_:)`` says, under the name that its table has now; those
///    of a table that is dropped go.
/// 3. The tables are brought to the declared ones, as always.
/// 4. ``QueueTranslation/translate(_:_:)``, with a transaction that sees the tables as they are now.
/// 5. ``record(_:)``.
public struct SchemaMigration: Sendable {
    /// The version that the store has.
    public let from: Int

    /// The version of the schema.
    public let to: Int

    /// The stored tables that the steps change.
    public let tables: [TableMigration]

    /// Compares what a store has with a schema; nil when the store has the schema's version.
    ///
    /// - Parameters:
    ///   - version: The version that the store has.
    ///   - stored: The tables of the app that it has, with the columns that were declared last.
    ///   - schema: The tables that it is opened with.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/newerSchema`` when the store has a higher version, and
    ///   ``StoreError/Code/schemaMismatch`` when a table would get the name of another one that is stored, or other ids.
    public init?(
        from version: Int,
        of stored: [TableDefinition],
        to schema: StoreSchema
    ) throws(StoreError) {
        guard version <= schema.version else {
            throw StoreError(
                .newerSchema,
                "The store has version \(version) of its tables, and was opened with version \(schema.version): a newer"
                    + " version of the app has brought it there. Open it with that one; nothing was touched."
            )
        }
        guard version < schema.version else { return nil }
        from = version
        to = schema.version
        var lineages = Lineages(stored)
        for migration in schema.migrations where migration.version > version {
            for step in migration.steps { try lineages.follow(step, to: migration.version) }
        }
        tables = try lineages.tables(in: schema)
    }
}

/// The stored tables on their way through the steps.
private struct Lineages {
    private let stored: [TableDefinition]
    /// Which of them a name stands for; nothing for a table that was added later.
    private var named: [String: Int]
    private var names: [Int: String]
    private var steps: [Int: [(column: String, action: MigrationStep.ColumnAction)]] = [:]

    init(_ stored: [TableDefinition]) {
        self.stored = stored
        named = Dictionary(stored.enumerated().map { ($1.name, $0) }) { first, _ in first }
        names = Dictionary(uniqueKeysWithValues: stored.enumerated().map { ($0, $1.name) })
    }

    mutating func follow(_ step: MigrationStep, to version: Int) throws(StoreError) {
        guard let lineage = named[step.table] else { return }
        switch step.action {
        case .column(let column, let action): steps[lineage, default: []].append((column, action))
        case .dropTable:
            named[step.table] = nil
            names[lineage] = nil
            steps[lineage, default: []] = []
        case .renameTable(let name):
            named[step.table] = nil
            guard !named.keys.contains(where: { $0.asciiLowercased() == name.asciiLowercased() }) else {
                throw StoreError(
                    .schemaMismatch,
                    "The migration to version \(version) renames table '\(step.table)' to '\(name)', which the store has"
                        + " already; drop or rename that one before."
                )
            }
            named[name] = lineage
            names[lineage] = name
            steps[lineage, default: []] += []
        }
    }

    func tables(in schema: StoreSchema) throws(StoreError) -> [TableMigration] {
        var tables: [TableMigration] = []
        for (lineage, old) in stored.enumerated() {
            guard let steps = steps[lineage] else { continue }
            let new = names[lineage].flatMap(schema.table)
            if let new, new.idKind != old.idKind {
                throw StoreError(
                    .schemaMismatch,
                    "The ids of table '\(new.name)' are declared as other than they are stored, which no migration"
                        + " changes; declare them as they are stored, or fill a new table."
                )
            }
            tables.append(TableMigration(old: old, new: new, steps: steps))
        }
        return tables
    }
}
