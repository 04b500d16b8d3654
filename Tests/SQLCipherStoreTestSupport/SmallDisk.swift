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
        #if os(Linux)
        let options = "size=\(megabytes)m"
        let isMounted = unsafe options.withCString { unsafe mount("tmpfs", folder.path, "tmpfs", 0, $0) } == 0
        #else
        let isMounted = false
        #endif
        guard isMounted else {
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

    /// Removes a file, and returns when its room is there: a program that is just being started by another test may have a
    /// duplicate of it.
    package func remove(_ file: URL) async throws {
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        try FileManager.default.removeItem(at: file)
        while try free() < size {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func free() throws -> Int {
        try FileManager.default.attributesOfFileSystem(forPath: folder.path)[.systemFreeSize] as? Int ?? Int.max
    }

    /// The same disk at a second place, where nothing can be written.
    ///
    /// Mounting the disk itself anew would be refused while a program that is just being started by another test has a
    /// duplicate of a file that was open for writing.
    package func readOnlyView() throws -> SmallDisk {
        let place = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        #if os(Linux)
        guard unsafe mount(folder.path, place.path, nil, UInt(MS_BIND), nil) == 0 else { throw MountFailure() }
        // A view is made read-only in a second step.
        guard unsafe mount(nil, place.path, nil, UInt(MS_REMOUNT | MS_BIND | MS_RDONLY), nil) == 0 else {
            throw MountFailure()
        }
        #endif
        return SmallDisk(folder: place)
    }

    /// Takes the disk away at once; the system frees it with the last duplicate of a file on it.
    package func unmount() {
        do {
            #if os(Linux)
            guard unsafe umount2(folder.path, Int32(MNT_DETACH)) == 0 else { throw MountFailure() }
            #endif
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("A small disk was left behind: \(error)")
        }
    }
}
