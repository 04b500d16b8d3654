import DurableFiles
import FileSystemRecording
import Foundation
import SealedSync
import Testing

@testable import Attachments
@testable import SQLCipherStore
@testable import StoreKeys

@Suite("The attachments of a store whose keys were revoked")
struct AttachmentRevocationTests {
    struct Card: SyncItem {
        var id = UUID()
        var photo: AttachmentID?
    }

    private let folder: UserFolder
    private var store: StoreFolder { folder.store }

    init() throws { folder = try UserFolder() }

    private static let contents = [70_000, 10, 0].map { Data(repeating: 7, count: $0) }

    private func open(_ unlocker: some StoreUnlocker) async throws -> SyncContext {
        try await SyncContext.open(
            store,
            schema: [.init(Card.self)],
            unlocker: unlocker,
            options: SyncOptions(attachments: AttachmentOptions())
        )
    }

    /// Makes a store with a slot whose secret has leaked, and files; returns what the thief has read in its database.
    private func makeStore() async throws -> (ids: [AttachmentID], stolen: [AttachmentFile]) {
        let context = try await open(folder.unlocker)
        var ids: [AttachmentID] = []
        for content in Self.contents {
            ids.append(try await context.attachments.add(content))
            try await context.table(Card.self).insert(Card(photo: ids.last))
        }
        let files = try await context.store.read { try $0.attachments(Query(AttachmentFiles.table.name)) }
        await context.close()
        try await store.keyslots.add(PassphraseUnlocker.quick("leaked"), authorizedBy: folder.unlocker)
        return (ids, files)
    }

    private func names() throws -> [String] { try AttachmentFolder(store.attachmentsURL).names() }

    @Test("a plain copy of the store has no key of a file")
    func plainCopy() async throws {
        let (_, files) = try await makeStore()
        let plain = store.attachmentsURL.deletingLastPathComponent().appending(path: "plain.sqlite")
        try await StoreFile(store.databaseURL).exportPlaintext(to: plain, key: store.unlock(folder.unlocker).dataKey)
        let bytes = try Data(contentsOf: plain)
        #expect(files.count == 3)
        for file in files {
            let key = unsafe file.key.withUnsafeBytes { unsafe Data($0) }
            #expect(bytes.range(of: key) == nil && bytes.range(of: Data(file.name.utf8)) == nil)
            #expect(bytes.range(of: Data(file.id.text.utf8)) != nil, "the row names it still")
        }
    }

    /// How many files the stolen keys open.
    private func opened(by stolen: [AttachmentFile]) throws -> Int {
        try names()
            .count { name in
                stolen.contains { file in
                    do {
                        let path = store.attachmentsURL.appending(path: name).path
                        _ = try SealedFileReader(path, file.key).content(of: 0)
                        return true
                    } catch {
                        return false
                    }
                }
            }
    }

    private func expectFiles(_ ids: [AttachmentID], _ unlocker: some StoreUnlocker) async throws {
        let context = try await open(unlocker)
        for (id, content) in zip(ids, Self.contents) {
            let isSame = try await context.attachments.data(of: id) == content
            #expect(isSame)
        }
        await context.close()
        #expect(try await store.verify(store.unlock(unlocker)).findings == [])
    }

    /// Revokes the leaked slot.
    private static func revoke(in path: String, _ fileSystem: FileSystem = FileSystem()) async throws {
        let store = UserFolder.store(in: path)
        let keyslots = Keyslots(store.keyslotsURL, in: fileSystem)
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.fileSystem = fileSystem
        _ = try await store.revoke(
            [KeyslotFile.read(at: store.keyslotsURL).slots[1].id],
            authorizedBy: nil,
            keeping: [UserFolder.unlocker(in: path)],
            replacement: nil,
            dropMissing: false,
            at: (keyslots, file),
            nil
        )
    }

    @Test("are marked with the revocation, and encrypted anew when the store is opened with them")
    func reopened() async throws {
        let (ids, stolen) = try await makeStore()
        #expect(try opened(by: stolen) == ids.count)
        try await Self.revoke(in: folder.parent.path)
        // As long as nobody has opened it, they are as they were, and readable.
        #expect(try opened(by: stolen) == ids.count)
        let context = try await open(folder.unlocker)
        for await number in context.attachments.filesToReencrypt() where number == 0 { break }
        await context.close()
        #expect(try opened(by: stolen) == 0)
        try await expectFiles(ids, folder.unlocker)
        #expect(try names().count == ids.count)
    }

    @Test("are encrypted anew at once when that is asked for, also after a renewal of all keys, and once")
    func asked() async throws {
        let (ids, stolen) = try await makeStore()
        let leaked = try PassphraseUnlocker.quick("leaked")
        try await store.rotateKeys(keeping: [folder.unlocker, leaked])
        let keyring = try await store.unlock(folder.unlocker)
        var told: [[Int]] = []
        #expect(try await store.reencryptAttachments(keyring) { told.append([$0, $1]) } == 3)
        #expect(told == [[0, 3], [1, 3], [2, 3], [3, 3]])
        #expect(try opened(by: stolen) == 0)
        #expect(try await store.reencryptAttachments(keyring) == 0)
        try await expectFiles(ids, folder.unlocker)
    }

    @Test("stay as they are when the data key alone is rotated, as a routine")
    func routine() async throws {
        let (ids, _) = try await makeStore()
        let before = try names()
        let keyring = try await store.rotateDataKey(folder.unlocker)
        #expect(try await store.reencryptAttachments(keyring) == 0)
        #expect(try names() == before)
        try await expectFiles(ids, folder.unlocker)
    }

    @Test("are not touched with the keys of before, nor by two at once, nor where there is no store")
    func wrongStates() async throws {
        let (ids, stolen) = try await makeStore()
        let before = try await store.unlock(folder.unlocker)
        let leaked = try PassphraseUnlocker.quick("leaked")
        try await store.rotateKeys(keeping: [folder.unlocker, leaked])
        #expect(try await keyErrorCode { try await store.reencryptAttachments(before) } == .outdatedKeyring)
        #expect(try opened(by: stolen) == ids.count)
        let keyring = try await store.unlock(folder.unlocker)
        let opened = try await store.openWithStoredSchema(keyring)
        #expect(try await storeErrorCode { try await store.reencryptAttachments(keyring) } == .inUse)
        await opened.close()
        try FileManager.default.removeItem(at: store.attachmentsURL.appending(path: names()[0]))
        // One that is missing, and that no server has, is passed over; its row says so.
        #expect(try await store.reencryptAttachments(keyring) == ids.count - 1)
        #expect(try await store.verify(keyring).findings.count == 0)
        try FileManager.default.removeItem(at: store.databaseURL)
        #expect(try await storeErrorCode { try await store.reencryptAttachments(keyring) } == .notFound)
    }

    @Test("are no matter for a store that has none")
    func none() async throws {
        try await folder.create(notes: 3)
        try await store.rotateKeys(keeping: [folder.unlocker])
        #expect(try await store.reencryptAttachments(store.unlock(folder.unlocker)) == 0)
        try await folder.expectNotes(3)
    }

    @Test(
        "are marked exactly when the thief is out, whatever step of the revocation a kill comes at",
        arguments: [6, 9, 10, 11, 12, 14, 17]
    )
    func killed(step: Int) async throws {
        let (ids, stolen) = try await makeStore()
        let thief = try await Thief(in: store, with: PassphraseUnlocker.quick("leaked"))
        let path = folder.parent.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            try await Self.revoke(in: path, .killing(after: step))
        }
        let keyring = try await store.unlock(folder.unlocker)
        let isOut = try await !thief.isIn()
        #expect(try await store.reencryptAttachments(keyring) == (isOut ? 3 : 0))
        #expect(try opened(by: stolen) == (isOut ? 0 : ids.count))
        try await expectFiles(ids, folder.unlocker)
    }

    @Test("are marked by the rotation that ends a revocation whose new database was lost")
    func overdue() async throws {
        let (ids, stolen) = try await makeStore()
        let path = folder.parent.path
        // The keyslot file has its new keys, the database has not.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await Self.revoke(in: path, .killing(after: 10))
        }
        try FileManager.default.removeItem(atPath: store.databaseURL.path + ".new")
        #expect(try await store.reencryptAttachments(store.unlock(folder.unlocker)) == 0)
        #expect(try await KeyslotFile.read(at: store.keyslotsURL).isRotationOverdue)
        let keyring = try await store.rotateDataKey(folder.unlocker)
        #expect(try await store.reencryptAttachments(keyring) == 3)
        #expect(try opened(by: stolen) == 0)
        try await expectFiles(ids, folder.unlocker)
    }
}
