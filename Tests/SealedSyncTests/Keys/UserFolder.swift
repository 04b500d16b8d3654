import Foundation
import SealedSync
import Testing

/// A store folder of its own for one test, with a secret file beside the folder, removed with its last reference.
final class UserFolder: Sendable {
    static let schema = try! StoreSchema([TableDefinition("notes", columns: [.init("text", .string)])])

    let parent: URL

    init() throws {
        parent = FileManager.default.temporaryDirectory.appending(path: "SealedSyncTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: parent)
        } catch {
            Issue.record("the test's folder could not be removed: \(error)")
        }
    }

    var store: StoreFolder { Self.store(in: parent.path) }
    var unlocker: SecretFileUnlocker { Self.unlocker(in: parent.path) }

    // For processes, which get a path.
    static func store(in parent: String) -> StoreFolder { StoreFolder(URL(filePath: parent).appending(path: "store")) }
    static func unlocker(in parent: String) -> SecretFileUnlocker {
        SecretFileUnlocker(at: URL(filePath: parent).appending(path: "user.secret"))
    }

    /// Creates the store with as many notes, and closes it.
    func create(notes count: Int) async throws {
        let store = try await store.create(Self.schema, unlocker: unlocker)
        try await store.upsert((0..<count).map(Self.note), table: "notes")
        await store.close()
    }

    static func note(_ number: Int) -> Record {
        Record(id: .string("note-\(number)"), ["text": .string(String(repeating: "text \(number) ", count: 20))])
    }

    /// Opens the store with an unlocker, reads every note, and closes it.
    func expectNotes(_ count: Int, unlocker: (any StoreUnlocker)? = nil) async throws {
        let store = try await store.open(Self.schema, unlocker: unlocker ?? self.unlocker)
        let notes = try await store.read(Query("notes")).records
        await store.close()
        let texts = Dictionary(uniqueKeysWithValues: notes.map { ($0.id, $0["text"]) })
        #expect(texts == Dictionary(uniqueKeysWithValues: (0..<count).map(Self.note).map { ($0.id, $0["text"]) }))
    }

    #if os(Linux)
    /// Lets no file of this process get larger than that from now on, as if the disk were full.
    static func limitFiles(to count: Int) throws {
        var most = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &most) == 0)
        signal(SIGXFSZ, SIG_IGN)
    }
    #endif

    /// The content of every file of the store by its name, but for the lock.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: store.url.path) where !name.hasSuffix(".lock") {
            contents[name] = try Data(contentsOf: store.url.appending(path: name))
        }
        return contents
    }
}

extension PassphraseUnlocker {
    /// At a cost that tests can pay.
    static func quick(_ passphrase: String) throws -> PassphraseUnlocker {
        PassphraseUnlocker(
            passphrase: try SecretBytes(passphrase),
            cost: .insecureForTests(log2N: 4, blockSize: 8, parallelization: 1)
        )
    }
}

func keyErrorCode(_ body: () async throws -> Void) async throws -> KeyError.Code? {
    do {
        try await body()
        return nil
    } catch let error as KeyError {
        return error.code
    }
}

func storeErrorCode(_ body: () async throws -> Void) async throws -> StoreError.Code? {
    do {
        try await body()
        return nil
    } catch let error as StoreError {
        return error.code
    }
}
