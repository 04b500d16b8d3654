internal import SealedSync

/// An open to-do store for the length of one action.
struct TodoSession: Sendable {
    let settings: TodoSettings
    let store: EncryptedStore
    let context: SyncContext
    let table: SyncTable<Record>

    /// Opens the store, lends it, and closes it whatever happens.
    static func with<Value: Sendable>(
        _ options: TodoOptions,
        network: TodoNetwork = .unused,
        _ body: (TodoSession) async throws -> Value
    ) async throws -> Value {
        let folder = options.place.folder
        let keyring = try await options.place.unlock()
        // The name of the to-do table is itself in the database: it is read first, then declared.
        let settings = try await readSettings(folder, keyring)
        let remote: any SyncRemote =
            switch network {
            case .unused:
                UnavailableRemote(RemoteError(.invalidRequest, "This action does not use the network."))
            case .used(let network): try settings.remote(server: options.server, network)
            }
        return try await withOpen(try await folder.open(settings.schema, keyring: keyring)) { store in
            let context = SyncContext(store: store, remote: remote)
            return try await body(
                TodoSession(
                    settings: settings,
                    store: store,
                    context: context,
                    table: try context.table(settings.table)
                )
            )
        }
    }

    private static func readSettings(_ folder: StoreFolder, _ keyring: StoreKeyring) async throws -> TodoSettings {
        try await withOpen(try await folder.open(try StoreSchema([TodoSettings.table]), keyring: keyring)) { store in
            try TodoSettings(try await store.read(table: TodoSettings.table.name, itemID: .string("settings")))
        }
    }

    private static func withOpen<Value: Sendable>(
        _ store: EncryptedStore,
        _ body: (EncryptedStore) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await body(store)
            await store.close()
            return value
        } catch {
            await store.close()
            throw error
        }
    }

    /// The items of a query, with their states.
    func items(_ query: Query) async throws -> [TodoItem] {
        try await table.read(query.includingSyncStates()).records.map { TodoItem($0) }
    }

    /// The item with an id, or a failure that says how to find one.
    func item(_ id: String) async throws -> Record {
        guard let record = try await table.read(id) else {
            // A row that a server has made may have any id; what is none is told as such.
            try ItemID.validate(id)
            throw ToolError("notFound", "No to-do has the id '\(id)'; 'sealedsync todo list' shows the ids.")
        }
        return record
    }
}

/// Whether an action talks to the server, and how.
enum TodoNetwork {
    case unused
    case used(NetworkOptions)
}
