internal import SyncContract
internal import Synchronization

extension SyncContext {
    /// Follows what is declared now and was not before: of tables that stay on the device, and of columns that name files. Before
    /// anything is changed, counted, purged or exchanged, for rows of a table that is synced from now on wait from then on.
    package func followDeclarations() async throws {
        guard !coordination.areDeclarationsFollowed.load(ordering: .relaxed) else { return }
        let (tables, files) = (LocalTables(context: self), FileColumns(schema: store.schema))
        let haveChanged = try await store.read { try tables.haveChanged(&$0) || files.haveChanged(&$0) }
        if haveChanged {
            try await store.write { transaction in
                try tables.follow(&transaction)
                try files.follow(&transaction)
            }
        }
        coordination.areDeclarationsFollowed.store(true, ordering: .relaxed)
    }
}
