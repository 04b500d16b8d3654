internal import Foundation
internal import SealedSync

/// One of the two devices: a store folder with a passphrase, and the context that syncs it while it is open.
struct DemoDevice: Sendable {
    let store: EncryptedStore
    let context: SyncContext
    let todos: SyncTable<DemoTodo>

    static func create(_ folder: StoreFolder, _ passphrase: SecretBytes, _ remote: DatasyncRemote) async throws -> Self
    {
        try Self(
            try await folder.create(try DemoTodo.schema(remote), unlocker: PassphraseUnlocker(passphrase: passphrase)),
            remote
        )
    }

    static func open(_ folder: StoreFolder, _ keyring: StoreKeyring, _ remote: DatasyncRemote) async throws -> Self {
        try Self(try await folder.open(try DemoTodo.schema(remote), keyring: keyring), remote)
    }

    private init(_ store: EncryptedStore, _ remote: DatasyncRemote) throws {
        self.store = store
        context = SyncContext(store: store, remote: remote)
        todos = try context.table(DemoTodo.table)
    }

    func sync() async throws {
        try await context.pull(todos.query, queryID: "all")
    }

    /// What the device holds, in a form that can be compared.
    func contents() async throws -> Set<DemoContent> {
        Set(try await todos.read(todos.query).map { DemoContent(id: $0.id, text: $0.text, complete: $0.complete) })
    }
}

/// A to-do of the demonstration.
struct DemoTodo: Codable, Identifiable, Sendable {
    var id = ""
    var text: String
    var complete = false

    static let table = "TodoItem"

    /// The table, with the id rule of the server's protocol.
    static func schema(_ remote: DatasyncRemote) throws -> StoreSchema {
        try StoreSchema([
            TableDefinition(
                table,
                columns: [.init("text", .string), .init("complete", .bool)],
                idComparison: remote.replacesWholeRows ? .exact : .asciiCaseInsensitive
            )
        ])
    }
}

/// What a row says, whoever holds it.
struct DemoContent: Hashable, Sendable {
    var id: String
    var text: String
    var complete: Bool
}
