import DatasyncEmulator
import Foundation
import SealedSync
import Testing

/// The stores that one version of the code has made on one library: a folder under `Fixtures`.
struct FixtureGeneration: Sendable, CustomTestStringConvertible {
    let name: String

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// Every generation that is committed, in the order of their names.
    static var all: [FixtureGeneration] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
                .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
                .map { FixtureGeneration(name: $0.lastPathComponent) }
                .sorted { $0.name < $1.name }
        }
    }

    var url: URL { Self.folder.appending(path: name) }
    var testDescription: String { name }

    /// The stores of a generation, by the names of their folders.
    enum Store: String, CaseIterable, Sendable {
        /// Closed properly.
        case closed
        /// Its process was killed: commits lie in the write-ahead log.
        case killed
        /// Made by a backup while the store was open.
        case backup
        /// A rotation ended when the pending key was written: the database is under the old key.
        case rotationPendingKey = "rotation-pending-key"
        /// A rotation ended when the database under the new key lay beside the old one, whole.
        case rotationCopyComplete = "rotation-copy-complete"
        /// A rotation ended when the database was under the new key, and the keyslot file still called that pending.
        case rotationDatabaseReplaced = "rotation-database-replaced"

        /// The file that says what is in the store.
        var description: String { self == .killed ? "killed.json" : "closed.json" }
    }
}

/// The secrets that a generation's stores are opened with: files in its folder `secrets`.
enum FixtureSecret: String, CaseIterable, Sendable {
    case passphrase
    case recoveryCode = "recovery-code"
    case secretFile = "secret-file"
    case keyService = "key-service"

    /// The unlocker, from the folder of the secrets. A new slot gets a low cost, so that tests can pay for opening it.
    func unlocker(in secrets: URL) throws -> any StoreUnlocker {
        let file = secrets.appending(path: rawValue)
        switch self {
        case .passphrase:
            return PassphraseUnlocker(
                passphrase: try Self.secret(Data(contentsOf: file)),
                cost: .insecureForTests(log2N: 4, blockSize: 8, parallelization: 1),
                label: "пароль"
            )
        case .recoveryCode:
            return RecoveryCodeUnlocker(try RecoveryCode(typed: Self.secret(Data(contentsOf: file))), label: "paper")
        case .secretFile: return SecretFileUnlocker(at: file, label: "this device")
        case .keyService:
            return KeyServiceUnlocker(
                kind: try SlotKind("org-example-kms"),
                label: "key 1",
                wrap: { unsafe Self.scrambled($0.withUnsafeBytes { unsafe Array($0) }) },
                unwrap: { try Self.secret(Data(Self.scrambled($0))) }
            )
        }
    }

    /// The service's cipher: every byte is combined with 0x5A. It is its own inverse.
    private static func scrambled(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 ^ 0x5A } }

    private static func secret(_ data: Data) throws -> SecretBytes {
        unsafe try SecretBytes(count: data.count) { unsafe $0.copyBytes(from: data) }
    }
}

/// One store of a generation.
struct StoredFixture: Sendable, CustomTestStringConvertible {
    let generation: FixtureGeneration
    let store: FixtureGeneration.Store

    /// Every store that is committed.
    static var all: [StoredFixture] {
        get throws {
            try FixtureGeneration.all.flatMap { generation in
                FixtureGeneration.Store.allCases.map { StoredFixture(generation: generation, store: $0) }
            }
        }
    }

    /// The stores that the linked library can read, or cannot: version 3 of SQLCipher does not read what version 4 has
    /// made.
    static func all(areReadable: Bool) async throws -> [StoredFixture] {
        let isThree = try EncryptedStore.linkedEngineVersion().cipher.hasPrefix("3.")
        var fixtures: [StoredFixture] = []
        for fixture in try all {
            let format = try await fixture.format
            if (!isThree || format < .sqlcipher4) == areReadable { fixtures.append(fixture) }
        }
        return fixtures
    }

    var testDescription: String { "\(generation.name)/\(store.rawValue)" }

    /// What the store holds, as it was written down when it was made.
    var description: StoreDescription {
        get throws {
            let file = generation.url.appending(path: store.description)
            return StoreDescription(json: try JSONValue(parsing: Data(contentsOf: file)))
        }
    }

    /// The format of the database, as its file says.
    var format: StoreFormat {
        get async throws {
            try await StoreFile(generation.url.appending(path: "\(store.rawValue)/store.db")).inspect().format
        }
    }
}
