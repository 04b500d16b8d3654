import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Creating and opening")
struct StoreKeyringTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("what was created is opened, by the same keys, from a file of mode 0600, with nothing left beside it")
    func roundTrip() async throws {
        let unlocker = SecretFileUnlocker(at: folder.secretFile, label: "this machine")
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
        for url in [folder.keyslots, folder.secretFile] {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path())
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        let before = try Data(contentsOf: folder.keyslots)
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
        #expect(try Data(contentsOf: folder.keyslots) == before, "opening writes nothing")
        #expect(try opened.dataKey == created.dataKey)
        #expect(try opened.dataKey.count == 32)
        #expect(opened.storeID == created.storeID)
        #expect(try opened.pendingDataKey == nil)
        #expect(abs(opened.dataKeyCreated.timeIntervalSinceNow) < 600)
        #expect(opened.slots.map(\.kind) == [.secretFile])
        #expect(opened.slots.map(\.label) == ["this machine"])
    }

    @Test("two stores share nothing, though one secret file opens both")
    func separateStores() async throws {
        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        let first = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let second = try await StoreKeyring.create(at: folder.url.appending(path: "other"), unlocker: unlocker)
        #expect(try first.dataKey != second.dataKey)
        #expect(first.storeID != second.storeID)
        #expect(first.slots[0].id != second.slots[0].id)
    }

    @Test("each of several unlockers opens, whichever slot is its own")
    func severalUnlockers() async throws {
        let unlockers: [any StoreUnlocker] = [
            try PassphraseUnlocker.quick("first"), SecretFileUnlocker(at: folder.secretFile),
            try PassphraseUnlocker.quick("second"), try PassphraseUnlocker.quick("third"),
        ]
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers)
        for unlocker in unlockers {
            let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
            #expect(try opened.dataKey == created.dataKey)
        }
    }

    @Test("a wrong passphrase against several slots is wrongSecret, and so is another secret file")
    func wrongSecret() async throws {
        let passphrases = try ["one", "two", "three"].map { try PassphraseUnlocker.quick($0) as any StoreUnlocker }
        let file = SecretFileUnlocker(at: folder.secretFile)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: passphrases + [file])
        for wrong in ["One", "one ", "two\n", "twothree"] {
            let unlocker = try PassphraseUnlocker.quick(wrong)
            #expect(await openingCode(unlocker) == .wrongSecret)
        }
        let other = folder.url.appending(path: "other.secret")
        try write(Array(String(repeating: "0f", count: 32).utf8), to: other)
        #expect(await openingCode(SecretFileUnlocker(at: other)) == .wrongSecret)
    }

    @Test("a missing keyslot file, a missing secret and a missing kind of slot are secretUnavailable, and make nothing")
    func unavailable() async throws {
        let file = SecretFileUnlocker(at: folder.secretFile)
        #expect(await openingCode(file) == .secretUnavailable)
        #expect(try folder.names() == [], "opening creates neither file")

        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        #expect(try await openingCode(PassphraseUnlocker.quick("any")) == .secretUnavailable)
        try FileManager.default.removeItem(at: folder.secretFile)
        #expect(await openingCode(file) == .secretUnavailable)
        #expect(try folder.names() == ["store.keyslots"])
        let nowhere = folder.url.appending(path: "no/such/folder/store.keyslots")
        #expect(
            await keyErrorCode { _ = try await StoreKeyring.open(at: nowhere, unlocker: file) } == .secretUnavailable
        )
    }

    @Test("a location that is taken is refused and left as it was, be it by a file, a folder or a link to nothing")
    func alreadyExists() async throws {
        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        let file = folder.keyslots
        let empty = folder.url.appending(path: "empty")
        let directory = folder.url.appending(path: "directory")
        let link = folder.url.appending(path: "link")
        try write([1, 2, 3], to: file)
        try write([], to: empty)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: "nowhere")
        for url in [file, empty, directory, link] {
            #expect(
                await keyErrorCode { _ = try await StoreKeyring.create(at: url, unlocker: unlocker) } == .alreadyExists
            )
        }
        #expect(try Array(Data(contentsOf: file)) == [1, 2, 3])
        #expect(try folder.names() == ["directory", "empty", "link", "store.keyslots"], "not even the secret was made")
    }

    @Test("a folder that is missing is io, and no secret stays half made")
    func missingFolder() async throws {
        let unlocker = try PassphraseUnlocker.quick("any")
        let url = folder.url.appending(path: "missing/store.keyslots")
        #expect(await keyErrorCode { _ = try await StoreKeyring.create(at: url, unlocker: unlocker) } == .inputOutput)
        #expect(try folder.names() == [])
    }

    @Test("no unlocker, 33 unlockers, a long label and what is not a file are invalidParameters")
    func invalidParameters() async throws {
        func creationCode(_ url: URL, _ unlockers: [any StoreUnlocker]) async -> KeyError.Code? {
            await keyErrorCode { _ = try await StoreKeyring.create(at: url, unlockers: unlockers) }
        }
        let unlocker = try PassphraseUnlocker.quick("any")
        #expect(await creationCode(folder.keyslots, []) == .invalidParameters)
        #expect(await creationCode(folder.keyslots, Array(repeating: unlocker, count: 33)) == .invalidParameters)
        let long = try PassphraseUnlocker.quick("any", label: String(repeating: "é", count: 128))
        #expect(await creationCode(folder.keyslots, [long]) == .invalidParameters)
        #expect(await creationCode(URL(string: "https://example.org/keys")!, [unlocker]) == .invalidParameters)
        #expect(await creationCode(URL(filePath: "/tmp/a\u{0}b"), [unlocker]) == .invalidParameters)
        #expect(try folder.names() == [])

        let longest = try PassphraseUnlocker.quick("any", label: String(repeating: "é", count: 127) + "e")
        let keyring = try await StoreKeyring.create(
            at: folder.keyslots,
            unlockers: Array(repeating: longest, count: 32)
        )
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: longest)
        #expect(try opened.dataKey == keyring.dataKey)
        #expect(opened.slots.map(\.label) == Array(repeating: longest.slotLabel, count: 32))
    }

    @Test("parameters of 8,192 bytes are taken, and none above, by whatever makes a slot")
    func parameters() async throws {
        let secret = try SecretBytes.random(count: 32)
        let longest = StubUnlocker(parameters: Array(repeating: 1, count: 8_192)) { _ in secret }
        let file = SecretFileUnlocker(at: folder.secretFile)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: [longest, file])
        #expect(try await StoreKeyring.open(at: folder.keyslots, unlocker: longest).slots.count == 2)
        let keyslots = Keyslots(folder.keyslots)
        _ = try await keyslots.add(longest, authorizedBy: file)
        let before = try Data(contentsOf: folder.keyslots)
        for count in [8_193, 70_000] {
            let tooLong = StubUnlocker(parameters: Array(repeating: 1, count: count)) { _ in secret }
            let other = folder.url.appending(path: "other.keyslots")
            #expect(
                await keyErrorCode { _ = try await StoreKeyring.create(at: other, unlocker: tooLong) }
                    == .invalidParameters
            )
            #expect(
                await keyErrorCode { _ = try await keyslots.add(tooLong, authorizedBy: file) } == .invalidParameters
            )
            #expect(await keyErrorCode { _ = try await keyslots.replace(file, with: tooLong) } == .invalidParameters)
        }
        #expect(try Data(contentsOf: folder.keyslots) == before)
    }

    @Test("a file's slots can be listed without a secret")
    func listing() async throws {
        let unlocker = try PassphraseUnlocker.quick("any", label: "Ada's")
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let file = try await KeyslotFile.read(at: folder.keyslots)
        #expect(file.storeID == created.storeID)
        #expect(file.revision == 1)
        #expect(file.slots.map(\.kind.description) == ["passphrase-scrypt"])
        #expect(file.slots.map(\.label) == ["Ada's"])
        #expect(file.slots[0].parameters.count == 25)
    }

    @Test("a cancelled task neither opens nor creates")
    func cancellation() async throws {
        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        let url = folder.keyslots
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            _ = try await StoreKeyring.create(at: url, unlocker: unlocker)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.names() == [])
    }

    @Test("neither a keyring nor an unlocker shows a secret when it is printed")
    func redaction() async throws {
        let unlocker = try PassphraseUnlocker.quick("TOP-SECRET-MARKER")
        let keyring = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        var text = "\(keyring)\(unlocker)\(String(reflecting: keyring))\(String(reflecting: unlocker))"
        dump(keyring, to: &text)
        dump(unlocker, to: &text)
        #expect(text.contains("SecretBytes(17 bytes)"))
        #expect(!text.contains("TOP-SECRET"))
        #expect(try !text.contains(hexadecimal(keyring.dataKey.revealed)))
        #expect(try !text.contains("\(keyring.dataKey.revealed)".dropFirst().dropLast()))
    }

    private func openingCode(_ unlocker: any StoreUnlocker) async -> KeyError.Code? {
        await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
    }
}
