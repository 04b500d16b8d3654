import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

/// A database is stood for by the key it is encrypted with.
@Suite("Rotating the keys and revoking slots in the keyslot file")
struct RevocationTests {
    let folder: TemporaryFolder
    let file: SecretFileUnlocker
    let (leaked, other): (PassphraseUnlocker, PassphraseUnlocker)
    let keyslots: Keyslots
    let created: StoreKeyring

    init() async throws {
        folder = try TemporaryFolder()
        file = SecretFileUnlocker(at: folder.secretFile, label: "machine")
        leaked = try .quick("leaked", label: "Ada's")
        other = try .quick("other", label: "Bob's")
        keyslots = Keyslots(folder.keyslots)
        created = try await StoreKeyring.create(at: folder.keyslots, unlockers: [file, leaked, other])
    }

    var bytes: Data { get throws { try Data(contentsOf: folder.keyslots) } }

    func opens(_ unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
    }

    /// Revokes slots by their places, for a database that changes as it should, or with a re-encryption of the test's own.
    func revoke(
        _ places: [Int],
        authorizedBy authorizer: (any StoreUnlocker)? = nil,
        keeping unlockers: [any StoreUnlocker],
        replacement: (any StoreUnlocker)? = nil,
        dropMissing: Bool = false,
        reencrypt: (SecretBytes, SecretBytes, @escaping Keyslots.RotationCommit) async throws -> Void = { try $2() }
    ) async throws -> KeyRotation {
        try await keyslots.revoke(
            places.map { created.slots[$0].id },
            authorizedBy: authorizer,
            keeping: unlockers,
            replacement: replacement,
            dropMissing: dropMissing,
            isEncryptedWith: { try $0 == created.dataKey },
            reencrypt: reencrypt
        )
    }

    private func rotate(keeping unlockers: [any StoreUnlocker], dropMissing: Bool = false) async throws -> KeyRotation {
        try await keyslots.rotateKeys(
            keeping: unlockers,
            dropMissing: dropMissing,
            isEncryptedWith: { _ in true },
            reencrypt: { try $2() }
        )
    }

    /// The error that a call throws; neither it nor anything else may have changed the file.
    private func refusal(_ body: () async throws -> Void) async throws -> KeyError? {
        let before = try bytes
        do {
            try await body()
            return nil
        } catch let error as KeyError {
            #expect(try bytes == before, "nothing was written")
            return error
        }
    }

    @Test("revoked slots open nothing, the replacement has the place and the label of the first, the others stay")
    func revocation() async throws {
        let new = try PassphraseUnlocker.quick("new")
        let before = try bytes
        let rotation = try await revoke([1, 2], authorizedBy: leaked, keeping: [file], replacement: new) {
            from,
            to,
            commit in
            #expect(try from == created.dataKey)
            #expect(to != from)
            #expect(try bytes == before, "nothing is written before the new database is ready")
            try commit()
            let begun = try await opens(new)
            #expect(try begun.dataKey == from)
            #expect(try begun.pendingDataKey == to)
        }
        #expect(rotation.revoked.map(\.label) == ["Ada's", "Bob's"])
        #expect(rotation.kept.map(\.label) == ["machine"])
        #expect(rotation.added?.label == "Ada's")
        #expect(rotation.dropped.isEmpty)
        for unlocker in [file, new] as [any StoreUnlocker] {
            let opened = try await opens(unlocker)
            #expect(try opened.dataKey == rotation.keyring.dataKey)
            #expect(try opened.dataKey != created.dataKey)
            #expect(try opened.pendingDataKey == nil)
            #expect(opened.dataKeyID == rotation.keyring.dataKeyID)
            #expect(opened.slots.map(\.label) == ["machine", "Ada's"])
            #expect(opened.revision == 3)
            #expect(!opened.isRotationOverdue)
        }
        for unlocker in [leaked, other] {
            #expect(await keyErrorCode { _ = try await opens(unlocker) } == .wrongSecret)
        }
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
    }

    @Test("a rotation keeps every slot whose unlocker is at hand, under a root key that no older file gives away")
    func rotation() async throws {
        let stolen = try await KeyslotFile.read(at: folder.keyslots).openSlot(with: leaked).rootKey
        try await keyslots.changePassphrase(from: leaked, to: .quick("changed"))
        let rotation = try await rotate(keeping: [file, other, PassphraseUnlocker.quick("changed")])
        #expect(rotation.kept.map(\.id).count == 3)
        #expect(rotation.revoked.isEmpty && rotation.dropped.isEmpty && rotation.added == nil)
        let now = try await KeyslotFile.read(at: folder.keyslots)
        #expect(try !now.isAuthentic(under: stolen))
        #expect(await keyErrorCode { _ = try now.dataKey(.current, rootKey: stolen) } == .damagedFile)
        #expect(try await opens(other).dataKey == rotation.keyring.dataKey)
    }

    @Test("a slot that stays and that nothing given opens is named and refused, or dropped and named")
    func missingUnlocker() async throws {
        let error = try await refusal { _ = try await rotate(keeping: [file]) }
        #expect(error?.code == .missingUnlocker)
        let names = "slot 2 (passphrase-scrypt, Ada's), slot 3 (passphrase-scrypt, Bob's)"
        #expect(error?.message.contains(names) == true, "\(String(describing: error))")
        let revoking = try await refusal { _ = try await revoke([1], authorizedBy: leaked, keeping: [other]) }
        #expect(revoking?.code == .missingUnlocker)
        #expect(revoking?.message.contains("slot 1 (secret-file, machine)") == true)
        #expect(revoking?.message.contains("slot 2") == false, "what is to go need not be opened")

        #expect(try await rotate(keeping: [file, leaked], dropMissing: true).dropped.map(\.label) == ["Bob's"])
        #expect(try await revoke([0], keeping: [leaked], dropMissing: true).dropped.isEmpty)
        #expect(try await opens(leaked).slots.map(\.label) == ["Ada's"])
    }

    @Test("a label cannot drive the terminal that shows the refusal")
    func printableLabel() async throws {
        try await keyslots.changePassphrase(from: leaked, to: .quick("x", label: "\u{1B}[2J\u{202E}evil\n"))
        let error = try await refusal { _ = try await rotate(keeping: [file, other]) }
        #expect(
            error?.message.contains("slot 2 (passphrase-scrypt,  [2J evil )") == true,
            "\(String(describing: error))"
        )
    }

    @Test("the slot that authorizes its own revocation needs a replacement when nothing else stays")
    func onlySlot() async throws {
        _ = try await revoke([1, 2], keeping: [file])
        let alone = [created.slots[0].id]
        func revokeAll(_ replacement: (any StoreUnlocker)?) async throws {
            _ = try await keyslots.revoke(
                alone,
                authorizedBy: file,
                keeping: [],
                replacement: replacement,
                isEncryptedWith: { _ in true },
                reencrypt: { try $2() }
            )
        }
        #expect(try await refusal { try await revokeAll(nil) }?.code == .lastReliableSlot)
        #expect(try await refusal { try await revokeAll(KeyServiceUnlocker.forgetful) }?.code == .lastReliableSlot)
        try await revokeAll(PassphraseUnlocker.quick("new"))
        #expect(try await opens(PassphraseUnlocker.quick("new")).slots.map(\.label) == ["machine"])
        #expect(await keyErrorCode { _ = try await opens(file) } == .secretUnavailable)
    }

    @Test("a slot that is not there, no slot, no unlocker, and an unlocker that opens nothing are refused")
    func refusals() async throws {
        let unknown = try RandomSource.system.makeIdentifier()
        for slots in [[], [unknown], [created.slots[1].id, unknown]] {
            let error = try await refusal {
                _ = try await keyslots.revoke(
                    slots,
                    keeping: [file, leaked, other],
                    isEncryptedWith: { _ in true },
                    reencrypt: { _, _, _ in Issue.record("re-encrypted") }
                )
            }
            #expect(error?.code == .invalidParameters)
        }
        #expect(try await refusal { _ = try await rotate(keeping: []) }?.code == .secretUnavailable)
        let wrong = try PassphraseUnlocker.quick("wrong")
        #expect(
            try await refusal { _ = try await rotate(keeping: [file, leaked, other, wrong]) }?.code == .wrongSecret
        )
        let nowhere = SecretFileUnlocker(at: folder.url.appending(path: "nowhere"))
        let error = try await refusal { _ = try await rotate(keeping: [leaked, nowhere], dropMissing: true) }
        #expect(error?.code == .secretUnavailable)
    }

    @Test("a revoked secret does not stay: neither in another slot, nor as the replacement")
    func sameSecret() async throws {
        try await keyslots.add(PassphraseUnlocker.quick("leaked", label: "again"), authorizedBy: file)
        let elsewhere = try await refusal { _ = try await revoke([1], authorizedBy: leaked, keeping: [file, other]) }
        #expect(elsewhere?.code == .invalidParameters)
        #expect(elsewhere?.message.contains("slot 4 (passphrase-scrypt, again)") == true)
        let again = try await refusal {
            _ = try await revoke([1, 2], keeping: [file], replacement: leaked, dropMissing: true)
        }
        #expect(again?.code == .invalidParameters)
        #expect(again?.message.contains("slot 2 (passphrase-scrypt, Ada's)") == true)
        let secretFile = try await refusal { _ = try await revoke([0], keeping: [leaked, other], replacement: file) }
        #expect(secretFile?.code == .invalidParameters)
    }

    @Test("a recovery code that also opens a slot that stays is no different")
    func sameRecoveryCode() async throws {
        let paper = RecoveryCodeUnlocker(try .random())
        for _ in 0..<2 { try await keyslots.add(paper, authorizedBy: file) }
        let slots = try await KeyslotFile.read(at: folder.keyslots).slots
        let error = try await refusal {
            _ = try await keyslots.revoke(
                [slots[3].id],
                keeping: [file, leaked, other, paper],
                isEncryptedWith: { _ in true },
                reencrypt: { try $2() }
            )
        }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.contains("slot 5 (recovery-code)") == true, "\(String(describing: error))")
    }

    @Test("a slot that is to be revoked is tried whatever it costs: its secret may be one that stays, which is refused")
    func dearSlot() async throws {
        let dear = PassphraseUnlocker(
            passphrase: try SecretBytes(text: "leaked"),
            cost: .insecureForTests(log2N: 10, blockSize: 8, parallelization: 1),
            label: "dear"
        )
        let slot = try await keyslots.add(dear, authorizedBy: file).id
        func revoke(keeping kept: PassphraseUnlocker) async throws -> KeyRotation {
            var kept = kept
            kept.maximumDerivationWork = 2 * ScryptCost.quick.work
            return try await keyslots.revoke(
                [slot],
                keeping: [file, kept],
                dropMissing: true,
                isEncryptedWith: { _ in true },
                reencrypt: { try $2() }
            )
        }
        let error = try await refusal { _ = try await revoke(keeping: leaked) }
        #expect(error?.code == .invalidParameters)
        #expect(
            error?.message.contains("slot 4 (passphrase-scrypt, dear), which is to be revoked, also opens slot 2")
                == true,
            "\(String(describing: error))"
        )
        // So is a replacement asked whether it has that secret.
        func replace(by replacement: PassphraseUnlocker) async throws -> KeyRotation {
            var replacement = replacement
            replacement.maximumDerivationWork = 2 * ScryptCost.quick.work
            return try await keyslots.revoke(
                [slot],
                keeping: [file],
                replacement: replacement,
                dropMissing: true,
                isEncryptedWith: { _ in true },
                reencrypt: { try $2() }
            )
        }
        #expect(
            try await refusal { _ = try await replace(by: leaked) }?.message.contains("The replacement has") == true
        )
        // One with another secret stays, without having opened the others.
        #expect(try await revoke(keeping: other).kept.map(\.label) == ["machine", "Bob's"])
    }

    @Test("an unlocker that is to stay and opens only slots that are to be revoked is refused: other slots were meant")
    func movedSlots() async throws {
        let (gone, stays) = (created.slots[1].id, created.slots[2].id)
        _ = try await revoke([1], keeping: [file, other])
        func repeated(_ slots: [Keyslot.ID], authorizedBy authorizer: any StoreUnlocker) async throws {
            _ = try await keyslots.revoke(
                slots,
                authorizedBy: authorizer,
                keeping: [other],
                isEncryptedWith: { _ in true },
                reencrypt: { try $2() }
            )
        }
        // By its place, a repetition means the slot that has moved there.
        let moved = try await KeyslotFile.read(at: folder.keyslots).slots[1].id
        #expect(moved == stays)
        for authorizer in [file, other] as [any StoreUnlocker] {
            let error = try await refusal { try await repeated([moved], authorizedBy: authorizer) }
            #expect(error?.code == .invalidParameters)
            #expect(
                error?.message.contains("slot 2 (passphrase-scrypt, Bob's)") == true,
                "\(String(describing: error))"
            )
        }
        // By its id, it means a slot that is no more.
        #expect(try await refusal { try await repeated([gone], authorizedBy: file) }?.code == .invalidParameters)
        // Who only authorizes the change may lose the slot.
        let only = try await keyslots.revoke(
            [moved],
            authorizedBy: other,
            keeping: [file],
            isEncryptedWith: { _ in true },
            reencrypt: { try $2() }
        )
        #expect(only.kept.map(\.label) == ["machine"])
    }

    @Test("a slot whose unlocker failed is named, and not dropped as one whose unlocker is not at hand")
    func failingUnlocker() async throws {
        struct Outage: Error {}
        let healthy = try KeyServiceUnlocker.reliable
        try await keyslots.add(healthy, authorizedBy: file)
        try await keyslots.add(healthy, authorizedBy: file)
        let slots = try await KeyslotFile.read(at: folder.keyslots).slots
        let fifth = slots[4].parameters
        func service(failing error: any Error) throws -> KeyServiceUnlocker {
            KeyServiceUnlocker(
                kind: healthy.slotKind,
                wrap: { $0.revealed },
                unwrap: { parameters in
                    guard parameters != fifth else { throw error }
                    return try SecretBytes(bytes: parameters)
                }
            )
        }
        let attempts: [(any StoreUnlocker) async throws -> Void] = [
            { _ = try await rotate(keeping: [file, $0], dropMissing: true) },
            { _ = try await rotate(keeping: [file, leaked, other, $0]) },
            { _ = try await revoke([1], keeping: [file, $0], dropMissing: true) },
            { _ = try await keyslots.renewRootKey(keeping: [file, $0]) },
            { _ = try await keyslots.remove(slots[1].id, keeping: [file, $0]) },
        ]
        let failing = try service(failing: Outage())
        for attempt in attempts {
            let error = try await refusal { try await attempt(failing) }
            #expect(error?.code == .secretUnavailable)
            #expect(error?.message.contains("slot 5 (service)") == true, "\(String(describing: error))")
        }
        // One that says that the slot is not its own has not failed.
        let foreign = try service(failing: KeyError(.wrongSecret, "These bytes are of another service."))
        let rotation = try await rotate(keeping: [file, foreign], dropMissing: true)
        #expect(rotation.dropped.map(\.id) == [1, 2, 4].map { slots[$0].id })
    }

    @Test("a secret file that is damaged stops a rotation that drops what is missing, and its slot is named")
    func damagedSecretFile() async throws {
        try write(Array("nothing\n".utf8), to: folder.secretFile)
        let error = try await refusal { _ = try await rotate(keeping: [leaked, other, file], dropMissing: true) }
        #expect(error?.code == .damagedFile)
        #expect(error?.message.contains("slot 1 (secret-file, machine)") == true, "\(String(describing: error))")
    }

    @Test("a failing unlocker is no obstacle when its slot is revoked, or opened by another one")
    func harmlessFailure() async throws {
        struct Outage: Error {}
        let healthy = try KeyServiceUnlocker.reliable
        try await keyslots.add(healthy, authorizedBy: file)
        try await keyslots.add(healthy, authorizedBy: file)
        let slots = try await KeyslotFile.read(at: folder.keyslots).slots
        let fourth = slots[3].parameters
        let failing = KeyServiceUnlocker(
            kind: healthy.slotKind,
            wrap: { $0.revealed },
            unwrap: { parameters in
                guard parameters != fourth else { throw Outage() }
                return try SecretBytes(bytes: parameters)
            }
        )
        #expect(try await rotate(keeping: [failing, healthy, file, leaked, other]).kept.count == 5)
        let rotation = try await keyslots.revoke(
            [slots[3].id],
            keeping: [failing, file, leaked, other],
            isEncryptedWith: { _ in true },
            reencrypt: { try $2() }
        )
        #expect(rotation.kept.count == 4)
    }

    @Test("a key service, which has another secret for each slot, keeps one slot and gets another in place of a third")
    func keyService() async throws {
        let service = try KeyServiceUnlocker.reliable
        for _ in 0..<2 { try await keyslots.add(service, authorizedBy: file) }
        let slots = try await KeyslotFile.read(at: folder.keyslots).slots
        let rotation = try await keyslots.revoke(
            [slots[3].id],
            keeping: [service, file, leaked, other],
            replacement: service,
            isEncryptedWith: { _ in true },
            reencrypt: { try $2() }
        )
        #expect(rotation.kept.map(\.id) == [0, 1, 2, 4].map { slots[$0].id })
        #expect(try await opens(service).slots.count == 5)
    }
}

extension KeyServiceUnlocker {
    fileprivate static var reliable: KeyServiceUnlocker {
        get throws { try service("service", survivesRestart: true) }
    }

    fileprivate static var forgetful: KeyServiceUnlocker {
        get throws { try service("forgetful", survivesRestart: false) }
    }

    private static func service(_ kind: String, survivesRestart: Bool) throws -> KeyServiceUnlocker {
        KeyServiceUnlocker(
            kind: try SlotKind(kind),
            survivesRestart: survivesRestart,
            wrap: { $0.revealed },
            unwrap: { try SecretBytes(bytes: $0) }
        )
    }
}
