import DurableFiles

/// What a rollback journal that was left behind says of its database, read without a key and without changing it.
///
/// The format is SQLite's (https://www.sqlite.org/fileformat2.html#the_rollback_journal): a head that fills a sector, then
/// records of a page's number, the page as it was before the transaction, and a checksum. SQLite writes the pages back up to
/// the first record that does not fit. Until the records are on the medium, and before the database is written, the head
/// begins with zeros, and SQLite takes no notice of the journal.
struct JournalScan {
    /// The size of the database's pages; nil when SQLite takes no notice of the journal.
    private(set) var pageSize: Int?

    /// What the database began with before the transaction; nil when that is not known to be in the journal.
    private(set) var header: [UInt8]?

    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let headSize = 28

    /// Reads the journal at a path. One that is missing or empty says nothing.
    init(_ path: String) throws {
        guard let size = FileSystem.size(of: path), size > 0 else { return }
        let descriptor = try FileDescriptor(reading: path)
        let head = try Self.read(descriptor, Self.headSize, at: 0)
        guard head.count == Self.headSize, head.starts(with: Self.magic) else { return }
        let sector = Self.number(head, 20)
        let statedSize = Self.number(head, 24)
        // The number 0 is that of versions which did not write it, and stands for the size that the database has.
        let pageSize = statedSize == 0 ? FileHeader.pageSize : statedSize
        guard (32...65_536).contains(sector), sector.nonzeroBitCount == 1, (512...65_536).contains(pageSize),
            pageSize.nonzeroBitCount == 1, size >= sector
        else { return }
        self.pageSize = pageSize
        header = try Self.header(descriptor, from: sector, pageSize, UInt32(Self.number(head, 12)))
    }

    /// Looks for the first page among the records up to the first that does not fit.
    private static func header(
        _ descriptor: borrowing FileDescriptor,
        from start: Int,
        _ pageSize: Int,
        _ nonce: UInt32
    ) throws -> [UInt8]? {
        let size = 4 + pageSize + 4
        var offset = start
        while true {
            let record = try read(descriptor, size, at: offset)
            guard record.count == size else { return nil }
            var checksum = nonce
            for place in stride(from: pageSize - 200, to: 0, by: -200) { checksum &+= UInt32(record[4 + place]) }
            guard checksum == UInt32(number(record, 4 + pageSize)) else { return nil }
            if number(record, 0) == 1 { return Array(record[4..<4 + FileHeader.count]) }
            offset += size
        }
    }

    private static func read(_ descriptor: borrowing FileDescriptor, _ count: Int, at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe try bytes.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0, at: offset) }
        return Array(bytes.prefix(read))
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
