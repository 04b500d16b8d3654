import Foundation
import SyncContract
import Testing

@testable import SQLCipherStore

/// A file system in memory that is soon full. Making one takes the superuser.
struct SmallDisk {
    let folder: URL

    var database: URL { folder.appending(path: "store.db") }

    /// Nil when this process may not mount file systems: the tests then say so and end.
    init?(megabytes: Int) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path) == 0 else {
            print("no file system can be mounted here: nothing is tested")
            try FileManager.default.removeItem(at: folder)
            return nil
        }
    }

    /// Opens the store on the disk.
    func open() async throws -> EncryptedStore {
        try await EncryptedStore.open(at: database, key: .testKey(), schema: StoreSchema([.items]))
    }

    private init(folder: URL) { self.folder = folder }

    /// The same disk at a second place, where nothing can be written.
    ///
    /// Mounting the disk itself anew would be refused while a program that is just being started by another test has a
    /// duplicate of a file that was open for writing.
    func readOnlyView() throws -> SmallDisk {
        let place = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try #require(Self.run("mount", "-o", "bind,ro", folder.path, place.path) == 0)
        return SmallDisk(folder: place)
    }

    /// Takes the disk away at once; the system frees it with the last duplicate of a file on it.
    func unmount() {
        do {
            try #require(Self.run("umount", "--lazy", folder.path) == 0)
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("the small disk could not be removed: \(error)")
        }
    }

    private static func run(_ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
