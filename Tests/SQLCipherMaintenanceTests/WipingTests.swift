import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Wiping a store")
struct WipingTests {
    private let folder: TestFolder
    private var file: StoreFile { StoreFile(folder.database) }

    init() throws { folder = try TestFolder() }

    private func makeStore() async throws {
        _ = try await StoreLeftOpen(in: folder)
        let files = StoreFiles(folder.database.path)
        for path in files.leftovers + [files.index, files.lock] { try Data("x".utf8).write(to: URL(filePath: path)) }
    }

    @Test("removes every file of the store and no other one")
    func wiping() async throws {
        try await makeStore()
        let others = ["store.keys", "store.db.bak", "xstore.db", "store.db2", "store.db-wal2"]
        for name in others { try Data("x".utf8).write(to: folder.url.appending(path: name)) }
        try await file.wipe()
        #expect(try folder.contents().keys.sorted() == others.sorted())
        #expect(try await code { try await file.wipe() } == .notFound)
        try await EncryptedStore.open(in: folder, mode: .createNew).close()
    }

    @Test("is refused while the store is open, and nothing happens then")
    func inUse() async throws {
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1")], table: "items")
        let names = try folder.contents().keys.sorted()
        #expect(try await code { try await file.wipe() } == .inUse)
        #expect(try folder.contents().keys.sorted() == names)
        #expect(try await store.read(table: "items", itemID: "1") != nil)
        await store.close()
    }

    @Test("of a store that is locked meanwhile is no reason for the unlocking to create another one")
    func unlockingAfterwards() async throws {
        let store = try await EncryptedStore.open(in: folder)
        await store.lock()
        try await file.wipe()
        #expect(try await code { try await store.unlock(key: .testKey()) } == .notFound)
        #expect(try folder.contents().isEmpty)
        #expect(store.isLocked)
        await store.close()
    }

    @Test("goes on where a kill has ended it, after any number of files")
    func resumed() async throws {
        let count = StoreFiles(folder.database.path).all.count
        for removed in 0..<count {
            try await makeStore()
            for path in StoreFiles(folder.database.path).all.prefix(removed) { try FileSystem().remove(path) }
            try await file.wipe()
            #expect(try folder.contents().isEmpty, "\(removed) files were gone")
        }
    }

    @Test("a lock on a file that was wiped keeps nobody out, and is noticed by who waited for it")
    func lockOfWipedStore() async throws {
        try await EncryptedStore.open(in: folder).close()
        let files = StoreFiles(folder.database.path)
        let old = try FileDescriptor(reading: files.lock)
        #expect(try old.isFile(at: files.lock))
        try await file.wipe()
        #expect(try !old.isFile(at: files.lock))
        let store = try await EncryptedStore.open(in: folder)
        #expect(try !old.isFile(at: files.lock))
        #expect(try await file.inspect().isInUse)
        await store.close()
    }

    #if os(Linux) || os(macOS)
    @Test("killed at any instant, can be finished", arguments: 0..<6)
    func killed(round: Int) async throws {
        try await makeStore()
        let path = folder.url.path
        let files = StoreFiles(folder.database.path).all
        // The killer sees a file vanish and ends the process then; what else was removed by then is left to chance.
        let watched = files[round]
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, watched = watched as String] in
            Thread.detachNewThread {
                while FileSystem.exists(watched) {}
                kill(getpid(), SIGKILL)
            }
            try await StoreFile(URL(filePath: path).appending(path: "store.db")).wipe()
            // The killer is on its way.
            while true { await Task.yield() }
        }
        if file.hasFiles { try await file.wipe() }
        #expect(try folder.contents().isEmpty)
    }
    #endif
}
