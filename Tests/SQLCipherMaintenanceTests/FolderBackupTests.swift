import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("A backup into a new folder, with the files that belong to the store")
struct FolderBackupTests {
    private let folder: TestFolder
    private var companion: URL { folder.url.appending(path: "store.keys") }
    private var copy: URL { folder.url.appending(path: "copy") }

    init() throws {
        folder = try TestFolder()
        try Data("slots".utf8).write(to: companion)
    }

    private func names(_ url: URL) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: url.path))
    }

    @Test("has everything, for its owner alone, and opens like the original")
    func content() async throws {
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "milk"])], table: "items")
        try await store.backUp(toFolder: copy, with: [companion], progress: nil)
        await store.close()
        #expect(try names(copy) == ["store.db", "store.keys"])
        #expect(try permissions(copy) == 0o700)
        for name in try names(copy) { #expect(try permissions(copy.appending(path: name)) == 0o600) }
        #expect(try Data(contentsOf: copy.appending(path: "store.keys")) == Data("slots".utf8))
        let restored = try await EncryptedStore.open(
            at: copy.appending(path: "store.db"),
            key: .testKey(),
            schema: StoreSchema([.items]),
            mode: .openExisting
        )
        #expect(try await restored.read(table: "items", itemID: "1")?["text"] == "milk")
        await restored.close()
        #expect(try names(folder.url) == ["store.db", "store.db.lock", "store.keys", "copy"])
    }

    @Test("leaves nothing when it cannot be made: a place that is taken, no folder around it, no companion")
    func refusals() async throws {
        let store = try await EncryptedStore.open(in: folder)
        let missing = folder.url.appending(path: "missing")
        let found = try await code { try await store.backUp(toFolder: copy, with: [missing], progress: nil) }
        #expect(found == .notFound)
        let deep = missing.appending(path: "copy")
        #expect(try await code { try await store.backUp(toFolder: deep, with: [], progress: nil) } == .notFound)
        #expect(try names(folder.url).filter { $0.hasPrefix("copy") } == [])
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        #expect(try await code { try await store.backUp(toFolder: copy, with: [], progress: nil) } == .alreadyExists)
        #expect(try names(copy) == [])
        try FileManager.default.removeItem(at: copy)

        // What somebody keeps under the temporary name is not deleted.
        let temporary = folder.url.appending(path: "copy.new")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: temporary.appending(path: "letter"))
        #expect(try await code { try await store.backUp(toFolder: copy, with: [], progress: nil) } == .alreadyExists)
        #expect(try names(temporary) == ["letter"])
        await store.close()
    }

    #if os(Linux) || os(macOS)
    @Test(
        "whose process is killed is there as a whole, or not; the next one goes over it",
        arguments: Array(1...14) + [-1]
    )
    func killed(place: Int) async throws {
        let path = folder.url.path
        try await SampleStore.make(in: folder, rows: 100, isLarge: place < 0)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, place = place as Int] in
            let folder = URL(filePath: path)
            let killer = Killer(place)
            let store = try await EncryptedStore.open(
                at: folder.appending(path: "store.db"),
                key: .testKey(),
                schema: StoreSchema(SampleStore.tables)
            )
            try await store.backUp(
                toFolder: folder.appending(path: "copy"),
                with: [folder.appending(path: "store.keys")],
                progress: killer.progress,
                in: killer.fileSystem
            )
        }
        let isDone = place >= 13
        #expect(FileManager.default.fileExists(atPath: copy.path) == isDone)
        if isDone {
            #expect(try names(copy) == ["store.db", "store.keys"])
            try FileManager.default.removeItem(at: copy)
        }
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables)
        try await store.backUp(toFolder: copy, with: [companion], progress: nil)
        await store.close()
        #expect(try names(folder.url) == ["store.db", "store.db.lock", "store.keys", "copy"])
        #expect(try names(copy) == ["store.db", "store.keys"])
    }
    #endif
}
