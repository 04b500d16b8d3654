import ChildProcesses
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("The lock on a store")
struct LockTests {
    @Test("keeps others out while it is held, and is lifted although a duplicate of its descriptor is open")
    func duplicate() async throws {
        let folder = try TestFolder()
        let files = StoreFiles(folder.database.path)
        var lock: LockFile? = try LockFile(files)
        let duplicate = try dup(#require(lock).lock.descriptor.number)
        try #require(duplicate >= 0)
        defer { close(duplicate) }
        #expect(try await code { _ = try LockFile(files) } == .inUse)
        lock = nil
        #expect(try await code { _ = try LockFile(files) } == nil)
    }

    @Test("is that on the file that has the name: one that was replaced between opening and locking keeps nobody out")
    func replacedMeanwhile() async throws {
        let folder = try TestFolder()
        let files = StoreFiles(folder.database.path)
        var openings = 0
        let lock = try LockFile.lock(files) { path in
            let file = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT)
            openings += 1
            // Whoever wipes the store removes the file, and whoever creates it anew makes another.
            if openings == 1 {
                try FileSystem().remove(path)
                try Data().write(to: URL(filePath: path))
            }
            return file
        }
        #expect(openings == 2)
        #expect(try lock.descriptor.isFile(at: files.lock))
        #expect(try await code { _ = try LockFile(files) } == .inUse)
    }

    #if os(Linux) || os(macOS)
    @Test("is lifted by closing, and by an opening that fails, while other programs are being started")
    func besideNewProcesses() async throws {
        let folder = try TestFolder()
        try await withThrowingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    _ = try await ChildProcess.run(.named("true"))
                }
            }
            for round in 0..<100 {
                try await EncryptedStore.open(in: folder).close()
                let found = try await code { _ = try await EncryptedStore.open(in: folder, keyByte: 8) }
                #expect(found == .wrongKey, "round \(round)")
            }
            group.cancelAll()
        }
    }
    #endif
}
