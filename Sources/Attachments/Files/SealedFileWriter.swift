internal import DurableFiles
internal import SecretMemory
internal import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes an encrypted file, chunk by chunk, in constant memory. Every call blocks.
struct SealedFileWriter: ~Copyable {
    /// How much content was taken.
    private(set) var length: Int64 = 0
    /// What is not a whole chunk yet, or may be the last one.
    private var rest: [UInt8] = []
    private var chunks = 0
    private let descriptor: FileDescriptor
    private let cipher: ChunkCipher

    /// Begins a file where none lies.
    init(creating path: String, _ key: SecretBytes, in fileSystem: FileSystem) throws {
        let descriptor = try fileSystem.create(path)
        try descriptor.write(SealedFileFormat.header)
        self.descriptor = descriptor
        cipher = ChunkCipher(key: key, header: SealedFileFormat.header)
    }

    /// Goes on with a file that was begun, behind its last chunk that is whole: what a kill has left behind that is cut off.
    init(resuming path: String, _ key: SecretBytes, in fileSystem: FileSystem) throws {
        let descriptor = try FileDescriptor(opening: path, flags: O_RDWR | O_NOFOLLOW, in: fileSystem)
        let cipher = ChunkCipher(key: key, header: SealedFileFormat.header)
        let header = try SealedFileReader.read(SealedFileFormat.header.count, from: descriptor, at: 0)
        let chunks = header == SealedFileFormat.header ? try Self.wholeChunks(of: descriptor, cipher) : 0
        let end = chunks == 0 ? 0 : SealedFileFormat.offset(of: chunks)
        let number = descriptor.number
        try SystemCallFailure.check("ftruncate") { ftruncate(number, off_t(end)) }
        try SystemCallFailure.check("lseek") { lseek(number, off_t(end), SEEK_SET) }
        if chunks == 0 { try descriptor.write(SealedFileFormat.header) }
        self.descriptor = descriptor
        self.cipher = cipher
        self.chunks = chunks
        length = Int64(chunks) * Int64(ChunkCipher.contentCount)
    }

    /// How many chunks at the beginning of a file are whole. The last one of them is looked at; the rest is read back when the
    /// file is complete.
    private static func wholeChunks(of descriptor: borrowing FileDescriptor, _ cipher: ChunkCipher) throws -> Int {
        let size = Int(try descriptor.status().st_size) - SealedFileFormat.header.count
        var chunks = max(0, size / SealedFileFormat.chunkCount)
        while chunks > 0 {
            let offset = SealedFileFormat.offset(of: chunks - 1)
            let sealed = try SealedFileReader.read(SealedFileFormat.chunkCount, from: descriptor, at: offset)
            if try cipher.open(sealed, at: chunks - 1, isLast: false) != nil { break }
            chunks -= 1
        }
        return chunks
    }

    /// Takes the next bytes, of any number.
    mutating func write(_ bytes: [UInt8]) throws {
        length += Int64(bytes.count)
        var start = 0
        // A whole chunk is written when more follows: the last one is marked.
        while rest.count + bytes.count - start > ChunkCipher.contentCount {
            let end = start + ChunkCipher.contentCount - rest.count
            rest += bytes[start..<end]
            start = end
            try writeChunk(isLast: false)
        }
        rest += bytes[start...]
    }

    /// Writes the last chunk, and returns when all is on the medium.
    mutating func finish() throws {
        try writeChunk(isLast: true)
        try descriptor.synchronize()
    }

    private mutating func writeChunk(isLast: Bool) throws {
        try descriptor.write(cipher.seal(rest, at: chunks, isLast: isLast))
        rest.removeAll(keepingCapacity: true)
        chunks += 1
    }
}
