/// Brings what a sync engine keeps in the system tables from the old shape of the app's tables to the new one, in the
/// transaction that migrates a store.
public protocol QueueTranslation: Sendable {
    /// Looks whether the migration can be done, before anything is changed.
    ///
    /// - Parameters:
    ///   - migration: What is about to be done.
    ///   - reader: Sees the tables as they are stored.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/migrationRefused`` for changes that would be orphaned.
    func check(_ migration: SchemaMigration, _ reader: inout StoreReader) throws

    /// Translates, when the rows are in their new tables.
    ///
    /// - Parameters:
    ///   - migration: What was done.
    ///   - transaction: Sees the tables as they are declared now.
    /// - Throws: What undoes the migration.
    func translate(_ migration: SchemaMigration, _ transaction: inout StoreTransaction) throws
}
