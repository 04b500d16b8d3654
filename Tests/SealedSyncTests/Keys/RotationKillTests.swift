import Foundation
import SealedSync
import SeededNumbers
import Synchronization
import Testing

@testable import SQLCipherStore
@testable import StoreKeys

@Suite("A process that is killed while it rotates a data key")
struct RotationKillTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    /// A step of the first write of the keyslot file, of the new database, or of the second write.
    enum Place: CaseIterable {
        static var allCases: [Place] {
            PrivateFile.ReplacementStep.allCases.map { .keyslots($0, write: 1) }
                + MaintenanceStep.allCases.map { .database($0) }
                + PrivateFile.ReplacementStep.allCases.map { .keyslots($0, write: 2) }
        }

        case keyslots(PrivateFile.ReplacementStep, write: Int)
        case database(MaintenanceStep)
    }

    @Test(
        "at any durable step leaves a store that opens with every row, and without a rotation",
        arguments: Place.allCases.indices
    )
    func killed(index: Int) async throws {
        try await folder.create(notes: 300)
        let path = folder.parent.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, index = index as Int] in
            let place = Place.allCases[index]
            let store = UserFolder.store(in: path)
            let writes = Counter()
            let keyslots = Keyslots(store.keyslotsURL) { step in
                if step == .started { writes.increment() }
                if case .keyslots(step, write: writes.value) = place { kill(getpid(), SIGKILL) }
            }
            var file = StoreFile(store.databaseURL, keyIsVerified: true)
            file.onStep = { step in if case .database(step) = place { kill(getpid(), SIGKILL) } }
            _ = try await store.rotateDataKey(UserFolder.unlocker(in: path), keyslots, file, nil)
        }
        try await folder.expectNotes(300)
        #expect(try await KeyslotFile.read(at: folder.store.keyslotsURL).isRotationPending == false)
        // What was left over is not an obstacle, and goes.
        try await folder.store.rotateDataKey(folder.unlocker)
        try await folder.expectNotes(300)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
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

private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increment() { count.withLock { $0 += 1 } }
}
