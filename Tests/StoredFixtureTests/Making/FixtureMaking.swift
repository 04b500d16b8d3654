import DatasyncEmulator
import Foundation
import SealedSync
import Testing

/// Makes a generation of fixtures. Runs only when `SEALEDSYNC_MAKE_FIXTURES` names it; one that exists is never touched.
///
/// The stores are made through the public interface alone, by the very steps that an app and its users take.
@Suite(
    "Making fixtures",
    .enabled(if: ProcessInfo.processInfo.environment["SEALEDSYNC_MAKE_FIXTURES"] != nil),
    .serialized
)
struct FixtureMaking {
    @Test("a generation of every kind of store")
    func make() async throws {
        let name = try #require(ProcessInfo.processInfo.environment["SEALEDSYNC_MAKE_FIXTURES"])
        let target = FixtureGeneration(name: name).url
        try #require(!FileManager.default.fileExists(atPath: target.path), "choose another name: fixtures are kept")
        // Whole or not at all.
        let unfinished = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
        let secrets = unfinished.appending(path: "secrets")
        try await makeClosed(in: unfinished, secrets)
        try await makeKilled(in: unfinished)
        try await makeRotations(in: unfinished, secrets)
        try FileManager.default.moveItem(at: unfinished, to: target)
    }

    private func makeClosed(in place: URL, _ secrets: URL) async throws {
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: true)
        try Data("Съешь ещё этих мягких булок".utf8).write(to: secrets.appending(path: "passphrase"))
        let code = try RecoveryCode.random()
        try unsafe code.text.withUnsafeBytes { unsafe Data($0) }.write(to: secrets.appending(path: "recovery-code"))

        let folder = StoreFolder(place.appending(path: "closed"))
        let emulator = try FixtureStory.makeServer()
        let passphrase = try FixtureSecret.passphrase.unlocker(in: secrets)
        let first = try await folder.create(FixtureStory.firstSchema, unlocker: passphrase)
        try await FixtureStory.begin(first, emulator)
        await first.close()
        for secret in FixtureSecret.allCases.dropFirst() {
            _ = try await folder.keyslots.add(secret.unlocker(in: secrets), authorizedBy: passphrase)
        }

        let store = try await folder.open(FixtureStory.schema, unlocker: passphrase)
        try await FixtureStory.end(store)
        let server = JSONValue.object([
            "Paper": .array(emulator.rows(in: "Paper").map(JSONValue.object)),
            "Label": .array(emulator.rows(in: "Label").map(JSONValue.object)),
        ])
        let description = try await StoreDescription(
            store,
            server: server,
            arrived: FixtureStory.arrived(killed: false)
        )
        try description.text.write(to: place.appending(path: "closed.json"))
        try await folder.backUp(store, to: place.appending(path: "backup"))
        await store.close()
    }

    /// Ends a process right after its last commit, before the write-ahead log is written back.
    private func makeKilled(in place: URL) async throws {
        let path = place.path
        try copy("closed", to: "killed", in: place)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let place = URL(filePath: path)
            let unlocker = try FixtureSecret.secretFile.unlocker(in: place.appending(path: "secrets"))
            let store = try await StoreFolder(place.appending(path: "killed"))
                .open(FixtureStory.schema, unlocker: unlocker)
            try await FixtureStory.beforeTheKill(store)
            let closed = place.appending(path: "closed.json")
            let server = StoreDescription(json: try JSONValue(parsing: Data(contentsOf: closed))).server
            let arrived = FixtureStory.arrived(killed: true)
            let description = try await StoreDescription(store, server: server, arrived: arrived)
            try description.text.write(to: place.appending(path: "killed.json"))
            kill(getpid(), SIGKILL)
        }
        let killed = place.appending(path: "killed")
        try #require(try Data(contentsOf: killed.appending(path: "store.db-wal")).count > 10_000)
        let database = try Data(contentsOf: killed.appending(path: "store.db"))
        try #require(
            try database == Data(contentsOf: place.appending(path: "closed/store.db")),
            "the log was written back before the kill came; make the fixtures again"
        )
    }

    /// Copies the folder in the middle of a rotation: this is what a kill at that instant leaves.
    private func makeRotations(in place: URL, _ secrets: URL) async throws {
        let name = "rotation-database-replaced"
        try copy("closed", to: name, in: place)
        let folder = StoreFolder(place.appending(path: name))
        let finished = place.appending(path: "finished")
        _ = try await folder.keyslots.rotateDataKey(
            authorizedBy: FixtureSecret.recoveryCode.unlocker(in: secrets)
        ) { old, new in
            try copy(name, to: "rotation-pending-key", in: place)
            try await StoreFile(folder.databaseURL, keyIsVerified: true)
                .rekey(from: old, to: new) { progress in
                    guard progress.phase == .verifying, progress.completed == progress.total else { return }
                    do {
                        try copy(name, to: "rotation-copy-complete", in: place)
                    } catch {
                        Issue.record(error)
                    }
                }
            try FileManager.default.copyItem(at: folder.url, to: finished)
        }
        // The rotation went on from there; the fixture is the folder as it was before its last step.
        try FileManager.default.removeItem(at: folder.url)
        try FileManager.default.moveItem(at: finished, to: folder.url)
    }

    private func copy(_ name: String, to other: String, in place: URL) throws {
        try FileManager.default.copyItem(at: place.appending(path: name), to: place.appending(path: other))
    }
}
