package import Foundation
import SyncContract

package import SQLCipherStore

/// A file system in memory that is soon full. Making one takes the superuser.
package struct SmallDisk {
    private struct MountFailure: Error {}

    package let folder: URL

    package var database: URL { folder.appending(path: "store.db") }

    /// Nil when this process may not mount file systems: the tests then say so and end.
    package init?(megabytes: Int) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path) == 0 else {
            print("no file system can be mounted here: nothing is tested")
            try FileManager.default.removeItem(at: folder)
            return nil
        }
    }

    /// Opens the store on the disk.
    package func open() async throws -> EncryptedStore {
        try await EncryptedStore.open(at: database, key: .testKey(), schema: StoreSchema([.items]))
    }

    private init(folder: URL) { self.folder = folder }

    /// The same disk at a second place, where nothing can be written.
    ///
    /// Mounting the disk itself anew would be refused while a program that is just being started by another test has a
    /// duplicate of a file that was open for writing.
    package func readOnlyView() throws -> SmallDisk {
        let place = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        guard try Self.run("mount", "-o", "bind,ro", folder.path, place.path) == 0 else { throw MountFailure() }
        return SmallDisk(folder: place)
    }

    /// Takes the disk away at once; the system frees it with the last duplicate of a file on it.
    package func unmount() {
        do {
            guard try Self.run("umount", "--lazy", folder.path) == 0 else { throw MountFailure() }
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("A small disk was left behind: \(error)")
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
