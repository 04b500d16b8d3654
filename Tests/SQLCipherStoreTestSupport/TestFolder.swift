import CSQLCipher
import DurableFiles
package import Foundation
package import SecretMemory
package import SyncContract

package import SQLCipherStore

/// A folder of its own for one test, removed with its last reference.
package final class TestFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A temporary folder was left behind: \(error)")
        }
    }

    package var database: URL { url.appending(path: "store.db") }

    /// The content of every file by its name.
    package func contents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            contents[name] = Array(try Data(contentsOf: url.appending(path: name)))
        }
        return contents
    }

    /// The same without the lock file, which opening may create.
    package func contentsWithoutLock() throws -> [String: [UInt8]] {
        try contents().filter { !$0.key.hasSuffix(".lock") }
    }

    /// Writes the database file.
    package func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: database) }

    /// Creates a store in a format that need not be the newest.
    package func createStore(_ format: FileHeader.Format, _ tables: [TableDefinition] = [.items]) throws {
        try StoreCreator(files: StoreFiles(database.path), engine: CipherConfiguration.engineVersion(), format: format)
            .create(.testKey(), StoreSchema(tables))
    }

    /// Changes the database file.
    package func edit(_ name: String = "store.db", _ body: (inout Data) -> Void) throws {
        let file = url.appending(path: name)
        var data = try Data(contentsOf: file)
        body(&data)
        try data.write(to: file)
    }
}

extension SecretBytes {
    /// A key of 32 equal bytes.
    package static func testKey(_ byte: UInt8 = 7) throws -> SecretBytes {
        unsafe try SecretBytes(count: 32) { buffer in
            for index in 0..<32 { unsafe buffer[index] = byte }
        }
    }
}

extension EncryptedStore {
    /// Opens the store of a test.
    package static func open(
        in folder: TestFolder,
        _ tables: [TableDefinition] = [.items],
        keyByte: UInt8 = 7,
        mode: OpenMode = .openOrCreate,
        keyIsVerified: Bool = false,
        durability: EncryptedStoreOptions.Durability = .full,
        checkpointDelay: Duration? = EncryptedStoreOptions().checkpointDelay
    ) async throws -> EncryptedStore {
        var options = EncryptedStoreOptions()
        options.keyIsVerified = keyIsVerified
        options.durability = durability
        options.checkpointDelay = checkpointDelay
        return try await open(
            at: folder.database,
            key: .testKey(keyByte),
            schema: StoreSchema(tables),
            mode: mode,
            options: options
        )
    }
}

extension TableDefinition {
    /// One column of every type.
    package static let items = TableDefinition("items", columns: allTypes)

    /// The same with ids that ignore case.
    package static let folding = TableDefinition("folding", columns: allTypes, idComparison: .asciiCaseInsensitive)

    private static let allTypes: [ColumnDefinition] = [
        .init("bool", .bool), .init("int", .int64), .init("double", .double), .init("decimal", .decimal),
        .init("text", .string), .init("date", .date), .init("bytes", .bytes), .init("json", .json),
    ]
}

/// The code of the error that a closure throws, nil when it throws none.
package func code(of body: () async throws -> Void) async throws -> StoreError.Code? {
    do {
        try await body()
        return nil
    } catch let error as StoreError {
        return error.code
    }
}

extension TestFolder {
    /// Runs SQL on the database of a closed store, past everything the store takes care of.
    package func alter(_ statements: String...) throws {
        let database = try cipherConfiguration().open(path: database.path, flags: SQLITE_OPEN_READWRITE)
        try database.configureSession(EncryptedStoreOptions())
        for sql in statements { try database.run(sql) }
        _ = try database.text("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Makes a store with one text, and closes it.
    package func makeStoreWithText() async throws {
        let store = try await EncryptedStore.open(in: self)
        try await store.upsert([Record(id: "1", ["text": "sound"])], table: "items")
        await store.close()
    }

    /// What that text is by now.
    package func storedText() async throws -> FieldValue? {
        let store = try await EncryptedStore.open(in: self)
        let text = try await store.read { try $0.record("1", in: "items")?["text"] }
        await store.close()
        return text
    }

    /// Opens the database of a closed store without the store.
    package func openDatabase() throws -> Database {
        let database = try cipherConfiguration().open(path: database.path, flags: SQLITE_OPEN_READONLY)
        try database.configureSession(EncryptedStoreOptions())
        return database
    }

    /// Opens the database of a closed store without the store, to change it behind the store's back.
    package func openDatabaseForWriting() throws -> Database {
        let database = try cipherConfiguration().open(path: database.path, flags: 2)
        try database.configureSession(EncryptedStoreOptions())
        return database
    }

    private func cipherConfiguration() throws -> CipherConfiguration {
        let engine = try CipherConfiguration.engineVersion()
        let header = try FileHeader(
            reading: FileSystem.prefix(of: database.path, count: FileHeader.count),
            of: database.path
        )
        return try CipherConfiguration(key: .testKey(), header: header, engine: engine)
    }
}
