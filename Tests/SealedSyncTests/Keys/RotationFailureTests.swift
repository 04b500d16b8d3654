import Foundation
import SealedSync
import SeededNumbers
import Testing

@Suite("A rotation of the data key that cannot be done, in real processes")
struct RotationFailureTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    #if os(Linux)
    @Test("without room, at whatever size the disk is full, leaves the old key and every row, and works later")
    func fullDisk() async throws {
        try await folder.create(notes: 300)
        let before = try await KeyslotFile.read(at: folder.store.keyslotsURL).dataKeyID
        let size = try folder.contents()["store.db"]?.count ?? 0
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        // No room for the keyslot file, for a page, for the last byte, and whatever lies between.
        let sizes = [100, 4095, size - 1] + (0..<5).map { _ in Int.random(in: 100..<size, using: &random) }
        let path = folder.parent.path
        for limit in sizes {
            await #expect(processExitsWith: .success) { [path = path as String, limit = limit as Int] in
                try UserFolder.limitFiles(to: limit)
                do {
                    try await UserFolder.store(in: path).rotateDataKey(UserFolder.unlocker(in: path))
                    Issue.record("the rotation succeeded with files of at most \(limit) bytes")
                } catch let error as KeyError {
                    try #require(error.code == .inputOutput)
                } catch let error as StoreError {
                    try #require([.full, .inputOutput].contains(error.code), "\(error)")
                }
            }
            try await folder.expectNotes(300)
            let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
            #expect(file.dataKeyID == before && !file.isRotationPending, "\(limit) bytes")
            #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"], "\(limit) bytes")
        }
        try await folder.store.rotateDataKey(folder.unlocker)
        try await folder.expectNotes(300)
    }
    #endif

    @Test("in a folder that may not be written, changes no byte")
    func readOnlyFolder() async throws {
        try await folder.create(notes: 20)
        let before = try folder.contents()
        let path = folder.parent.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let (store, unlocker) = (UserFolder.store(in: path), UserFolder.unlocker(in: path))
            let files = try FileManager.default.contentsOfDirectory(atPath: store.url.path)
                .map { name in
                    store.url.appending(path: name).path
                }
            for place in files + [unlocker.url.path, store.url.path, path] {
                if geteuid() == 0 { try #require(unsafe chown(place, 65534, 65534) == 0) }
            }
            try #require(unsafe chmod(store.url.path, 0o500) == 0)
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            let code = try await keyErrorCode { _ = try await store.rotateDataKey(unlocker) }
            try #require(unsafe chmod(store.url.path, 0o700) == 0)
            try #require(code == .inputOutput)
        }
        if geteuid() == 0 {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.store.url.path)
            let files = names.map { folder.store.url.appending(path: $0) } + [UserFolder.unlocker(in: path).url]
            for file in files { #expect(unsafe chown(file.path, 0, 0) == 0) }
        }
        #expect(try folder.contents() == before)
        try await folder.expectNotes(20)
    }
}
