import DurableFiles
import Foundation
import SQLCipherStore
import SQLCipherStoreTestSupport
import Synchronization
import SyncContract
import Testing

@testable import SQLCipherMaintenance

@Suite("A file that is being written under a temporary name")
struct TemporaryFileTests {
    @Test("takes the place of one that was left behind, and of what lies beside it")
    func leftBehind() throws {
        let folder = try TestFolder()
        let files = try StoreFiles(folder.url.appending(path: "copy.db"))
        for path in files.leftovers { try Data("old".utf8).write(to: URL(filePath: path)) }
        let file = try TemporaryFile(files)
        #expect(try folder.contents() == ["copy.db.new": []])
        try file.discard()
        #expect(try folder.contents().isEmpty)
    }

    @Test("leaves that of another program alone, which has begun in the same instant")
    func another() throws {
        let folder = try TestFolder()
        let url = folder.url.appending(path: "copy.db")
        let temporary = try StoreFiles(url).temporary
        try Data("old".utf8).write(to: URL(filePath: temporary))
        let isFirst = Mutex(true)
        let fileSystem = FileSystem { call in
            guard case .removed(temporary) = call, isFirst.withLock({ exchange(&$0, with: false) }) else { return }
            for path in [temporary, temporary + "-journal"] {
                #expect(FileManager.default.createFile(atPath: path, contents: Data("another's".utf8)))
            }
        }
        let error = #expect(throws: StoreError.self) { _ = try TemporaryFile(StoreFiles(url, in: fileSystem)) }
        #expect(error?.code == .inUse)
        let others = Array("another's".utf8)
        #expect(try folder.contents() == ["copy.db.new": others, "copy.db.new-journal": others])
    }
}
