import DurableFiles
package import SecretMemory
package import SyncContract

/// What a process that was killed has left beside a database, before SQLite plays it back.
///
/// The caller holds the store's lock, so that nobody writes here.
package struct LeftoverLogs {
    let files: StoreFiles

    package init(_ files: StoreFiles) { self.files = files }

    /// The logs that were not written for the database, or were altered: those of an earlier database at this place, which a
    /// backup has taken the place of. SQLite would write their pages over those of the database, and find out afterwards
    /// that they cannot be read.
    ///
    /// What SQLite takes no notice of is not among them, and nothing that the store itself leaves at any instant is.
    package func foreign(key: SecretBytes, _ header: FileHeader, _ wal: WALScan) throws -> [ForeignLog] {
        var logs: [ForeignLog] = []
        if try !isOwn(wal, key, header) { logs.append(ForeignLog(isWAL: true, path: files.wal)) }
        if try !isOwn(JournalScan(files.journal), header) {
            logs.append(ForeignLog(isWAL: false, path: files.journal))
        }
        return logs
    }

    /// Whether every committed page was written under the key and the header of the database.
    private func isOwn(_ wal: WALScan, _ key: SecretBytes, _ header: FileHeader) throws -> Bool {
        guard !wal.hasOtherPages else { return false }
        guard !wal.newestFrames.isEmpty else { return true }
        let pages = try StoredPages(files, cipher: PageCipher(key: key, header: header), wal: wal)
        return try wal.newestFrames.sorted { $0.value < $1.value }
            .allSatisfy { try pages.state(of: $0.key) == .authentic }
    }

    /// Whether the first page, which a transaction of a store changes in any case, begins as the database does.
    private func isOwn(_ journal: JournalScan, _ header: FileHeader) -> Bool {
        guard let pageSize = journal.pageSize else { return true }
        return pageSize == FileHeader.pageSize && (journal.header ?? header.bytes) == header.bytes
    }
}

/// A log beside a database that is not the database's own.
package struct ForeignLog: Sendable {
    /// Whether it is the WAL, and not the rollback journal.
    package let isWAL: Bool
    let path: String
    private var name: String { isWAL ? "log" : "journal" }

    private var fault: String { "\(name) '\(path)' was not written for the database beside it, or was altered" }
    private var way: String {
        "the database was put there from a backup, move the \(name) away and open the store again; otherwise restore both from"
            + " a backup, into an empty folder"
    }

    /// What is wrong, as part of a sentence.
    package var message: String { "the \(fault)" }

    /// What to do about it, as part of a sentence.
    package var remedy: String { "if \(way)" }

    /// What keeps the store from being opened.
    package var error: StoreError { StoreError(.damaged, "The \(fault). Nothing was changed. If \(way).") }
}
