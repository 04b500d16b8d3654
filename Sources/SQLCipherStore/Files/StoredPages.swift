import DurableFiles
import SyncContract

/// The pages of the newest committed state as they lie in the files: in the database, or in the WAL where that has a newer
/// one.
package struct StoredPages {
    /// What a page turned out to be.
    package enum State {
        /// What was written under the key.
        case authentic
        /// Something else.
        case altered
        /// Nothing but zeros: never written, or lost.
        case zeros
        /// In neither file.
        case missing
    }

    private let cipher: PageCipher
    private let wal: WALScan
    private let database: FileDescriptorBox
    private let walFile: FileDescriptorBox?

    /// How many pages the newest state has, as far as the files tell without a key.
    package let count: Int

    /// Opens the files. A WAL that holds nothing, or that is given as one, is not looked at.
    package init(_ files: StoreFiles, cipher: PageCipher, wal: WALScan) throws {
        self.cipher = cipher
        self.wal = wal
        database = try FileDescriptorBox(files.database)
        walFile = wal.newestFrames.isEmpty ? nil : try FileDescriptorBox(files.wal)
        count = wal.pagesAfterLastCommit ?? (FileSystem.size(of: files.database) ?? 0) / FileHeader.pageSize
    }

    /// Whether any of the first pages is what was written under the key. If none is, the key is not the store's, or
    /// the file is past help.
    package func haveAuthenticOne() throws -> Bool {
        for number in 1...max(1, min(count, 64)) {
            if try state(of: number) == .authentic { return true }
        }
        return false
    }

    /// Looks at the newest content of a page; the first is 1.
    package func state(of number: Int) throws -> State {
        try unsafe withPage(number) { page in
            if unsafe try cipher.isAuthentic(page, number: number) { return .authentic }
            return unsafe page.allSatisfy { $0 == 0 } ? .zeros : .altered
        } ?? .missing
    }

    /// The decrypted content of a page, which in the first page begins with the 17th byte; nil for a damaged one.
    package func content(of number: Int) throws -> [UInt8]? {
        guard (1...max(1, count)).contains(number), try state(of: number) == .authentic else { return nil }
        return try unsafe withPage(number) { unsafe try cipher.decrypted($0, number: number) }
    }

    /// Reads the newest content of a page; nil when it is in neither file.
    private func withPage<Value>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        try unsafe withUnsafeTemporaryAllocation(byteCount: FileHeader.pageSize, alignment: 16) { page in
            let count =
                if let walFile, let frame = wal.newestFrames[number] {
                    unsafe try walFile.descriptor.read(into: page, at: WALScan.pageOffset(ofFrame: frame))
                } else {
                    unsafe try database.descriptor.read(into: page, at: (number - 1) * FileHeader.pageSize)
                }
            return count == page.count ? unsafe try body(UnsafeRawBufferPointer(page)) : nil
        }
    }
}

/// An open file that can be held by values that are copied.
private final class FileDescriptorBox {
    let descriptor: FileDescriptor

    init(_ path: String) throws { descriptor = try FileDescriptor(reading: path) }
}
