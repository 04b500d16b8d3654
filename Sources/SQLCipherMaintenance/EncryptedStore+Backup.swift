import CSQLCipher
package import DurableFiles
public import Foundation
public import SQLCipherStore
import SyncContract

extension EncryptedStore {
    /// Writes a complete copy of the store to another file while the store is in use.
    ///
    /// The copy shows the state of one instant: all that was committed before the call, and no part of a transaction.
    /// It is encrypted under the same key, and is one file without a WAL; a WAL that lies where it is put, left there by a store
    /// that was killed, is not taken for its own, and opening refuses it. Reads and writes go on meanwhile; the WAL
    /// grows with what is written, until the copy is done. ``close()`` waits for the copy.
    ///
    /// The file appears under its name when it is complete, on the disk and read back. A kill leaves nothing under that
    /// name, and `<name>.new` beside it, encrypted, which the next backup to the same place replaces.
    ///
    /// A backup without its key is lost: take the keyslot file along.
    ///
    /// - Parameters:
    ///   - url: Where the copy goes. Its folder must exist.
    ///   - progress: Is told how far the work has come.
    /// - Throws: ``StoreError``: ``StoreError/Code/alreadyExists`` when something is at the URL;
    ///   ``StoreError/Code/notFound`` for a missing folder; ``StoreError/Code/damaged`` when a page of the store is
    ///   damaged, and no copy is made; ``StoreError/Code/inUse`` when another backup is being written there;
    ///   ``StoreError/Code/full``, ``StoreError/Code/readOnly``, ``StoreError/Code/locked`` and
    ///   ``StoreError/Code/closed``. `CancellationError` when the task was cancelled, after which there is no file.
    public func backUp(to url: URL, progress: StoreProgressHandler? = nil) async throws {
        try await backUp(to: url, progress: progress, in: FileSystem())
    }

    /// The same, with a file system that tells each step.
    package func backUp(
        to url: URL,
        progress: StoreProgressHandler?,
        in fileSystem: FileSystem
    ) async throws {
        let (files, target) = try (files, StoreFiles(url, in: fileSystem))
        try await duringLongRead { cipherConfiguration in
            try await CancellableWork.run(at: target.database) { work in
                guard !FileSystem.exists(target.database) else { throw StoreError.alreadyExists(at: target.database) }
                try target.refuseOrphanedWAL()
                // The log that a killed store has left is not taken for that of a backup which is put in its place.
                let new = try cipherConfiguration.withNewHeader()
                try DatabaseBuilder(
                    files: target,
                    cipherConfiguration: new,
                    work: work,
                    progress: progress
                )
                .build(.free) { path in
                    let source = try Self.openSource(files, cipherConfiguration)
                    return try DatabaseCopy(
                        source: source,
                        size: source.contentSize,
                        work: work,
                        progress: progress
                    )
                    .run(to: path, new)
                }
            }
        }
    }

    /// What else belongs into the copy of a store's folder.
    package struct FurtherFiles: Sendable {
        /// Copies it into the folder at a path, and returns when it is on the medium.
        let copy: @Sendable (String) async throws -> Void
        /// Removes what there is of it in the folder at a path.
        let clear: @Sendable (String) throws -> Void

        package init(
            copy: @escaping @Sendable (String) async throws -> Void,
            clear: @escaping @Sendable (String) throws -> Void
        ) {
            self.copy = copy
            self.clear = clear
        }
    }

    /// Writes a copy of the store and of files that belong to it, each of a few pages, into a new folder, which appears
    /// when it is complete. The files keep their names.
    package func backUp(
        toFolder url: URL,
        with companions: [URL],
        and further: FurtherFiles? = nil,
        progress: StoreProgressHandler?,
        in fileSystem: FileSystem = FileSystem()
    ) async throws {
        let place = try StoreFiles(url)
        let name = self.url.lastPathComponent
        let folder = try await CancellableWork.run(at: place.database) { _ in
            guard FileSystem.isFolder(place.folder) else { throw StoreError.noFolder(place.folder) }
            guard !FileSystem.exists(place.database) else { throw StoreError.alreadyExists(at: place.database) }
            let names = [name, name + ".new"] + companions.map(\.lastPathComponent)
            return try TemporaryFolder(place.database, names: names, in: fileSystem, clearing: further?.clear)
        }
        do {
            try await backUp(
                to: URL(filePath: folder.path).appending(path: name),
                progress: progress,
                in: fileSystem
            )
            try await CancellableWork.run(at: place.database) { _ in
                for companion in companions {
                    try Self.copySmallFile(
                        companion.path,
                        to: fileSystem.create("\(folder.path)/\(companion.lastPathComponent)")
                    )
                }
            }
            // Behind the database: what it speaks of is there by now.
            try await further?.copy(folder.path)
            try await CancellableWork.run(at: place.database) { _ in try folder.publish() }
        } catch {
            do {
                try folder.discard()
            } catch {
                // The next backup to the same place removes it; the caller gets the reason for the failure.
            }
            throw error
        }
    }

    private static func copySmallFile(_ path: String, to copy: consuming FileDescriptor) throws {
        // One descriptor for the size and the content: meanwhile another file, a longer one, may get the name.
        // Without O_NONBLOCK a named pipe would block until somebody writes to it.
        let original = try FileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
        let status = try original.status()
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.inputOutput, "'\(path)' is no regular file, and no copy of it can be made; put it back.")
        }
        let count = Int(status.st_size)
        try copy.write(original.prefix(count: count))
        try copy.synchronize()
    }

    /// A connection that reads the store, and may write to what is attached to it.
    private static func openSource(_ files: StoreFiles, _ cipherConfiguration: CipherConfiguration) throws -> Database {
        let source = try cipherConfiguration.open(
            path: StoreFiles.uri(files.database, "mode=ro"),
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI
        )
        try source.configureSession(EncryptedStoreOptions())
        // Two connections that write the WAL back at one instant can corrupt it in every SQLite before 3.51.3.
        _ = try source.text("PRAGMA wal_autocheckpoint = 0")
        return source
    }
}
