import DurableFiles
import SQLCipherStore
import SyncContract

/// Looks at every page of the newest committed state: in the database file, or in the WAL where that has a newer one.
struct PageScan {
    /// What a page turned out to be.
    enum State {
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
    let pageCount: Int

    /// SQLite never writes the page that holds the byte at 1 GiB: file locks lie there.
    private static let lockPage = (1 << 30) / FileHeader.pageSize + 1

    init(_ files: StoreFiles, cipher: PageCipher, wal: WALScan) throws {
        self.cipher = cipher
        self.wal = wal
        database = try FileDescriptorBox(files.database)
        walFile = wal.newestFrames.isEmpty ? nil : try FileDescriptorBox(files.wal)
        pageCount = wal.pagesAfterLastCommit ?? (FileSystem.size(of: files.database) ?? 0) / FileHeader.pageSize
    }

    /// Whether any of the first pages is what was written under the key. If none is, the key is not the store's, or
    /// the file is past help.
    func findsAuthenticPage() throws -> Bool {
        for number in 1...max(1, min(pageCount, 64)) {
            if try state(of: number) == .authentic { return true }
        }
        return false
    }

    /// Hands what is wrong with any page to a closure. Another closure is told how many pages were looked at.
    ///
    /// - Returns: The pages of which the database file may hold anything: the WAL has a newer one, or nobody needs it.
    func run(_ progress: (Int) throws -> Void, _ report: (StoreFinding) -> Void) throws -> Set<Int> {
        let inWAL = Set(wal.newestFrames.keys)
        guard pageCount > 0 else { return inWAL }
        var unwritten: [Int] = []
        for number in 1...pageCount where number != Self.lockPage {
            switch try state(of: number) {
            case .authentic: break
            case .zeros: unwritten.append(number)
            case .altered: report(finding(number, "is not what was written"))
            case .missing: report(finding(number, "is missing: the file ends before it"))
            }
            try progress(number)
        }
        guard !unwritten.isEmpty else { return inWAL }
        // A page that was taken into use and given back within one transaction is never written.
        let free = try freePages()
        for number in unwritten where !free.contains(number) {
            report(finding(number, "holds nothing but zeros: its content is lost"))
        }
        return inWAL.union(free)
    }

    private func finding(_ number: Int, _ what: String) -> StoreFinding {
        guard let frame = wal.newestFrames[number] else {
            return StoreFinding(.damagedPage, .page(number), "page \(number) \(what)")
        }
        return StoreFinding(
            .damagedPage,
            .logFrame(frame),
            "page \(number), whose newest content lies in frame \(frame) of the log, \(what)"
        )
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

    private func state(of number: Int) throws -> State {
        try unsafe withPage(number) { page in
            if unsafe try cipher.isAuthentic(page, number: number) { return .authentic }
            return unsafe page.allSatisfy { $0 == 0 } ? .zeros : .altered
        } ?? .missing
    }

    /// How many pages the database has by its own account; nil when its first page cannot be decrypted.
    func statedPageCount() throws -> Int? { try content(of: 1).map { Self.number($0, 28 - FileHeader.count) } }

    /// The pages that hold nothing: the leaves of SQLite's list of free pages.
    private func freePages() throws -> Set<Int> {
        guard let head = try content(of: 1) else { return [] }
        var leaves: Set<Int> = []
        var trunks: Set<Int> = []
        var next = Self.number(head, 32 - FileHeader.count)
        while next != 0, trunks.insert(next).inserted, let trunk = try content(of: next) {
            for index in 0..<min(Self.number(trunk, 4), trunk.count / 4 - 2) {
                leaves.insert(Self.number(trunk, 8 + 4 * index))
            }
            next = Self.number(trunk, 0)
        }
        return leaves
    }

    /// The decrypted content of a page, which in the first page begins with the 17th byte; nil for a damaged one.
    private func content(of number: Int) throws -> [UInt8]? {
        guard (1...max(1, pageCount)).contains(number), try state(of: number) == .authentic else { return nil }
        return try unsafe withPage(number) { unsafe try cipher.decrypted($0, number: number) }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// An open file that can be held by values that are copied.
private final class FileDescriptorBox {
    let descriptor: FileDescriptor

    init(_ path: String) throws { descriptor = try FileDescriptor(reading: path) }
}
