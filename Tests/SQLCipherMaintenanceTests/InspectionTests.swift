import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Inspecting a store")
struct InspectionTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var file: StoreFile { StoreFile(folder.database) }

    @Test("without a key: format, sizes, whether it is open, and what was left behind")
    func withoutKey() async throws {
        #expect(try await code { _ = try await file.inspect() } == .notFound)
        let store = try await EncryptedStore.open(in: folder, checkpointDelay: nil)
        try await store.upsert([Record(id: "1")], table: "items")
        let open = try await file.inspect()
        #expect(open.isInUse && open.walSize > 0)
        await store.close()
        let newest = try EncryptedStore.linkedEngineVersion().newestFormat
        let closed = try await file.inspect()
        #expect(!closed.isInUse && closed.walSize == 0 && closed.leftovers.isEmpty)
        #expect(closed.format == newest.map(StoreFormat.init))
        #expect(closed.databaseSize == FileSystem.size(of: folder.database.path).map(Int64.init))
        try Data("x".utf8).write(to: folder.url.appending(path: "store.db.new"))
        let before = try folder.contents()
        #expect(try await file.inspect().leftovers == ["store.db.new"])
        #expect(try folder.contents() == before)
    }

    @Test("looking does not keep others out, and a store without a lock file gets none")
    func lock() async throws {
        try await EncryptedStore.open(in: folder).close()
        _ = try await file.inspect()
        try await EncryptedStore.open(in: folder).close()
        try FileManager.default.removeItem(atPath: StoreFiles(folder.database.path).lock)
        #expect(try await file.inspect().isInUse == false)
        #expect(try folder.contents().keys.sorted() == ["store.db"])
    }

    @Test("with the key: pages, tables with their rows and columns, what waits; nothing is changed")
    func withKey() async throws {
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])
        try await store.upsert((0..<30).map { Record(id: .string("\($0)"), ["text": "x"]) }, table: "items")
        try await store.upsert(
            [Record(id: .int64(1), ["table": "items"]), Record(id: .int64(2), ["table": "items"])],
            table: SystemTables.operations.name
        )
        try await store.upsert([Record(id: "e")], table: SystemTables.operationErrors.name)
        try await store.upsert(
            [Record(id: "t", ["keyType": 0]), Record(id: "r", ["keyType": 1_000])],
            table: SystemTables.configuration.name
        )
        await store.close()
        try await EncryptedStore.open(in: folder, [.init("items", columns: [.init("text", .string)])]).close()
        let before = try folder.contents()
        let content = try await file.inspect(key: .testKey())
        #expect(try folder.contents() == before)
        let size = try #require(FileSystem.size(of: folder.database.path))
        #expect(content.pages == size / 4_096 && content.layoutVersion == 1)
        #expect(content.engineVersion == (try EncryptedStore.linkedEngineVersion()))
        #expect(content.pendingOperations == 2 && content.operationErrors == 1 && content.deltaTokens == 1)
        let items = try #require(content.tables.first { $0.name == "items" })
        #expect(items.rows == 30 && !items.isSystemTable && items.idKind == .string(.exact))
        #expect(items.columns.filter(\.isDeclared).map(\.name) == ["text", "createdAt", "updatedAt", "version"])
        #expect(items.columns.filter { !$0.isDeclared }.map(\.name).contains("decimal"))
        #expect(content.tables.first { $0.name == "folding" }?.idKind == .string(.asciiCaseInsensitive))
        #expect(content.tables.filter(\.isSystemTable).count == 3)
    }

    @Test("with a wrong key, a key of another length, while it is open, when it is damaged")
    func refusals() async throws {
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { _ = try await file.inspect(key: .testKey()) } == .inUse)
        await store.close()
        #expect(try await code { _ = try await file.inspect(key: .testKey(9)) } == .wrongKey)
        #expect(try await code { _ = try await file.inspect(key: .random(count: 31)) } == .wrongKey)
        try folder.edit { $0[3_000] ^= 1 }
        #expect(try await code { _ = try await file.inspect(key: .testKey()) } == .damaged)
    }
}
