import DurableFiles
import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// What outlasts a loss of power is decided by the order of these steps. None of them can be left out.
@Suite("The durable steps of a new store, in order")
struct DurabilityTests {
    @Test("its database has its name when it is complete, on the disk and read back, and the name lasts")
    func creation() throws {
        let folder = try TestFolder()
        let recorder = FileSystemRecorder(in: folder.url)
        let opener = try StoreOpener(
            files: StoreFiles(folder.database, in: recorder.fileSystem),
            key: .testKey(),
            schema: StoreSchema([.items]),
            mode: .createNew,
            options: EncryptedStoreOptions()
        )
        _ = try opener.open()
        #expect(
            recorder.takeLines() == [
                "create store.db.new", "write store.db.new", "synchronize store.db.new", "verify store.db.new",
                "rename store.db.new store.db", "synchronize .",
            ]
        )
    }

    @Test("what a killed one has left goes first")
    func leftovers() async throws {
        let folder = try TestFolder()
        let files = StoreFiles(folder.database.path)
        try await EncryptedStore.open(in: folder).close()
        for path in files.leftovers { try Data("x".utf8).write(to: URL(filePath: path)) }
        let recorder = FileSystemRecorder(in: folder.url)
        try StoreFiles(folder.database, in: recorder.fileSystem).removeLeftovers()
        #expect(
            recorder.takeLines() == ["", "-journal", "-wal", "-shm"].map { "remove store.db.new\($0)" }
        )
    }
}
