import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("Purging by the states of rows")
struct PurgeBySyncStateTests {
    /// What keeps the rows: a store that answers by itself, one for which the transaction does, or the encrypted one.
    enum Kept: CaseIterable { case inMemory, inMemoryWithoutStates, encrypted }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A device with a row that is as on the server, and one update and one insert that the server has refused.
    private func withFailures(_ kept: Kept, _ body: (SyncTable<Record>, SyncContext) async throws -> Void) async throws
    {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        try emulator.seed([["id": "a", "text": "milk"], ["id": "b", "text": "bread"]], in: "TodoItem")
        let store: any SyncContextDataSource =
            switch kept {
            case .inMemory: MemoryStore(try StoreSchema([todoTable]))
            case .inMemoryWithoutStates: MemoryStore(try StoreSchema([todoTable]), answersSyncStates: false)
            case .encrypted: try await EncryptedStore.open(in: folder, [todoTable])
            }
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        let context = SyncContext(store: store, remote: remote)
        let table: SyncTable<Record> = try context.table("TodoItem")
        try await table.pull()
        try await table.update(Record(id: "b", ["text": "mine"]))
        try await table.insert(["text": "tea"], id: "c")
        emulator.inject(.respond(EmulatorResponse(400), times: 2) { $0.method == "PUT" || $0.method == "POST" })
        #expect(try await context.push().failures.count == 2)
        try await body(table, context)
        #expect(try await store.verifyQueue().isEmpty)
        await (store as? EncryptedStore)?.close()
    }

    @Test("takes the rows together with the changes that gave them their state", arguments: Kept.allCases)
    func failed(_ kept: Kept) async throws {
        try await withFailures(kept) { table, context in
            let failed = table.query.filtered(by: Column.syncState == .failed)
            #expect(try await context.forcePurge(failed) == 2)
            #expect(try await texts(context) == ["a": "milk"])
            #expect(try await context.operations().isEmpty)
            #expect(try await context.push().requests == 0)
            try await table.pull()
            #expect(try await texts(context) == ["a": "milk"], "rows stay away as long as they do not change")
            try await context.pull(table, options: .init(reconciles: true))
            #expect(try await texts(context) == ["a": "milk", "b": "bread"])
        }
    }

    @Test("leaves the rows of other states with their changes", arguments: Kept.allCases)
    func synced(_ kept: Kept) async throws {
        try await withFailures(kept) { table, context in
            let synced = table.query.filtered(by: Column.syncState == .synced)
            let givenUp = try await context.forcePurge(synced)
            #expect(givenUp == 0)
            #expect(try await texts(context) == ["b": "mine", "c": "tea"])
            #expect(try await context.operations().count == 2)
        }
    }
}
