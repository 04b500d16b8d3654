package import DurableFiles
public import Foundation
import SQLCipherStore
public import SecretMemory
package import SyncContract

/// The file of a store that is not open: what is done to it as a whole.
///
/// Each call locks the store for itself, like an open ``/SQLCipherStore/EncryptedStore``, and copies the content into a
/// new file. The new file lies beside the old one as `<name>.new`, encrypted, until it is complete, on the disk, and
/// read back; then it takes the old one's place in one step. Whatever comes in between, an error, a full disk, a
/// cancelled task, a kill or a power failure, leaves either the old file or the new one, whole and with all that was
/// ever committed. What a kill leaves of an unfinished file is removed when the store is next opened or rewritten.
///
/// The work needs free space for a second copy of the database, and memory for caches of 17 MiB. A task that is
/// cancelled ends it with `CancellationError`, until the new file takes the old one's place; the old file is kept.
///
/// All calls throw `StoreError`: `StoreError.Code.notFound` when there is no store;
/// `StoreError.Code.inUse` when it is open in this or another process; `StoreError.Code.wrongKey`, after which
/// every file is as it was; `StoreError.Code.damaged` when a page of the old file or its tables are damaged: the old
/// file is kept, and a backup is the remedy; `StoreError.Code.unsupportedFormat` when it needs a newer library;
/// `StoreError.Code.full` and `StoreError.Code.readOnly`; `StoreError.Code.notEncrypting`.
public struct StoreFile: Sendable {
    /// The database file, as in `EncryptedStore.open(at:key:schema:mode:options:)`.
    public let url: URL

    /// Whether the keys given are known to be right, because a key file vouches for them: what cannot be decrypted is
    /// then reported as `StoreError.Code.damaged`, and a first page that was torn by a power failure is repaired from
    /// the WAL.
    public let keyIsVerified: Bool

    /// What changes the files. Not public: tests look on, and end their process there.
    package var fileSystem = FileSystem()

    /// Names a database file. Nothing is read or created.
    public init(_ url: URL, keyIsVerified: Bool = false) {
        self.url = url
        self.keyIsVerified = keyIsVerified
    }

    /// Writes the store anew without the space that deleted rows have left, under the same key and in the same format.
    ///
    /// - Parameters:
    ///   - key: The key, 32 bytes. It is lent.
    ///   - progress: Is told how far the work has come.
    /// - Returns: What was done.
    /// - Throws: As said for the type.
    @discardableResult
    public func compact(
        key: SecretBytes,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreRewriteResult {
        try await StoreRewriter(file: self, key: key, change: .none, progress: progress).run()
    }

    /// Moves the store to the newest format of the linked library, under the same key. Older libraries can then no
    /// longer open it.
    ///
    /// A store that has the newest format already is not an error: the result says that nothing was done. The key is
    /// tried in either case.
    ///
    /// - Parameters:
    ///   - key: The key, 32 bytes. It is lent.
    ///   - progress: Is told how far the work has come.
    /// - Returns: What was done.
    /// - Throws: As said for the type.
    @discardableResult
    public func upgrade(
        key: SecretBytes,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreRewriteResult {
        try await StoreRewriter(file: self, key: key, change: .newestFormat, progress: progress).run()
    }

    /// Encrypts the store under another key, in the same format.
    ///
    /// Keep both keys until this has returned: after a kill one of them opens the store, and after an error it is the
    /// old one, except when the system failed to put the new file's name on the disk
    /// (`StoreError.Code.inputOutput`). Backups stay under the key they were made with.
    ///
    /// - Parameters:
    ///   - oldKey: The key that opens the store, 32 bytes. It is lent.
    ///   - newKey: The key that will open it, 32 bytes. It is lent.
    ///   - progress: Is told how far the work has come.
    /// - Returns: What was done.
    /// - Throws: As said for the type.
    @discardableResult
    public func rekey(
        from oldKey: SecretBytes,
        to newKey: SecretBytes,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreRewriteResult {
        try await rekey(from: oldKey, to: newKey, progress: progress, beforeReplacing: nil)
    }

    /// The same, with a column that is set in all rows of the new file, and something to be done when that is whole, on the
    /// disk and read back, and before it takes the old one's place. It runs on a thread that may wait, is not cancelled, and keeps the old file by throwing. From then
    /// on the new file is kept as well, for ``finishRekey(from:to:)``, until the store is opened without it.
    @discardableResult
    package func rekey(
        from oldKey: SecretBytes,
        to newKey: SecretBytes,
        progress: StoreProgressHandler? = nil,
        marking mark: StoreMark? = nil,
        beforeReplacing: (@Sendable () throws -> Void)?
    ) async throws -> StoreRewriteResult {
        try await StoreRewriter(
            file: self,
            key: oldKey,
            change: .key(newKey),
            progress: progress,
            mark: mark,
            beforeReplacing: beforeReplacing
        )
        .run()
    }
}

/// A column that is true in every row of a table from one file to the next, in the same step as the file.
package struct StoreMark: Sendable {
    let table: TableDefinition
    let column: String

    /// - Parameters:
    ///   - table: The table. A store that has no such table, with all of its columns, has nothing to mark.
    ///   - column: The name of one of its columns.
    package init(_ table: TableDefinition, _ column: String) { (self.table, self.column) = (table, column) }
}
