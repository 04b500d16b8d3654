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
