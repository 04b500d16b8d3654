import Foundation
import SealedSync
import Synchronization
import Testing

@testable import SQLCipherStore
@testable import StoreKeys

@Suite("A process that is killed while it revokes slots")
struct RevocationKillTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    /// A step of the new database, of the first write of the keyslot file, or of the second; in the order they come.
    enum Place: CaseIterable {
        static var allCases: [Place] {
            MaintenanceStep.allCases.filter { $0 < .named }.map { .database($0) }
                + PrivateFile.ReplacementStep.allCases.map { .keyslots($0, write: 1) }
                + MaintenanceStep.allCases.filter { $0 >= .named }.map { .database($0) }
                + PrivateFile.ReplacementStep.allCases.map { .keyslots($0, write: 2) }
        }

        case keyslots(PrivateFile.ReplacementStep, write: Int)
        case database(MaintenanceStep)

        /// What the next opening makes of a kill at this step.
        var outcome: Outcome {
            switch self {
            case .database(let step): step < .named ? .undone : .done
            case .keyslots(.renamed, write: 1), .keyslots(.synchronizedFolder, write: 1): .overdue
            case .keyslots(_, write: 1): .undone
            case .keyslots: .done
            }
        }
    }

    enum Outcome {
        /// Everything is as it was.
        case undone
        /// The slots are as they are to be, and the file says that the data key should have been replaced.
        case overdue
        case done
    }

    /// Revokes two of four slots, and is killed at a place.
    private static func revoke(in path: String, killedAt place: Place) async throws {
        let store = UserFolder.store(in: path)
        let writes = Mutex(0)
        let keyslots = Keyslots(store.keyslotsURL) { step in
            let write = writes.withLock { writes in
                if step == .started { writes += 1 }
                return writes
            }
            if case .keyslots(step, write: write) = place { kill(getpid(), SIGKILL) }
        }
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.onStep = { step in if case .database(step) = place { kill(getpid(), SIGKILL) } }
        _ = try await store.revoke(
            KeyslotFile.read(at: store.keyslotsURL).slots[1...2].map(\.id),
            keeping: [
                PassphraseUnlocker.quick("first leaked"), UserFolder.unlocker(in: path),
                PassphraseUnlocker.quick("stays"),
            ],
            replacement: PassphraseUnlocker.quick("new"),
            dropMissing: false,
            at: (keyslots, file),
            nil
        )
    }

    @Test(
        "at any durable step leaves a store with every row, which the next opening makes wholly old, wholly new, or overdue",
        arguments: Place.allCases.indices
    )
    func killed(index: Int) async throws {
        try await folder.create(notes: 300)
        for passphrase in ["first leaked", "second leaked", "stays"] {
            try await folder.store.keyslots.add(PassphraseUnlocker.quick(passphrase), authorizedBy: folder.unlocker)
        }
        let thief = try await Thief(in: folder.store, with: PassphraseUnlocker.quick("second leaked"))
        let before = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        let path = folder.parent.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, index = index as Int] in
            try await Self.revoke(in: path, killedAt: Place.allCases[index])
        }
        try thief.look()
        let outcome = Place.allCases[index].outcome
        try await folder.expectNotes(300)
        try await folder.expectNotes(300, unlocker: PassphraseUnlocker.quick("stays"))

        let after = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(!after.isRotationPending)
        #expect(after.isRotationOverdue == (outcome == .overdue))
        #expect((after.dataKeyID == before.dataKeyID) == (outcome != .done))
        #expect((after.slots.map(\.id) == before.slots.map(\.id)) == (outcome == .undone))
        for passphrase in ["first leaked", "second leaked", "new"] {
            let code = try await keyErrorCode {
                _ = try await folder.store.unlock(PassphraseUnlocker.quick(passphrase))
            }
            #expect((code == nil) == ((passphrase == "new") == (outcome != .undone)), "\(passphrase)")
        }
        #expect(try await thief.isIn() == (outcome != .done))

        // Whatever was left is no obstacle to the end of it.
        switch outcome {
        case .undone:
            try await folder.store.revoke(
                before.slots[1...2].map(\.id),
                keeping: [folder.unlocker, PassphraseUnlocker.quick("stays")]
            )
        case .overdue: try await folder.store.rotateDataKey(PassphraseUnlocker.quick("new"))
        case .done: break
        }
        if outcome == .undone { #expect(try await thief.readNotes() == nil) }
        #expect(try await !thief.isIn())
        #expect(try await !KeyslotFile.read(at: folder.store.keyslotsURL).isRotationOverdue)
        try await folder.expectNotes(300)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }
}
