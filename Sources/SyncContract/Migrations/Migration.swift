/// The steps from the version before to this one.
///
/// Steps are values, because each is applied to the rows of a store and to the changes that wait beside them. All that an
/// opening has to do is done in one transaction, once, and recorded with the version; a process that dies meanwhile leaves
/// the old version, and the next opening begins again. Tables and columns that are merely new need no step.
public struct Migration: Sendable {
    /// The version that the steps lead to.
    public let version: Int

    /// The steps, in order.
    public let steps: [MigrationStep]

    /// The steps that lead to a version, in order; none for a version that only adds tables or columns.
    public init(to version: Int, _ steps: MigrationStep...) { self.init(to: version, steps: steps) }

    /// The steps that lead to a version, in order.
    public init(to version: Int, steps: [MigrationStep]) {
        self.version = version
        self.steps = steps
    }
}

/// One step of a migration. Tables and columns have the names that they have when the step's turn comes.
///
/// A step about a table or column that a store does not have is passed over: the store is from a time before it was added.
/// Where the store has, in its place, one that is neither declared any more nor mentioned, a name is misspelt, and the opening
/// ends with ``StoreError/Code/schemaMismatch``; see ``SchemaMigration/init(from:of:to:)``.
public struct MigrationStep: Sendable {
    enum Action: Sendable {
        case renameTable(to: String)
        case dropTable
        case column(String, ColumnAction)
    }

    package enum ColumnAction: Sendable {
        case rename(to: String)
        case convert(@Sendable (FieldValue) throws -> FieldValue)
        case fill(@Sendable (Record) throws -> FieldValue)
        case drop
    }

    let table: String
    let action: Action

    /// Gives a table another name. What waits for its rows goes with it, and so does how far it was pulled.
    ///
    /// The server is asked for the new name from then on, unless the table declares how the server calls it: see
    /// ``TableDefinition/wireName``.
    public static func renameTable(_ old: String, to new: String) -> Self {
        Self(table: old, action: .renameTable(to: new))
    }

    /// Gives a column another name, in rows and in changes that wait.
    ///
    /// The server's name for it is what the column declares now: see ``ColumnDefinition/wireName``. The old name may be that of
    /// values which rows have under a key that was never declared.
    public static func renameColumn(_ old: String, to new: String, in table: String) -> Self {
        Self(table: table, action: .column(old, .rename(to: new)))
    }

    /// Gives a column another type, in rows and in changes that wait.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - table: Its table.
    ///   - convert: Is given every value that is not null, and returns one of the new type, or null. It must give the same
    ///     for the same value. What it throws stops the opening, with an error that names the row.
    /// - Returns: The step.
    public static func convertColumn(
        _ column: String,
        in table: String,
        _ convert: @escaping @Sendable (FieldValue) throws -> FieldValue
    ) -> Self {
        Self(table: table, action: .column(column, .convert(convert)))
    }

    /// Gives every row the same value in a column that is new.
    ///
    /// The value is not queued to be sent: it goes along with the next change of its row.
    public static func fillColumn(_ column: String, in table: String, with value: FieldValue) -> Self {
        fillColumn(column, in: table) { _ in value }
    }

    /// Gives every row a value in a column that is new, made from the row as it is when the step's turn comes.
    ///
    /// The value is not queued to be sent: it goes along with the next change of its row. What the closure throws stops the
    /// opening, with an error that names the row.
    public static func fillColumn(
        _ column: String,
        in table: String,
        _ value: @escaping @Sendable (Record) throws -> FieldValue
    ) -> Self {
        Self(table: table, action: .column(column, .fill(value)))
    }

    /// Drops a table with its rows, and what is known of it. Refused while changes of its rows wait.
    public static func dropTable(_ table: String) -> Self { Self(table: table, action: .dropTable) }

    /// Drops a column with its values. Refused while a change waits that has set a value in it.
    ///
    /// For what this device and the server no longer have. A column that the server still has is better left out of the
    /// table and not dropped: then its values stay, and go back to the server as they came when their row is sent.
    public static func dropColumn(_ column: String, in table: String) -> Self {
        Self(table: table, action: .column(column, .drop))
    }
}
