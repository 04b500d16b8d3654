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
        #if os(Linux)
        try #require(unsafe mount(folder.path, place.path, nil, UInt(MS_BIND), nil) == 0)
        // A view is made read-only in a second step.
        try #require(unsafe mount(nil, place.path, nil, UInt(MS_REMOUNT | MS_BIND | MS_RDONLY), nil) == 0)
        #endif
        return SmallDisk(folder: place)
    }

    /// Takes the disk away at once; the system frees it with the last duplicate of a file on it.
    func unmount() {
        do {
            #if os(Linux)
            try #require(unsafe umount2(folder.path, Int32(MNT_DETACH)) == 0)
            #endif
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("the small disk could not be removed: \(error)")
        }
    }
}
