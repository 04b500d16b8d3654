import DurableFiles
import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

/// What outlasts a loss of power is decided by the order of these steps. None of them can be left out.
@Suite("The durable steps of work on a whole store, in order")
struct DurabilityTests {
    private let folder: TestFolder
    private let recorder: FileSystemRecorder

    init() throws {
        folder = try TestFolder()
        recorder = FileSystemRecorder(in: folder.url)
    }

    /// A new file that gets a name which nothing has.
    private func publication(of path: String, in folder: String = ".") -> [String] {
        [
            "create \(path).new", "write \(path).new", "synchronize \(path).new", "verify \(path).new",
            "link \(path).new \(path)", "remove \(path).new", "synchronize \(folder)",
        ]
    }

    @Test("a new file takes the old one's place when it is on the disk and read back", arguments: Rewrite.possible)
    func rewriting(rewrite: Rewrite) async throws {
        try await SampleStore.make(in: folder, format: rewrite.format)
        try await rewrite.run(on: folder.database, recorder.fileSystem)
        #expect(
            recorder.takeLines() == [
                "remove store.db-wal", "synchronize .", "create store.db.new", "write store.db.new",
                "synchronize store.db.new", "verify store.db.new", "rename store.db.new store.db", "synchronize .",
            ]
        )
    }

    @Test("a backup, an export and a store made of that appear when they are on the disk and read back")
    func copies() async throws {
        let store = try await EncryptedStore.open(in: folder)
        try await store.backUp(
            to: folder.url.appending(path: "copy.db"),
            progress: nil,
            in: recorder.fileSystem
        )
        #expect(recorder.takeLines() == publication(of: "copy.db"))
        await store.close()

        var file = StoreFile(folder.database)
        file.fileSystem = recorder.fileSystem
        let plain = folder.url.appending(path: "plain")
        try await file.exportPlaintext(to: plain, key: .testKey())
        #expect(recorder.takeLines() == publication(of: "plain"))

        _ = try await StoreFile.encrypt(
            plaintext: plain,
            into: folder.url.appending(path: "other.db"),
            key: .testKey(),
            schema: nil,
            progress: nil,
            in: recorder.fileSystem
        )
        #expect(recorder.takeLines() == publication(of: "other.db"))
    }

    @Test("a backup into a folder appears as a whole when all that is in it is on the disk")
    func folderBackup() async throws {
        let companion = folder.url.appending(path: "store.keys")
        try Data("slots".utf8).write(to: companion)
        let store = try await EncryptedStore.open(in: folder)
        try await store.backUp(
            toFolder: folder.url.appending(path: "copy"),
            with: [companion],
            progress: nil,
            in: recorder.fileSystem
        )
        await store.close()
        #expect(
            recorder.takeLines() == ["create copy.new"] + publication(of: "copy.new/store.db", in: "copy.new") + [
                "create copy.new/store.keys", "write copy.new/store.keys", "synchronize copy.new/store.keys",
                "synchronize copy.new", "rename copy.new copy", "synchronize .",
            ]
        )
    }

    @Test("a store is gone for good when it was wiped, the lock last")
    func wiping() async throws {
        _ = try await StoreLeftOpen(in: folder)
        var file = StoreFile(folder.database)
        file.fileSystem = recorder.fileSystem
        try await file.wipe()
        let lines = recorder.takeLines()
        #expect(lines.first == "remove store.db")
        #expect(lines.suffix(2) == ["remove store.db.lock", "synchronize ."])
        #expect(try folder.contents().isEmpty)
    }
}
