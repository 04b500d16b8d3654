import Foundation
import SealedSync
import Testing

/// A store of a generation in a temporary folder, with the permissions that it had, removed with its last reference.
final class FixtureCopy: Sendable {
    let folder: StoreFolder
    let secrets: URL

    private let parent: URL

    init(_ fixture: StoredFixture) throws {
        parent = FileManager.default.temporaryDirectory.appending(path: "StoredFixtureTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        secrets = parent.appending(path: "secrets")
        folder = StoreFolder(parent.appending(path: "store"))
        try Self.copy(fixture.generation.url.appending(path: "secrets"), to: secrets)
        try Self.copy(fixture.generation.url.appending(path: fixture.store.rawValue), to: folder.url)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: parent)
        } catch {
            Issue.record("the test's folder could not be removed: \(error)")
        }
    }

    /// Copies a folder of files. A repository does not keep that only the owner may read them.
    private static func copy(_ source: URL, to target: URL) throws {
        let files = FileManager.default
        try files.copyItem(at: source, to: target)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: target.path)
        for name in try files.contentsOfDirectory(atPath: target.path) {
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.appending(path: name).path)
        }
    }

    /// Opens the store as its app does, lends it, and closes it.
    func withStore<Value>(
        _ secret: FixtureSecret = .secretFile,
        _ body: (EncryptedStore) async throws -> Value
    ) async throws -> Value {
        let store = try await folder.open(FixtureStory.schema, unlocker: secret.unlocker(in: secrets))
        do {
            let value = try await body(store)
            await store.close()
            return value
        } catch {
            await store.close()
            throw error
        }
    }

    /// Expects that the store, opened with a secret, holds what was written down when it was made.
    func expect(_ fixture: StoredFixture, _ secret: FixtureSecret = .secretFile) async throws {
        let expected = try fixture.description
        let found = try await withStore(secret) {
            try await StoreDescription($0, server: expected.server, arrived: expected.arrived)
        }
        for difference in expected.differences(from: found) {
            Issue.record("\(secret): \(difference)")
        }
    }

    /// Expects that nothing is found by looking at every page and row.
    func expectSound(_ keyring: StoreKeyring, _ comment: String) async throws {
        let verification = try await folder.verify(keyring)
        #expect(verification.findings.isEmpty, "\(comment)")
        #expect(verification.rows > 20, "\(comment)")
    }

    /// The keys, after ending a rotation that was interrupted.
    func keyring() async throws -> StoreKeyring {
        try await folder.unlock(FixtureSecret.secretFile.unlocker(in: secrets))
    }

    /// The content of every file of the store by its name, but for the lock.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where !name.hasSuffix(".lock") {
            contents[name] = try Data(contentsOf: folder.url.appending(path: name))
        }
        return contents
    }
}
