import DurableFiles
import SecretMemory
import SyncContract

/// What a process that was killed has left beside a database, before it is played back.
struct LeftoverWAL {
    let files: StoreFiles

    /// Whether every committed page in it was written under the key and the header of the database. Otherwise it is that of
    /// an earlier database at this place, which a backup or a rewrite has taken the place of, or was altered: SQLite
    /// would write its pages over those of the database, and find out afterwards that they cannot be read.
    ///
    /// The caller holds the store's lock, so that nobody writes here.
    func isOwn(key: SecretBytes, _ header: FileHeader) throws -> Bool {
        let scan = try WALScan(files.wal)
        guard !scan.newestFrames.isEmpty else { return true }
        let cipher = try PageCipher(key: key, header: header)
        let descriptor = try FileDescriptor(reading: files.wal)
        var page = [UInt8](repeating: 0, count: FileHeader.pageSize)
        return try scan.newestFrames.sorted { $0.value < $1.value }
            .allSatisfy { number, frame in
                unsafe try page.withUnsafeMutableBytes { bytes in
                    let offset = WALScan.pageOffset(ofFrame: frame)
                    return unsafe try descriptor.read(into: bytes, at: offset) == FileHeader.pageSize
                        && cipher.isAuthentic(UnsafeRawBufferPointer(bytes), number: number)
                }
            }
    }

    var foreign: StoreError {
        StoreError(
            .damaged,
            "The log '\(files.wal)' was not written for the database beside it, or was altered. Nothing was changed. If the"
                + " database was put there from a backup, move the log away and open the store again; otherwise restore"
                + " both from a backup, into an empty folder."
        )
    }
}
