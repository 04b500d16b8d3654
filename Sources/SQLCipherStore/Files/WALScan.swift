import DurableFiles

/// What lies in a WAL that was left behind, read without a key and without changing it.
///
/// The format is SQLite's (https://www.sqlite.org/fileformat2.html#the_write_ahead_log): a head of 32 bytes, then
/// frames of 24 bytes and a page. Each frame carries the two salts of the head, so that frames of an earlier generation
/// of the WAL are told apart, and a running checksum. SQLite plays the WAL back up to the first frame that does not
/// fit, and takes no notice of what is behind it.
package struct WALScan {
    /// The number of frames up to the last commit that will be played back.
    package private(set) var committedFrames = 0

    /// How many commits these frames hold.
    package private(set) var commits = 0

    /// How many pages the database has after the last of them; nil without one.
    package private(set) var pagesAfterLastCommit: Int?

    /// The frame that holds the newest committed content of each page in the WAL; both count from 1.
    package private(set) var newestFrames: [Int: Int] = [:]

    /// Whether the head is whole and states another page size than that of stores: SQLite would play it back with that.
    package private(set) var hasOtherPages = false

    /// Where the WAL breaks off although more of the same generation follows; nil when it ends as it should.
    package private(set) var breakage: Breakage?

    /// A place where playing back ends too early.
    package struct Breakage {
        /// The frame that does not fit, from 1; nil when the head does not.
        package var frame: Int?
        /// Whether the frame is the last of its generation: one that was being written when the process ended looks the
        /// same.
        package var isLastFrame = false
        /// Whether this frame or one behind it ends a commit.
        package var endsCommit = true
    }

    package static let headSize = 32
    package static let frameHeadSize = 24
    package static let frameSize = frameHeadSize + FileHeader.pageSize

    /// Where the page of a frame begins in the file; the first frame is 1.
    package static func pageOffset(ofFrame frame: Int) -> Int { headSize + (frame - 1) * frameSize + frameHeadSize }

    /// A WAL that holds nothing.
    package init() {}

    /// Reads the WAL at a path. One that is missing or empty holds nothing.
    package init(_ path: String) throws {
        guard let size = FileSystem.size(of: path), size > 0 else { return }
        let descriptor = try FileDescriptor(reading: path)
        var head = [UInt8](repeating: 0, count: Self.headSize)
        guard unsafe try head.withUnsafeMutableBytes({ unsafe try descriptor.read(into: $0, at: 0) }) == Self.headSize,
            let generation = WALGeneration(head)
        else {
            // A head alone, or a part of one, is what a process leaves that was killed before its first commit.
            if size > Self.headSize { breakage = Breakage() }
            return
        }
        guard generation.pageSize == FileHeader.pageSize else {
            hasOtherPages = size > Self.headSize
            return
        }
        try read(descriptor, generation)
    }

    private mutating func read(_ descriptor: borrowing FileDescriptor, _ generation: WALGeneration) throws {
        var checksum = generation.checksum
        var uncommitted: [(page: Int, frame: Int)] = []
        /// The first frame that does not follow on the one before: the regular end, unless more of this generation is
        /// behind.
        var misfit: Int?
        var bytes = [UInt8](repeating: 0, count: Self.frameSize)
        for frame in 1... {
            let offset = Self.headSize + (frame - 1) * Self.frameSize
            let count = unsafe try bytes.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0, at: offset) }
            guard count >= Self.frameHeadSize else { break }
            let page = Int(WALGeneration.number(bytes, 0))
            let pagesAfter = Int(WALGeneration.number(bytes, 4))
            if misfit == nil, count == Self.frameSize, page > 0, generation.owns(bytes, &checksum) {
                uncommitted.append((page, frame))
                guard pagesAfter > 0 else { continue }
                commits += 1
                committedFrames = frame
                pagesAfterLastCommit = pagesAfter
                for entry in uncommitted { newestFrames[entry.page] = entry.frame }
                uncommitted = []
            } else {
                let first = misfit ?? frame
                misfit = first
                guard generation.mayOwn(bytes) else { continue }
                breakage = Breakage(
                    frame: first,
                    isLastFrame: first == frame,
                    endsCommit: pagesAfter > 0 || breakage?.endsCommit == true
                )
            }
        }
        // What was never committed is nobody's loss.
        if breakage?.endsCommit == false { breakage = nil }
    }
}

/// One generation of the WAL, from the writing of its head to the next.
private struct WALGeneration {
    let checksum: Checksum
    let pageSize: Int
    private let salts: [UInt8]

    /// Reads a head; nil for one that SQLite takes no notice of.
    init?(_ head: [UInt8]) {
        let magic = Self.number(head, 0)
        pageSize = Int(Self.number(head, 8))
        guard magic & ~1 == 0x377F_0682, Self.number(head, 4) == 3_007_000, (512...65_536).contains(pageSize),
            pageSize.nonzeroBitCount == 1
        else { return nil }
        var checksum = Checksum(isBigEndian: magic & 1 == 1)
        checksum.add(head[0..<24])
        guard checksum.first == Self.number(head, 24), checksum.second == Self.number(head, 28) else { return nil }
        self.checksum = checksum
        salts = Array(head[16..<24])
    }

    /// Whether the head of a frame has one of the salts: the other may be damaged.
    func mayOwn(_ frame: [UInt8]) -> Bool { frame[8..<12] == salts[0..<4] || frame[12..<16] == salts[4..<8] }

    /// Whether a frame follows on the one whose checksum is given, which is replaced by that of this frame.
    func owns(_ frame: [UInt8], _ checksum: inout Checksum) -> Bool {
        checksum.add(frame[0..<8])
        checksum.add(frame[WALScan.frameHeadSize...])
        return frame[8..<16] == salts[...] && checksum.first == Self.number(frame, 16)
            && checksum.second == Self.number(frame, 20)
    }

    static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The WAL's checksum, of a number of bytes that 8 divides.
private struct Checksum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                first = unsafe first &+ word(bytes, offset) &+ second
                second = unsafe second &+ word(bytes, offset + 4) &+ first
            }
        }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
