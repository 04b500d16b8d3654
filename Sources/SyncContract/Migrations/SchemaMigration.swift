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
    ///   ``StoreError/Code/schemaMismatch`` when a table would get the name of another one that is stored, or other ids, and
    ///   when a step speaks of a table or column that the store does not have, while one that it has is neither declared any
    ///   more nor mentioned by a step: then a name is misspelt.
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
        try lineages.refuseMisspelt(to: version + 1, in: schema)
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
    /// The columns that the tables have, under the names that they have by now.
    private var columns: [Set<String>]
    /// The steps about tables that there were not.
    private var missedTables: [(name: String, version: Int)] = []
    /// The steps about columns that there were not.
    private var missedColumns: [(lineage: Int, name: String, version: Int)] = []

    init(_ stored: [TableDefinition]) {
        self.stored = stored
        columns = stored.map { Set($0.allColumns.map(\.name)) }
        named = Dictionary(stored.enumerated().map { ($1.name, $0) }) { first, _ in first }
        names = Dictionary(uniqueKeysWithValues: stored.enumerated().map { ($0, $1.name) })
    }

    mutating func follow(_ step: MigrationStep, to version: Int) throws(StoreError) {
        guard let lineage = named[step.table] else { return missedTables.append((step.table, version)) }
        switch step.action {
        case .column(let column, let action):
            steps[lineage, default: []].append((column, action))
            if !columns[lineage].follow(action, of: column) { missedColumns.append((lineage, column, version)) }
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

    /// Refuses steps to the version after the store's that miss their table or column, while something of the store is left
    /// over. What a step misses may also be newer than the store; then nothing is left over. Of the steps to later versions
    /// nobody knows what the versions between have added and left out.
    func refuseMisspelt(to version: Int, in schema: StoreSchema) throws(StoreError) {
        let untouched = stored.indices.filter { names[$0] != nil && steps[$0] == nil }.map { stored[$0].name }
        let left = untouched.filter { name in !schema.tables.contains { $0.name == name } }.min()
        if let left, let missed = missedTables.first(where: { $0.version == version }) {
            throw StoreError(
                .schemaMismatch,
                "The migration to version \(version) speaks of table '\(missed.name)', which the store does not have; it has"
                    + " '\(left)', which is not declared any more. Write its name, or let a step rename or drop that one."
                    + " Nothing was touched."
            )
        }
        for missed in missedColumns where missed.version == version {
            guard let table = names[missed.lineage].flatMap(schema.table),
                let left = columns[missed.lineage].subtracting(table.allColumns.map(\.name)).min()
            else { continue }
            throw StoreError(
                .schemaMismatch,
                "The migration to version \(version) speaks of column '\(missed.name)' of table '\(table.name)', which the store"
                    + " does not have; it has '\(left)', which is not declared any more. Write its name, or let a step rename or"
                    + " drop that one; one that shall only be left out, leave out in another version. Nothing was touched."
            )
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

extension Set<String> {
    /// Follows a step about one of the columns that a table has.
    ///
    /// - Returns: Whether there is such a column, or none is needed.
    fileprivate mutating func follow(_ action: MigrationStep.ColumnAction, of column: String) -> Bool {
        switch action {
        case .fill:
            insert(column)
            return true
        case .convert: return contains(column)
        case .drop: return remove(column) != nil
        case .rename(let name):
            insert(name)
            return remove(column) != nil
        }
    }
}
