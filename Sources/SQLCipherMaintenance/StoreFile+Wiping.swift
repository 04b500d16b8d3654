import DurableFiles
import Foundation
import SQLCipherStore
import SyncContract

extension StoreFile {
    /// Deletes the store: the database, its WAL, what interrupted work has left, and at last the lock file. Other files
    /// are not touched.
    ///
    /// **This cannot be undone**, and it reaches no copies. What was written to the disk is not overwritten: it is
    /// unreadable to whoever does not have the key, so destroy that first, as `StoreFolder.wipe` does.
    ///
    /// A kill in between leaves fewer files; calling this again removes the rest. Cancelling the task has no effect
    /// once the first file is removed.
    ///
    /// - Throws: `StoreError` with code `StoreError.Code.notFound` when no file of a store is there,
    ///   `StoreError.Code.inUse` when it is open in this or another process, and those of the file system.
    ///   `CancellationError`.
    public func wipe() async throws {
        guard hasFiles else { throw StoreError.noStore(at: url.path) }
        try await wipe(after: {})
    }

    /// Whether any file of the store is there, be it the lock alone.
    package var hasFiles: Bool { StoreFiles(url.path).all.contains(where: FileSystem.exists) }

    /// The same, whether or not anything is there, after something else that is done while nobody can open the store.
    package func wipe(after destroyKeys: @Sendable () async throws -> Void) async throws {
        let files = StoreFiles(url.path, in: fileSystem)
        let lock = try await CancellableWork.run(at: files.database) { _ in try LockFile(files) }
        try await destroyKeys()
        // In a task of its own, which nobody cancels: without its keys the store is lost in any case.
        try await Task {
            try await CancellableWork.run(at: files.database) { _ in
                try withExtendedLifetime(lock) {
                    for path in files.all { try files.fileSystem.remove(path) }
                    try files.fileSystem.synchronize(files.folder)
                }
            }
        }
        .value
    }
}
