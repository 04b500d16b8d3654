import DurableFiles
import FileSystemRecording
import Foundation
import SealedSync
import SeededNumbers
import Testing

@testable import StoreKeys

@Suite("A process that is killed while it rotates a data key")
struct RotationKillTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    /// The steps of the first write of the keyslot file, of the new database, and of the second write.
    private static let steps =
        replacement + [
            "remove store.db-wal", "synchronize .", "create store.db.new", "write store.db.new",
            "synchronize store.db.new", "verify store.db.new", "rename store.db.new store.db", "synchronize .",
        ] + replacement

    private static let replacement = [
        "create .store.keys.*.tmp", "write .store.keys.*.tmp", "synchronize .store.keys.*.tmp",
        "rename .store.keys.*.tmp store.keys", "synchronize .",
    ]

    @Test("which is done in this order")
    func order() async throws {
        try await folder.create(notes: 300)
        let recorder = FileSystemRecorder(in: folder.store.url)
        try await Self.rotate(folder.store, folder.unlocker, recorder.fileSystem)
        #expect(recorder.takeLines() == Self.steps)
    }

    @Test(
        "after any durable step leaves a store that opens with every row, and without a rotation",
        arguments: 1...steps.count
    )
    func killed(step: Int) async throws {
        try await folder.create(notes: 300)
        let path = folder.parent.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            let (store, unlocker) = (UserFolder.store(in: path), UserFolder.unlocker(in: path))
            try await Self.rotate(store, unlocker, .killing(after: step))
        }
        try await folder.expectNotes(300)
        #expect(try await KeyslotFile.read(at: folder.store.keyslotsURL).isRotationPending == false)
        // What was left over is not an obstacle, and goes.
        try await folder.store.rotateDataKey(folder.unlocker)
        try await folder.expectNotes(300)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    private static func rotate(
        _ store: StoreFolder,
        _ unlocker: SecretFileUnlocker,
        _ fileSystem: FileSystem
    ) async throws {
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.fileSystem = fileSystem
        _ = try await store.rotateDataKey(unlocker, Keyslots(store.keyslotsURL, in: fileSystem), file, nil)
    }

    /// What a kill has left.
    private enum Trace: String {
        case noRotation = "no rotation"
        case oldKey = "a pending key, and the database under the current one"
        case newKey = "a pending key, and the database under that"
    }

    /// `SEALEDSYNC_ROTATION_KILLS` says how often; the instants follow from `SEALEDSYNC_TEST_SEED`.
    @Test("at random instants, again and again, never leaves a store that cannot be read")
    func killedAtRandom() async throws {
        let rounds = ProcessInfo.processInfo.environment["SEALEDSYNC_ROTATION_KILLS"].flatMap { Int($0) } ?? 8
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        try await folder.create(notes: 300)
        var keys: Set<String> = []
        var traces: [Trace: Int] = [:]
        for round in 0..<rounds {
            let path = folder.parent.path
            let delay = UInt32.random(in: 0..<150_000, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, delay = delay as UInt32] in
                let (store, unlocker) = (UserFolder.store(in: path), UserFolder.unlocker(in: path))
                Thread.detachNewThread {
                    // Not a wait for something: the instant of the kill is what chance decides.
                    usleep(delay)
                    kill(getpid(), SIGKILL)
                }
                while true { try await store.rotateDataKey(unlocker) }
            }
            do {
                traces[try await trace(), default: 0] += 1
                try await folder.expectNotes(300)
                keys.insert(try await KeyslotFile.read(at: folder.store.keyslotsURL).dataKeyID.description)
            } catch {
                Issue.record("seed \(seed), round \(round): \(error)")
                return
            }
        }
        print("\(rounds) kills, \(keys.count) different keys afterwards")
        for (trace, count) in traces { print("\(count) left \(trace.rawValue)") }
    }

    private func trace() async throws -> Trace {
        let keyring = try await StoreKeyring.open(at: folder.store.keyslotsURL, unlocker: folder.unlocker)
        guard let pending = try keyring.pendingDataKey else { return .noRotation }
        let database = StoreFile(folder.store.databaseURL)
        let isNew = try await database.isEncrypted(with: pending)
        #expect(try await database.isEncrypted(with: keyring.dataKey) != isNew)
        return isNew ? .newKey : .oldKey
    }
}
