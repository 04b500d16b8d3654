import DurableFiles
import FileSystemRecording
import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

/// Changes of a keyslot file in processes that are killed, have no room, may not write, or compete.
@Suite("Changing a keyslot file against resistance, with real processes")
struct LifeCycleCrashTests {
    private let folder: TemporaryFolder
    private let file: SecretFileUnlocker

    init() throws {
        folder = try TemporaryFolder()
        file = SecretFileUnlocker(at: folder.secretFile)
    }

    /// What is done to a file that has the passphrase "old" and a secret file.
    enum Change: String, CaseIterable {
        case add
        case changePassphrase
        case remove
        case raiseCost

        func run(in folder: URL, _ fileSystem: FileSystem = FileSystem()) async throws {
            let keyslots = Keyslots(folder.appending(path: "store.keyslots"), in: fileSystem)
            let file = SecretFileUnlocker(at: folder.appending(path: "store.secret"))
            switch self {
            case .add: try await keyslots.add(PassphraseUnlocker.quick("new"), authorizedBy: file)
            case .changePassphrase: try await keyslots.changePassphrase(from: .quick("old"), to: .quick("new"))
            case .remove:
                let slots = try await KeyslotFile.read(at: keyslots.url).slots
                try await keyslots.remove(slots[0].id, keeping: [file])
            case .raiseCost:
                let cost = ScryptCost.insecureForTests(log2N: 5, blockSize: 8, parallelization: 1)
                let unlocker = PassphraseUnlocker(passphrase: try SecretBytes(text: "old"), cost: cost)
                let keyring = try await StoreKeyring.open(keyslots, unlocker: unlocker)
                if case .failed(let error) = keyring.slotRenewal { throw error }
            }
        }

        /// How an error begins when the change is in force.
        var effect: String {
            switch self {
            case .add, .changePassphrase: "The new passphrase is in force: do not repeat the call."
            case .remove: "The root key is new, and the slots that go are gone: do not repeat the call."
            case .raiseCost: "The slot is made anew: do not repeat the call."
            }
        }

        /// Whether the old and the new passphrase open the file after the change.
        var opens: (old: Bool, new: Bool) {
            switch self {
            case .add: (true, true)
            case .changePassphrase: (false, true)
            case .remove: (false, false)
            case .raiseCost: (true, false)
            }
        }
    }

    private func create() async throws -> StoreKeyring {
        try await StoreKeyring.create(at: folder.keyslots, unlockers: [PassphraseUnlocker.quick("old"), file])
    }

    private func opens(_ passphrase: String) async throws -> Bool {
        let unlocker = try PassphraseUnlocker.quick(passphrase)
        let code = await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
        #expect([nil, .wrongSecret, .secretUnavailable].contains(code))
        return code == nil
    }

    /// The file is that from before or that from after the change, whole.
    private func expect(_ change: Change, isDone: Bool, _ created: StoreKeyring) async throws {
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: file)
        #expect(try opened.dataKey == created.dataKey)
        #expect(opened.revision == (isDone ? 2 : 1))
        #expect(try await opens("old") == (isDone ? change.opens.old : true))
        #expect(try await opens("new") == (isDone ? change.opens.new : false))
    }

    @Test(
        "a kill after any durable step leaves the file before or after the change, and is no obstacle to the next one",
        arguments: Change.allCases,
        1...6
    )
    func killed(change: Change, step: Int) async throws {
        let created = try await create()
        // The first step is to remove what an earlier kill has left.
        try write([], to: folder.url.appending(path: ".store.keyslots.\(String(repeating: "a", count: 32)).tmp"))
        let (path, name) = (folder.url.path(), change.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, name = name as String, step = step as Int] in
            try await Change(rawValue: name)?.run(in: URL(filePath: path), .killing(after: step))
        }
        let isDone = step >= 5
        try await expect(change, isDone: isDone, created)
        if !isDone {
            try await change.run(in: folder.url)
            try await expect(change, isDone: true, created)
            #expect(try folder.names() == ["store.keyslots", "store.secret"], "nothing is left over")
        }
    }

    @Test(
        "when only the folder cannot be brought to the medium the change is in force, and the error says so",
        arguments: Change.allCases
    )
    func unproven(change: Change) async throws {
        let created = try await create()
        let (place, elsewhere) = (folder.url, folder.url.appendingPathExtension("elsewhere"))
        // A folder that has another name is not found when its names are to be brought to the medium.
        let fileSystem = FileSystem { call in
            guard case .renamed = call else { return }
            #expect(throws: Never.self) { try FileManager.default.moveItem(at: place, to: elsewhere) }
        }
        let error = await #expect(throws: KeyError.self) { try await change.run(in: place, fileSystem) }
        try FileManager.default.moveItem(at: elsewhere, to: place)
        #expect(error?.code == .inputOutput)
        #expect(error?.message.hasPrefix(change.effect) == true, "\(String(describing: error))")
        #expect(error?.message.contains("keep the old secrets") == true)
        try await expect(change, isDone: true, created)
    }

    #if os(Linux)
    @Test("on a full disk the file stays as it was, and nothing is left beside it", arguments: Change.allCases)
    func fullDisk(change: Change) async throws {
        let created = try await create()
        let (path, name) = (folder.url.path(), change.rawValue)
        await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
            var least = rlimit(rlim_cur: 100, rlim_max: 100)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &least) == 0)
            signal(SIGXFSZ, SIG_IGN)
            let code = await keyErrorCode { try await Change(rawValue: name)?.run(in: URL(filePath: path)) }
            try #require(code == .inputOutput)
        }
        try await expect(change, isDone: false, created)
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
    }

    #endif

    @Test("in a folder that may not be written the file stays as it was, and opens", arguments: Change.allCases)
    func readOnlyFolder(change: Change) async throws {
        let created = try await create()
        let (path, name) = (folder.url.path(), change.rawValue)
        await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
            let folder = URL(filePath: path)
            for file in ["store.keyslots", "store.secret", ""] {
                let place = folder.appending(path: file).path()
                if geteuid() == 0 { try #require(unsafe chown(place, 65534, 65534) == 0) }
                try #require(unsafe chmod(place, file.isEmpty ? 0o500 : 0o600) == 0)
            }
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            let code = await keyErrorCode { try await Change(rawValue: name)?.run(in: folder) }
            try #require(code == .inputOutput)
            let file = SecretFileUnlocker(at: folder.appending(path: "store.secret"))
            _ = try await StoreKeyring.open(at: folder.appending(path: "store.keyslots"), unlocker: file)
            try #require(unsafe chmod(path, 0o700) == 0)
        }
        if geteuid() == 0 {
            for name in try folder.names() { #expect(unsafe chown(folder.url.appending(path: name).path(), 0, 0) == 0) }
        }
        try await expect(change, isDone: false, created)
    }

    @Test("processes that compete for changes make all of them, one after the other")
    func competingWriters() async throws {
        let created = try await create()
        let path = folder.url.path()
        await withTaskGroup { group in
            for writer in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, writer = writer as Int] in
                        let folder = URL(filePath: path)
                        let keyslots = Keyslots(folder.appending(path: "store.keyslots"))
                        let file = SecretFileUnlocker(at: folder.appending(path: "store.secret"))
                        for number in 0..<5 {
                            while true {
                                do {
                                    let new = try PassphraseUnlocker.quick("\(writer)-\(number)")
                                    try await keyslots.add(new, authorizedBy: file)
                                    break
                                } catch let error as KeyError where error.code == .inUse {
                                    await Task.yield()
                                }
                            }
                            // A reader beside the writers always finds a whole file.
                            _ = try await StoreKeyring.open(at: keyslots.url, unlocker: file)
                        }
                    }
                }
            }
        }
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: file)
        #expect(try opened.dataKey == created.dataKey)
        #expect(opened.slots.count == 17)
        #expect(opened.revision == 16)
        for writer in 0..<3 {
            for number in 0..<5 { #expect(try await opens("\(writer)-\(number)")) }
        }
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
    }

    @Test(
        "ten thousand wrong secrets open no slot without a derivation, neither do those one bit away, and no byte changes"
    )
    func wrongSecrets() async throws {
        let right = try SecretBytes.random(count: 32)
        let url = folder.keyslots
        _ = try await StoreKeyring.create(at: url, unlockers: [StubUnlocker { _ in right }, file])
        let before = try Data(contentsOf: url)
        func code(_ secret: SecretBytes) async -> KeyError.Code? {
            await keyErrorCode { _ = try await StoreKeyring.open(at: url, unlocker: StubUnlocker { _ in secret }) }
        }
        for _ in 0..<10_000 { #expect(try await code(.random(count: 32)) == .wrongSecret) }
        for bit in 0..<256 {
            var wrong = right.revealed
            wrong[bit / 8] ^= 1 << (bit % 8)
            #expect(try await code(SecretBytes(bytes: wrong)) == .wrongSecret)
        }
        #expect(await code(right) == nil)
        #expect(try Data(contentsOf: url) == before)
    }

    @Test(
        "a handful of wrong passphrases against scrypt at a cost that is really written, and the right one beside them"
    )
    func wrongPassphrases() async throws {
        func unlocker(_ passphrase: String) throws -> PassphraseUnlocker {
            PassphraseUnlocker(passphrase: try SecretBytes(text: passphrase), cost: .memory8MiB)
        }
        let url = folder.keyslots
        _ = try await StoreKeyring.create(at: url, unlocker: unlocker("correct horse"))
        for wrong in ["Correct horse", "correct horse ", "correct hors", "correct\u{0}horse", "c"] {
            let code = await keyErrorCode { _ = try await StoreKeyring.open(at: url, unlocker: unlocker(wrong)) }
            #expect(code == .wrongSecret, "\(wrong)")
        }
        let code = await keyErrorCode { _ = try await StoreKeyring.open(at: url, unlocker: unlocker("correct horse")) }
        #expect(code == nil)
    }
}
