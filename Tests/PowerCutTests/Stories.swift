import Foundation
import SealedSync
import SeededNumbers

/// The first run: secret file, keyslot file, folders, database, and the first note.
struct Creation: Story {
    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        let store = try await place.store
            .openOrCreate(Place.schema, unlocker: place.secretFile, options: Place.options())
        acknowledge(1)
        try await store.upsert([Place.note(0)], table: "notes")
        acknowledge(2)
        await store.close()
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        if acknowledged > 0 { try expect(place.store.isOccupied, "the store is gone") }
        let store = try await place.store.openOrCreate(Place.schema, unlocker: place.secretFile)
        let hasNote = try await store.read(table: "notes", itemID: "note-0") != nil
        if acknowledged > 1 { try expect(hasNote, "the note is gone") }
        try await store.upsert([Place.note(0)], table: "notes")
        await store.close()
        try await place.expectNotes(1)
    }
}

/// Random transactions, and now and then a checkpoint, the store closed and opened, locked and unlocked.
struct Transactions: Story {
    let seed: UInt64
    let durability: EncryptedStoreOptions.Durability

    /// What a transaction does: the new text of notes, nil for one that is deleted.
    private var changes: [[String: String?]] {
        var random = SeededGenerator(seed: seed)
        return (0..<24)
            .map { number in
                var changes: [String: String?] = [:]
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let id = "note-\(Int.random(in: 0..<20, using: &random))"
                    let length = Int.random(in: 0..<900, using: &random) * (Bool.random(using: &random) ? 1 : 9)
                    changes[id] = .some(
                        Int.random(in: 0..<4, using: &random) == 0
                            ? nil : "\(number) " + String(repeating: "x", count: length)
                    )
                }
                return changes
            }
    }

    /// The texts after each number of transactions.
    private var states: [[String: String]] {
        changes.reduce(into: [[:]]) { states, changes in
            var state = states[states.count - 1]
            for (id, text) in changes { state[id] = text }
            states.append(state)
        }
    }

    func prepare(_ place: Place) async throws { try await place.create(notes: 0) }

    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        var random = SeededGenerator(seed: ~seed)
        func open() async throws -> EncryptedStore {
            try await place.store
                .open(Place.schema, unlocker: place.secretFile, options: Place.options(durability))
        }
        var store = try await open()
        for (number, changes) in changes.enumerated() {
            try await store.write { transaction in
                for (id, text) in changes.sorted(by: { $0.key < $1.key }) {
                    if let text {
                        try transaction.upsert([Record(id: .string(id), ["text": .string(text)])], into: "notes")
                    } else {
                        try transaction.delete([.string(id)], from: "notes")
                    }
                }
            }
            // Under normal durability a commit is there for good when it was written back.
            if durability == .full { acknowledge(number + 1) }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                await store.close()
                acknowledge(number + 1)
                store = try await open()
            case 1:
                await store.lock()
                acknowledge(number + 1)
                try await place.store.unlock(store, with: place.secretFile)
            default: break
            }
        }
        await store.close()
        acknowledge(changes.count)
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        let texts = try await place.texts(place.secretFile)
        // What was being written may be there as a whole.
        try expect(states[acknowledged...].contains(texts), "\(texts.count) notes: no state since \(acknowledged)")
        try await place.verify()
    }
}

/// A new data key.
struct DataKeyRotation: Story {
    func prepare(_ place: Place) async throws { try await place.create(notes: 40, [Place.passphrase("one")]) }

    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        let old = try await KeyslotFile.read(at: place.store.keyslotsURL).dataKeyID
        let new = try await place.store.rotateDataKey(Place.passphrase("one")).dataKeyID
        try expect(old != new, "the key is the old one")
        acknowledge(1)
        try await place.expectNotes(40)
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        try await place.expectNotes(40)
        let file = try await KeyslotFile.read(at: place.store.keyslotsURL)
        try expect(!file.isRotationPending, "the rotation is pending")
        try expect(acknowledged == 0 || file.revision == 4, "the keyslot file is an older one")
        try await place.verify(Place.passphrase("one"))
    }
}

/// A new root key and a new data key; a passphrase goes or gets another in its place.
struct Revocation: Story {
    func prepare(_ place: Place) async throws { try await place.create(notes: 40, [Place.passphrase("old")]) }

    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        let slots = try await KeyslotFile.read(at: place.store.keyslotsURL).slots
        try await place.store.revoke(
            slots.filter { $0.kind == .passphrase }.map(\.id),
            keeping: [place.secretFile],
            replacement: Place.passphrase("new")
        )
        acknowledge(1)
        try await place.store.rotateKeys(keeping: [place.secretFile, Place.passphrase("new")])
        acknowledge(2)
        try await place.store.rotateKeys(keeping: [place.secretFile], dropMissing: true)
        acknowledge(3)
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        try await place.expectNotes(40)
        try await place.verify()
        let (old, new) = try await (place.opens(Place.passphrase("old")), place.opens(Place.passphrase("new")))
        try expect(!old || !new, "the new passphrase is beside the old one")
        switch acknowledged {
        case 0: try expect(old || new, "no passphrase opens")
        case 1: try expect(!old && new, "the revocation is undone")
        case 2: try expect(!old, "the revocation is undone")
        default: try expect(!old && !new, "the rotation is undone")
        }
        let file = try await KeyslotFile.read(at: place.store.keyslotsURL)
        try expect(!file.isRotationPending, "the rotation is pending")
    }
}

/// The slots come and go; the database is as it was.
struct SlotChanges: Story {
    func prepare(_ place: Place) async throws { try await place.create(notes: 1, [Place.passphrase("old")]) }

    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        let keyslots = place.store.keyslots
        try await keyslots.changePassphrase(from: Place.passphrase("old"), to: Place.passphrase("new"))
        acknowledge(1)
        let other = SecretFileUnlocker(
            at: place.root.appending(path: "other.secret"),
            random: .system,
            in: place.fileSystem
        )
        let slot = try await keyslots.add(other, authorizedBy: place.secretFile)
        acknowledge(2)
        try await keyslots.remove(slot.id, keeping: [place.secretFile, Place.passphrase("new")])
        acknowledge(3)
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        try await place.expectNotes(1)
        let (old, new) = try await (place.opens(Place.passphrase("old")), place.opens(Place.passphrase("new")))
        try expect(old != new && (acknowledged == 0 || new), "old \(old), new \(new) after \(acknowledged) changes")
        let other = SecretFileUnlocker(at: place.root.appending(path: "other.secret"))
        switch acknowledged {
        case 0...1: break
        // What opens the last slot was brought to the medium before the slot.
        case 2: try await expectOther(place, other)
        default: try expect(try await !place.opens(other), "the slot is back")
        }
    }

    private func expectOther(_ place: Place, _ other: SecretFileUnlocker) async throws {
        let count = try await KeyslotFile.read(at: place.store.keyslotsURL).slots.count
        if count == 3 { try expect(try await place.opens(other), "the secret file is gone") }
    }
}

/// A whole new database file: compacted, or in the newest format.
struct Rewriting: Story {
    let isUpgrade: Bool

    func prepare(_ place: Place) async throws {
        if isUpgrade {
            try await place.createInOldFormat(notes: 40)
        } else {
            try await place.create(notes: 40)
        }
        let store = try await place.store.open(Place.schema, unlocker: place.secretFile, options: Place.options())
        try await store.upsert((40..<80).map(Place.note), table: "notes")
        try await store.deleteItems(withIDs: (40..<80).map { Place.note($0).id }, table: "notes")
        await store.close()
    }

    func run(_ place: Place, _ acknowledge: @Sendable (Int) -> Void) async throws {
        let key = try await place.store.unlock(place.secretFile).dataKey
        // What is in the WAL has to come along.
        let store = try await place.store.open(Place.schema, unlocker: place.secretFile, options: Place.options())
        try await store.upsert([Place.note(40)], table: "notes")
        acknowledge(1)
        await store.close()
        if isUpgrade { try await place.file.upgrade(key: key) } else { try await place.file.compact(key: key) }
        acknowledge(2)
        try await place.expectNotes(41)
    }

    func check(_ place: Place, acknowledged: Int) async throws {
        let count = try await place.texts(place.secretFile).count
        try expect((acknowledged == 0 ? 40...41 : 41...41).contains(count), "\(count) notes")
        try await place.expectNotes(count)
        try await place.verify()
    }
}
