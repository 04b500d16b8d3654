import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

/// A device whose app gets new versions, and an emulator.
struct MigrationWorld {
    /// Which store the device has.
    enum Kind: CaseIterable {
        case memory
        case encrypted
    }

    static let bill = TableDefinition(
        "Bill",
        columns: [
            .init("text", .string), .init("price", .double), .init("paid", .bool),
            .init("memo", .string, isLocal: true),
        ]
    )
    static let invoice = TableDefinition(
        "Invoice",
        columns: [
            .init("title", .string), .init("amount", .decimal), .init("status", .string),
            .init("memo", .string, isLocal: true),
        ]
    )

    /// The third version: the table and two columns have other names, prices are decimals, and a truth value is a word.
    static func migrations(filling: @escaping @Sendable () -> Void) -> [Migration] {
        [
            Migration(
                to: 2,
                .renameTable("Bill", to: "Invoice"),
                .renameColumn("text", to: "title", in: "Invoice"),
                .renameColumn("price", to: "amount", in: "Invoice")
            ),
            Migration(
                to: 3,
                // What is short in binary is long in decimal, as it is when Foundation's decimals are made of doubles.
                .convertColumn("amount", in: "Invoice") {
                    $0 == 5.1 ? .decimal(DecimalText("5.0999999999999996")!) : .null
                },
                .fillColumn("status", in: "Invoice") { row in
                    filling()
                    return row["paid"] == true ? "paid" : "open"
                },
                .dropColumn("paid", in: "Invoice")
            ),
        ]
    }

    /// The tables of a version; the closure is called for each row that is filled.
    static func schema(_ version: Int, filling: @escaping @Sendable () -> Void = {}) throws -> StoreSchema {
        guard version > 1 else { return try StoreSchema([bill]) }
        return try StoreSchema(version: 3, [invoice], migrations: migrations(filling: filling))
    }

    let kind: Kind
    let emulator = Emulator(EmulatorConfiguration(tables: ["Bill", "Invoice"]))
    let folder: TestFolder

    init(_ kind: Kind) throws {
        self.kind = kind
        folder = try TestFolder()
    }

    /// One version of the app with its store open.
    struct App {
        let store: any SyncContextDataSource
        let server: InterceptedServer
        let context: SyncContext

        func table(_ name: String) throws -> SyncTable<Record> { try context.table(name) }
    }

    func start(_ schema: StoreSchema) async throws -> App {
        switch kind {
        case .memory: try app(MemoryStore(schema))
        case .encrypted: try app(await open(schema))
        }
    }

    /// The app ends, and a new version of it begins.
    func update(_ app: App, to schema: StoreSchema) async throws -> App {
        if let store = app.store as? MemoryStore {
            return try self.app(try await store.reopened(with: schema, translating: .operations))
        }
        await (app.store as? EncryptedStore)?.close()
        return try self.app(await open(schema))
    }

    private func open(_ schema: StoreSchema) async throws -> EncryptedStore {
        try await EncryptedStore.open(at: folder.database, key: .testKey(), schema: schema, translating: .operations)
    }

    private func app(_ store: some SyncContextDataSource) throws -> App {
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let server = InterceptedServer(remote)
        return App(store: store, server: server, context: SyncContext(store: store, remote: server))
    }

    /// The server's own migration: its rows in the new table, with the versions that they had.
    func migrateServer() throws {
        let rows = emulator.rows(in: "Bill")
            .map { row in
                var row = row
                row["title"] = row.removeValue(forKey: "text")
                row["amount"] = row.removeValue(forKey: "price")
                row["status"] = row.removeValue(forKey: "paid") == .bool(true) ? "paid" : "open"
                return row
            }
        try emulator.seed(rows, in: "Invoice")
    }

    func onServer(_ table: String) -> [String: [String: JSONValue]] {
        let rows = emulator.rows(in: table).filter { $0["deleted"] != .bool(true) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0) })
    }
}
