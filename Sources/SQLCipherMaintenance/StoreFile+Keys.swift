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
    /// - Throws: ``StoreError`` with code ``StoreError/Code/notFound`` when there is no store,
    ///   ``StoreError/Code/damaged`` when the file has lost its beginning, ``StoreError/Code/unsupportedFormat``,
    ///   ``StoreError/Code/notEncrypting``, and those of the file system. `CancellationError`.
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
}
