package import DurableFiles
public import Foundation
import SQLCipherStore
public import SecretMemory
public import SyncContract

extension StoreFile {
    /// Writes everything in the store to a plain SQLite file, which anybody can read who gets hold of it.
    ///
    /// The file needs no SQLCipher and no function of this library: any SQLite from 3.15 on reads it. Only its owner
    /// may read it (mode 0600). It has every table of the store, those of the sync engine and the ones this library
    /// keeps for itself included (`sealed:columns` remembers the type of each column, and the column `__sealed_extra`
    /// of a table holds the values of undeclared keys as JSON), so that
    /// ``encrypt(plaintext:into:key:schema:progress:)`` makes an equal store of it. Truth values are 0 and 1, dates are
    /// milliseconds since 1970, decimals are texts.
    ///
    /// Files beside rows (attachments) are not in it, and neither are their keys: the files stay encrypted where they are, and
    /// the table `AttachmentFiles` is empty. A store that is made of the copy fetches them from the server; those that
    /// were not sent are in the original alone.
    ///
    /// The store is locked meanwhile and stays as it is, except that a WAL that was left behind is written back. The
    /// file appears under its name when it is complete and on the disk. A kill before that leaves a part of it,
    /// readable for its owner, as `<name>.new`: delete it, or export to the same place again, which does.
    ///
    /// - Parameters:
    ///   - url: Where the file goes.
    ///   - key: The key, 32 bytes. It is lent.
    ///   - progress: Is told how far the work has come.
    /// - Throws: As said for the type; `StoreError.Code.alreadyExists` when something is at the URL.
    public func exportPlaintext(
        to url: URL,
        key: SecretBytes,
        progress: StoreProgressHandler? = nil
    ) async throws {
        let target = try StoreFiles(url, in: fileSystem)
        try await CancellableWork.run(at: target.database) { work in
            let store = try LockedStore(self, key: key)
            guard !FileSystem.exists(target.database) else { throw StoreError.alreadyExists(at: target.database) }
            try target.refuseOrphanedWAL()
            try withExtendedLifetime(store) {
                try DatabaseBuilder(files: target, cipherConfiguration: nil, work: work, progress: progress)
                    .build(.free) { path in try store.copy(to: path, nil, work, progress) }
            }
        }
    }

    /// Makes a store of a plain SQLite file.
    ///
    /// A file that ``exportPlaintext(to:key:progress:)`` wrote becomes an equal store: all values, undeclared keys, the
    /// queue of operations and the delta tokens, but not the attachments and their keys. Any other file is taken over
    /// table by table. Each needs a column `id` as its primary key, of texts or whole numbers (which become their
    /// decimal texts). Columns have the types of the schema's declaration; tables and columns that it does not name get
    /// the type that all their values have, or, when there are none, the declared one. Indexes over plain columns are
    /// kept.
    ///
    /// What cannot be taken over exactly is refused, with the name of the table and what to do, and no store is made: a
    /// table without such an `id`, ids that are null, that are equal under the table's comparison, or of another type;
    /// a name that a store does not allow; a column with values of several types, or with one that its declared type
    /// does not take; views, triggers and virtual tables. Constraints, defaults and foreign keys have no place in a
    /// store; the rows are taken over without them.
    ///
    /// The plain file is only read. **It still lies there, readable, afterwards**: delete it, and its backups, when the
    /// store has been opened.
    ///
    /// - Parameters:
    ///   - plaintext: The SQLite file. No program may be using it, and no WAL or journal may lie beside it.
    ///   - url: The database file of the new store. It appears when it is complete, on the disk and read back.
    ///   - key: The key of the new store, 32 bytes. It is lent.
    ///   - schema: Declarations for tables of the file, or of others to create beside them.
    ///   - progress: Is told how far the work has come.
    /// - Returns: The tables and how many rows each has.
    /// - Throws: `StoreError`: `StoreError.Code.notFound` for no plain file or no folder for the store;
    ///   `StoreError.Code.readOnly` for a plain file that may not be read, which the message names;
    ///   `StoreError.Code.alreadyExists` when there is a store at the URL; `StoreError.Code.unsupportedFormat` for
    ///   a file that is no plain SQLite database, such as a store, and for a folder, a pipe or a device; `StoreError.Code.schemaMismatch` for what cannot
    ///   be taken over; `StoreError.Code.inUse` when a WAL or journal lies beside the plain file or the file changes
    ///   meanwhile; `StoreError.Code.damaged` when the plain file is; `StoreError.Code.wrongKey` for a key of
    ///   another length; `StoreError.Code.full`, `StoreError.Code.readOnly`, `StoreError.Code.notEncrypting`.
    @discardableResult
    public static func encrypt(
        plaintext: URL,
        into url: URL,
        key: SecretBytes,
        schema: StoreSchema? = nil,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreEncryptionResult {
        try await encrypt(
            plaintext: plaintext,
            into: url,
            key: key,
            schema: schema,
            progress: progress,
            in: FileSystem()
        )
    }

    /// The same, with a file system that tells each step, and something to be done before the store is made, while nobody else
    /// can: none is when it throws.
    package static func encrypt(
        plaintext: URL,
        into url: URL,
        key: SecretBytes,
        schema: StoreSchema?,
        progress: StoreProgressHandler?,
        in fileSystem: FileSystem,
        beforeCreating: @escaping @Sendable () throws -> Void = {}
    ) async throws -> StoreEncryptionResult {
        // What lies beside a file lies beside it where it is, and not beside a link to it.
        let named = try StoreFiles(plaintext).database
        let (plain, files) = try (StoreFiles(FileSystem.resolved(named) ?? named), StoreFiles(url, in: fileSystem))
        return try await CancellableWork.run(at: files.database) { work in
            try PlainEncryption(
                plain: plain,
                files: files,
                key: key,
                schema: schema,
                work: work,
                progress: progress,
                beforeCreating: beforeCreating
            )
            .run()
        }
    }
}

/// What became of a plain SQLite file that was encrypted.
public struct StoreEncryptionResult: Sendable, Hashable {
    /// The app's tables as the new store declares them, in the order of their names. The store can be opened with them
    /// as its schema.
    public let tables: [TableDefinition]

    /// The number of rows of each of ``tables``.
    public let rowCounts: [String: Int]

    /// The names of the indexes that were not taken over: those that are unique, partial, or over expressions.
    public let droppedIndexes: [String]
}
