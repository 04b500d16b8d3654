import CSQLCipher
import DurableFiles
import SQLCipherStore
import SyncContract

/// Makes a database under a temporary name, and gives it its name when it is complete, on the disk and read back.
struct DatabaseBuilder {
    /// Where it goes.
    let files: StoreFiles
    /// What it is encrypted with; nil for a plain one.
    let cipherConfiguration: CipherConfiguration?
    let work: CancellableWork
    let progress: StoreProgressHandler?

    /// What becomes of a database that has the name already.
    enum Place {
        /// It is replaced. With a closure, that comes after this has returned, and the old database stays when it throws.
        /// The new one is then kept under its temporary name whatever fails, since what the closure has written may need
        /// it: ``StoreFile/finishRekey(from:to:)`` gives it its name later, and an opening without need for it removes it.
        case replacing(after: (@Sendable () throws -> Void)?)
        case free
    }

    /// Builds the database. The closure fills the empty file at the path it gets, and says what must be in it then.
    func build(_ place: Place, _ fill: (String) throws -> DatabaseContent) throws {
        let file = try TemporaryFile(files)
        let (path, fileSystem) = (file.path, files.fileSystem)
        var isKept = false
        do {
            let content = try fill(path)
            fileSystem.report(.wrote(path))
            try fileSystem.synchronize(path)
            try verify(path, content)
            fileSystem.report(.verified(path))
            try work.checkCancellation()
            switch place {
            case .replacing(let prepare):
                isKept = prepare != nil
                try prepare?()
                try file.replace()
            case .free: try file.publish()
            }
        } catch {
            do {
                if !isKept { try file.discard() }
            } catch {
                // The next work of this kind removes it; the caller gets the reason for the failure.
            }
            throw error
        }
    }

    /// Reads a database back, and throws when it is not whole or has something else in it.
    func verify(_ path: String, _ content: DatabaseContent) throws {
        let start = try FileSystem.prefix(of: path, count: FileHeader.count)
        guard start == cipherConfiguration?.header.bytes ?? FileHeader.plainHeader else {
            throw StoreError.notEncrypting
        }
        let size = FileSystem.size(of: path) ?? 0
        let meter = ProgressMeter(.verifying, total: Int64(size), progress)
        defer { meter.finish() }
        let database = try open(path)
        try database.configureSession(EncryptedStoreOptions())
        database.end(with: work)
        let pageSize = try database.int64("PRAGMA page_size") ?? 0
        let pageCount = try database.int64("PRAGMA page_count") ?? 0
        guard
            pageSize * pageCount == Int64(size),
            try rows(of: "PRAGMA integrity_check", in: database) == ["ok"],
            try cipherConfiguration?.engine.hasIntegrityCheck != true
                || rows(of: "PRAGMA cipher_integrity_check", in: database).isEmpty,
            try DatabaseContent(database) == content
        else {
            throw StoreError(
                .damaged,
                "The copy is not sound: the database it was made of is damaged, or the disk is failing. The copy was"
                    + " thrown away; check the store with 'verify', or restore a backup."
            )
        }
    }

    private func open(_ path: String) throws -> Database {
        guard let cipherConfiguration else { return try Database(path: path, flags: SQLITE_OPEN_READONLY) }
        return try cipherConfiguration.open(path: path, flags: SQLITE_OPEN_READONLY)
    }

    private func rows(of sql: String, in database: Database) throws -> [String] {
        try database.withStatement(sql) { row in
            var rows: [String] = []
            while try row.step() { rows.append(row.text(0)) }
            return rows
        }
    }
}
