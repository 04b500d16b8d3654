import DurableFiles
import Foundation
import SQLCipherStore
public import SecretMemory
import SyncContract

extension StoreFile {
    /// Tells whether a key opens the store, from the first page of the database. No file is changed, and none is
    /// locked.
    ///
    /// - Parameter key: The key, 32 bytes. It is lent.
    /// - Returns: False for another key, and also when the first page is damaged.
    /// - Throws: `StoreError` with code `StoreError.Code.notFound` when there is no store,
    ///   `StoreError.Code.damaged` when the file has lost its beginning, `StoreError.Code.unsupportedFormat`,
    ///   `StoreError.Code.notEncrypting`, and those of the file system. `CancellationError`.
    public func isEncrypted(with key: SecretBytes) async throws -> Bool {
        let files = StoreFiles(url.path)
        return try await CancellableWork.run(at: files.database) { _ in
            guard FileSystem.exists(files.database) else { throw StoreError.noStore(at: files.database) }
            guard key.count == KeyText.keyCount else { return false }
            do {
                let opener = DatabaseOpener(files: files, key: key, keyIsVerified: false)
                _ = try opener.cipherConfiguration(CipherConfiguration.engineVersion())
                return true
            } catch let error as StoreError where error.code == .wrongKey {
                return false
            }
        }
    }

    /// Whether the header of the database names another key than some, and is not damaged. One that names none has no other.
    /// No file is changed, and none is locked.
    ///
    /// - Throws: As ``isEncrypted(with:)``.
    package func namesOtherKey(than keys: [SecretBytes]) async throws -> Bool {
        let files = StoreFiles(url.path)
        return try await CancellableWork.run(at: files.database) { _ in
            let engine = try CipherConfiguration.engineVersion()
            try files.refuseLinks()
            let start = try FileSystem.prefix(of: files.database, count: FileHeader.count)
            let header = try FileHeader(reading: start, of: files.database)
            return try keys.allSatisfy { key in
                let opener = DatabaseOpener(files: files, key: key, keyIsVerified: false)
                return try opener.judgeKey(header, engine) == .wrong
            }
        }
    }

    /// Ends a change of the key that was killed, or failed, in the moment after its call before the replacing: gives the new
    /// file its name.
    ///
    /// It is read back whole and held against the old one first, since a copy that was cut off may lie under the same
    /// name and the same key. It stays out of use when the old one was written to since.
    ///
    /// - Parameters:
    ///   - oldKey: The key that opens the store.
    ///   - newKey: The key of the new file, made for it.
    /// - Returns: Whether the new file has its name now; if not, nothing was changed.
    /// - Throws: ``StoreError`` as said for the type. `CancellationError`.
    package func finishRekey(from oldKey: SecretBytes, to newKey: SecretBytes) async throws -> Bool {
        let files = StoreFiles(url.path, in: fileSystem)
        return try await CancellableWork.run(at: files.database) { work in
            guard FileSystem.exists(files.temporary) else { return false }
            let lock = try LockFile(files)
            defer { withExtendedLifetime(lock) {} }
            // What was written to the old file since has left one of these, or a later time.
            guard ![files.wal, files.index, files.journal].contains(where: FileSystem.exists) else { return false }
            let old = DatabaseOpener(files: files, key: oldKey, keyIsVerified: true)
            let barrier = try old.open(old.cipherConfiguration(CipherConfiguration.engineVersion()))
            defer { withExtendedLifetime(barrier) {} }
            try barrier.configureSession(EncryptedStoreOptions())
            try barrier.run("BEGIN IMMEDIATE")
            guard try modificationTime(files.database) <= modificationTime(files.temporary) else { return false }
            do {
                let new = DatabaseOpener(files: StoreFiles(files.temporary), key: newKey, keyIsVerified: false)
                let configuration = try new.cipherConfiguration(CipherConfiguration.engineVersion())
                let builder = DatabaseBuilder(
                    files: files,
                    cipherConfiguration: configuration,
                    work: work,
                    progress: nil
                )
                try builder.verify(files.temporary, DatabaseContent(barrier).current)
            } catch is StoreError {
                // It is another file, or part of one, of some other work that was killed.
                return false
            } catch is SQLiteFailure {
                // A page of it was not written when the power failed.
                return false
            }
            try files.fileSystem.synchronize(files.temporary)
            try files.fileSystem.replace(files.database, with: files.temporary)
            return true
        }
    }

    private func modificationTime(_ path: String) throws -> Date {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return attributes[.modificationDate] as? Date ?? .distantFuture
    }
}
