import SQLCipherStore
import SyncContract

/// Looks at every page of the newest committed state: in the database file, or in the WAL where that has a newer one.
struct PageScan {
    private let wal: WALScan
    private let pages: StoredPages

    /// SQLite never writes the page that holds the byte at 1 GiB: file locks lie there.
    private static let lockPage = (1 << 30) / FileHeader.pageSize + 1

    init(_ pages: StoredPages, wal: WALScan) { (self.pages, self.wal) = (pages, wal) }

    /// Hands what is wrong with any page to a closure. Another closure is told how many pages were looked at.
    ///
    /// - Returns: The pages of which the database file may hold anything: the WAL has a newer one, or nobody needs it.
    func run(_ progress: (Int) throws -> Void, _ report: (StoreFinding) -> Void) throws -> Set<Int> {
        let inWAL = Set(wal.newestFrames.keys)
        guard pages.count > 0 else { return inWAL }
        var unwritten: [Int] = []
        for number in 1...pages.count where number != Self.lockPage {
            switch try pages.state(of: number) {
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
            .walFrame(frame),
            "page \(number), whose newest content lies in frame \(frame) of the WAL, \(what)"
        )
    }

    /// How many pages the database has by its own account; nil when its first page cannot be decrypted.
    func statedPageCount() throws -> Int? { try pages.content(of: 1).map { Self.number($0, 28 - FileHeader.count) } }

    /// The pages that hold nothing: the leaves of SQLite's list of free pages.
    private func freePages() throws -> Set<Int> {
        guard let head = try pages.content(of: 1) else { return [] }
        var leaves: Set<Int> = []
        var trunks: Set<Int> = []
        var next = Self.number(head, 32 - FileHeader.count)
        while next != 0, trunks.insert(next).inserted, let trunk = try pages.content(of: next) {
            for index in 0..<min(Self.number(trunk, 4), trunk.count / 4 - 2) {
                leaves.insert(Self.number(trunk, 8 + 4 * index))
            }
            next = Self.number(trunk, 0)
        }
        return leaves
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
