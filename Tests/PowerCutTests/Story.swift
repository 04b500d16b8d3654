import DurableFiles
import Foundation
import SQLCipherStore
import SealedSync
import SeededNumbers

/// Something that is done to a store while it is written down, and what must be true of the store that a power cut
/// leaves, by how much of it was acknowledged.
protocol Story: Sendable {
    /// Makes what is there before. All of it outlasts a power cut.
    func prepare(_ place: Place) async throws
    /// Does what is tried, and acknowledges each step of it.
    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws
    /// Looks at what a power cut has left, and throws what is wrong with it.
    func check(_ place: Place, acknowledged: Int) async throws
}

extension Story {
    func prepare(_ place: Place) async throws {}
}

/// What is wrong with a store.
struct Loss: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws when something is not so.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw Loss(what()) }
}

/// A store in folders of its own, and the unlockers that open it.
struct Place: Sendable {
    /// The folder that is written down.
    let root: URL
    let fileSystem: FileSystem

    static let schema = try! StoreSchema([TableDefinition("notes", columns: [.init("text", .string)])])

    var store: StoreFolder {
        var store = StoreFolder(root.appending(path: "apps/notes"))
        store.fileSystem = fileSystem
        return store
    }

    /// A secret file in a folder that is there.
    var secretFile: SecretFileUnlocker {
        SecretFileUnlocker(at: root.appending(path: "user.secret"), random: .system, in: fileSystem)
    }

    var file: StoreFile {
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.fileSystem = fileSystem
        return file
    }

    /// A passphrase at a cost that tests can pay.
    static func passphrase(_ text: String) throws -> PassphraseUnlocker {
        PassphraseUnlocker(
            passphrase: try SecretBytes(text),
            cost: .insecureForTests(log2N: 1, blockSize: 8, parallelization: 1)
        )
    }

    static func options(_ durability: EncryptedStoreOptions.Durability = .full) -> EncryptedStoreOptions {
        var options = EncryptedStoreOptions()
        options.durability = durability
        // What happens by the clock would be another thing each time.
        options.checkpointDelay = nil
        return options
    }

    static func note(_ number: Int) -> Record {
        Record(id: .string("note-\(number)"), ["text": .string(String(repeating: "text \(number) ", count: 20))])
    }

    /// Creates the store with as many notes, and closes it.
    func create(notes count: Int, _ unlockers: [any StoreUnlocker] = []) async throws {
        let store = try await store.create(Self.schema, unlocker: secretFile)
        try await store.upsert((0..<count).map(Self.note), table: "notes")
        await store.close()
        for unlocker in unlockers { try await self.store.keyslots.add(unlocker, authorizedBy: secretFile) }
    }

    /// The same in a format that need not be the newest.
    func createInOldFormat(notes count: Int) async throws {
        try fileSystem.createFolders(store.url.path)
        let key = try await StoreKeyring.create(at: store.keyslotsURL, unlocker: secretFile).dataKey
        try StoreCreator(
            files: StoreFiles(store.databaseURL.path),
            engine: CipherConfiguration.engineVersion(),
            format: .sqlcipher3
        )
        .create(key, Self.schema)
        let store = try await store.open(Self.schema, unlocker: secretFile)
        try await store.upsert((0..<count).map(Self.note), table: "notes")
        await store.close()
    }

    /// The texts of the store by id.
    func texts(_ unlocker: any StoreUnlocker) async throws -> [String: String] {
        let store = try await store.open(Self.schema, unlocker: unlocker, options: Self.options())
        let result: Result<[Record], any Error>
        do {
            result = .success(try await store.read(Query("notes")).records)
        } catch {
            result = .failure(error)
        }
        await store.close()
        var texts: [String: String] = [:]
        for record in try result.get() {
            guard case .string(let id) = record.id, case .string(let text) = record["text"] else { continue }
            texts[id] = text
        }
        return texts
    }

    /// Throws when the store has other notes than those that ``create(notes:_:)`` makes.
    func expectNotes(_ count: Int, _ unlocker: (any StoreUnlocker)? = nil) async throws {
        let texts = try await texts(unlocker ?? secretFile)
        try expect(texts.count == count, "\(texts.count) notes instead of \(count)")
        for number in 0..<count {
            let note = Self.note(number)
            try expect(texts["note-\(number)"].map { .string($0) } == note["text"], "note \(number) is another")
        }
    }

    /// Whether an unlocker opens the keyslot file. Another answer than that is a fault.
    func opens(_ unlocker: any StoreUnlocker) async throws -> Bool {
        do {
            _ = try await store.unlock(unlocker)
            return true
        } catch let error as KeyError where [.wrongSecret, .secretUnavailable].contains(error.code) {
            return false
        }
    }

    /// Throws when anything in the store is damaged.
    func verify(_ unlocker: (any StoreUnlocker)? = nil) async throws {
        let keyring = try await store.unlock(unlocker ?? secretFile)
        let verification = try await store.verify(keyring)
        try expect(verification.isSound, "\(verification)")
    }
}
