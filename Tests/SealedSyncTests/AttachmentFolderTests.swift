import Foundation
import SealedSync
import Synchronization
import Testing

@Suite("The attachments of a store folder")
struct AttachmentFolderTests {
    struct Card: SyncItem {
        var id = UUID()
        var photo: AttachmentID?
    }

    private let place: UserFolder
    private let secret: SecretBytes
    private var unlocker: PassphraseUnlocker { .passphrase(secret) }

    init() throws {
        place = try UserFolder()
        secret = try SecretBytes("a passphrase for a test")
    }

    private func open(_ folder: StoreFolder) async throws -> SyncContext {
        try await SyncContext.open(
            folder,
            schema: [.init(Card.self)],
            unlocker: unlocker,
            options: SyncOptions(attachments: AttachmentOptions())
        )
    }

    private func makeStore() async throws -> (StoreFolder, SyncContext, AttachmentID) {
        let folder = StoreFolder(place.parent.appending(path: "store"))
        let context = try await open(folder)
        let photo = try await context.attachments.add(Data(repeating: 7, count: 100_000))
        try await context.table(Card.self).insert(Card(photo: photo))
        return (folder, context, photo)
    }

    private func names(_ folder: StoreFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.attachmentsURL.path)
    }

    @Test("are for their owner alone")
    func modes() async throws {
        let (folder, context, _) = try await makeStore()
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.attachmentsURL) == 0o700)
        #expect(try mode(folder.attachmentsURL.appending(path: names(folder)[0])) == 0o600)
        await context.close()
    }

    @Test("stay readable after the store's key was rotated, and are in a backup")
    func rotationAndBackup() async throws {
        let (folder, context, photo) = try await makeStore()
        let backup = StoreFolder(place.parent.appending(path: "backup"))
        let store = try #require(context.store as? EncryptedStore)
        try await folder.backUp(store, to: backup.url)
        await context.close()
        _ = try await folder.rotateDataKey(unlocker)
        for folder in [folder, backup] {
            let opened = try await open(folder)
            #expect(try await opened.attachments.data(of: photo) == Data(repeating: 7, count: 100_000))
            await opened.close()
            #expect(try await folder.verify(folder.unlock(unlocker)).findings == [])
        }
    }

    @Test("are read by a verification, which names what is damaged, missing or stray")
    func verification() async throws {
        let (folder, context, _) = try await makeStore()
        await context.close()
        let name = try names(folder)[0]
        let url = folder.attachmentsURL.appending(path: name)
        let keyring = try await folder.unlock(unlocker)
        let sound = try Data(contentsOf: url)
        var damaged = sound
        damaged[70_000] ^= 1
        try damaged.write(to: url)
        let findings = try await folder.verify(keyring).findings
        #expect(findings.map(\.kind) == [.damagedAttachment])
        #expect(findings.first?.message.contains("'attachments/\(name)'") == true)
        try FileManager.default.removeItem(at: url)
        #expect(try await folder.verify(keyring).findings.map(\.kind) == [.damagedAttachment])
        try sound.write(to: url)
        try sound.write(to: folder.attachmentsURL.appending(path: String(repeating: "0", count: 32) + ".new"))
        try sound.write(to: folder.attachmentsURL.appending(path: "card.jpg"))
        #expect(try await folder.verify(keyring).findings.map(\.kind) == [.strayAttachment, .strayAttachment])
        // Those of others stay when the store is opened.
        let opened = try await open(folder)
        try await opened.attachments.settle()
        await opened.close()
        #expect(try Set(names(folder)) == [name, "card.jpg"])
    }

    @Test("are kept track of in tables that are none of the app's")
    func inspection() async throws {
        let (folder, context, _) = try await makeStore()
        await context.close()
        let tables = try await folder.inspect(folder.unlock(unlocker)).tables
        #expect(tables.filter { !$0.isSystemTable }.map(\.name) == ["Card"])
        #expect(tables.contains { $0.name == "AttachmentFiles" && $0.rows == 1 })
        // An app without attachments may have a table of that name.
        let other = StoreFolder(place.parent.appending(path: "other"))
        let schema = try StoreSchema([TableDefinition("AttachmentFiles", columns: [.init("key", .bytes)])])
        await (try await other.create(schema, unlocker: unlocker)).close()
        let others = try await other.inspect(other.unlock(unlocker)).tables
        #expect(others.contains { $0.name == "AttachmentFiles" && !$0.isSystemTable })
    }

    @Test("go with the store when it is wiped")
    func wiping() async throws {
        let (folder, context, _) = try await makeStore()
        await context.close()
        try await folder.wipe()
        #expect(!FileManager.default.fileExists(atPath: folder.attachmentsURL.path))
    }

    @Test(
        "that cannot be removed are named by the error of a wipe, which says that the keys are gone and can be repeated"
    )
    func wipingRefused() async throws {
        let (folder, context, _) = try await makeStore()
        await context.close()
        // Where a file of that name would be, lies a folder, which is not removed like one.
        let obstacle = folder.attachmentsURL.appending(path: String(repeating: "f", count: 32))
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let error = await #expect(throws: StoreError.self) { try await folder.wipe() }
        #expect(error?.message.contains("The keys are destroyed") == true, "\(String(describing: error))")
        #expect(error?.message.contains("'\(obstacle.path)' could not be removed; ") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.keyslotsURL.path))
        try FileManager.default.removeItem(at: obstacle)
        try await folder.wipe()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("cannot be read while the store is locked")
    func locking() async throws {
        let (_, context, photo) = try await makeStore()
        await context.lock()
        let error = await #expect(throws: StoreError.self) { try await context.attachments.data(of: photo) }
        #expect(error?.code == .locked)
        try await context.unlock(with: unlocker)
        #expect(try await context.attachments.data(of: photo).count == 100_000)
        await context.close()
    }

    @Test("of a context that was opened without them are an error that says what to do")
    func unavailable() async throws {
        let context = try await SyncContext.open(
            StoreFolder(place.parent.appending(path: "plain")),
            schema: [.init(Card.self)],
            unlocker: unlocker
        )
        let error = await #expect(throws: SyncError.self) { try await context.attachments.add(Data()) }
        #expect(error?.code == .unsupported)
        await context.close()
    }
}
