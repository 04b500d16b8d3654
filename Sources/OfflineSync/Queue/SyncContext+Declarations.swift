internal import SyncContract
internal import Synchronization

// What is stored follows what is declared: apps get new versions, and the rows and the queue of before stay.
extension SyncContext {
    /// Follows what is declared now and was not before: of tables and columns that stay on the device, and of columns that name
    /// files. Before anything is changed, counted or purged, for rows of a table that is synced from now on wait from then on.
    package func followDeclarations() async throws {
        guard !coordination.areDeclarationsFollowed.load(ordering: .relaxed) else { return }
        let (tables, columns) = (LocalTables(context: self), LocalColumns(schema: store.schema))
        let files = FileColumns(schema: store.schema)
        let haveChanged = try await store.read {
            try tables.haveChanged(&$0) || columns.haveChanged(&$0) || files.haveChanged(&$0)
        }
        if haveChanged {
            try await store.write { transaction in
                try tables.follow(&transaction)
                try columns.follow(&transaction)
                try files.follow(&transaction)
            }
        }
        coordination.areDeclarationsFollowed.store(true, ordering: .relaxed)
    }

    /// Follows all that is declared before anything is exchanged, references among it, in a turn of the gate: waiting changes
    /// may have them.
    func prepareExchangeInTurn() async throws {
        try await followDeclarations()
        guard !areReferencesTranslated else { return }
        try await coordination.gate.withTurn { try await prepareExchange() }
    }

    /// The same for who has that turn.
    func prepareExchange() async throws {
        try await followDeclarations()
        guard !areReferencesTranslated else { return }
        let references = DeclaredReferences(store.schema)
        if try await store.read({ try references.haveChanged(&$0) }) {
            try await store.write { try references.translate(&$0) }
        }
        coordination.areReferencesTranslated.store(true, ordering: .relaxed)
    }

    /// Whether every declared reference is known to hold local ids.
    private var areReferencesTranslated: Bool { coordination.areReferencesTranslated.load(ordering: .relaxed) }
}
