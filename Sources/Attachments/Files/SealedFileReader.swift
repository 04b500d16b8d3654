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

/// Reads an encrypted file, chunk by chunk. Every call blocks.
struct SealedFileReader: ~Copyable, Sendable {
    let layout: SealedFileFormat.Layout
    private let descriptor: FileDescriptor
    private let cipher: ChunkCipher

    /// Opens a file.
    ///
    /// - Throws: `StoreError` with code `damaged` for one that is not what was written; `SystemCallFailure`.
    init(_ path: String, _ key: SecretBytes) throws {
        let descriptor = try FileDescriptor(reading: path)
        let size = Int(try descriptor.status().st_size)
        let header = try Self.read(SealedFileFormat.header.count, from: descriptor, at: 0)
        guard header == SealedFileFormat.header, let layout = SealedFileFormat.Layout(fileSize: size) else {
            throw Self.damaged
        }
        self.layout = layout
        self.descriptor = descriptor
        cipher = ChunkCipher(key: key, header: header)
    }

    /// The content of a chunk.
    ///
    /// - Throws: As ``init(_:_:)``.
    func content(of chunk: Int) throws -> [UInt8] {
        let sealed = try Self.read(
            layout.count(of: chunk) + ChunkCipher.overhead,
            from: descriptor,
            at: SealedFileFormat.offset(of: chunk)
        )
        guard let content = try cipher.open(sealed, at: chunk, isLast: chunk == layout.chunks - 1) else {
            throw Self.damaged
        }
        return content
    }

    /// Reads the whole file, and says what its content sums up to.
    func digest(_ check: () throws -> Void) throws -> [UInt8] {
        var digest = try RunningDigest()
        for chunk in 0..<layout.chunks {
            try check()
            try digest.add(content(of: chunk))
        }
        return try digest.finish()
    }

    static func read(_ count: Int, from descriptor: borrowing FileDescriptor, at offset: Int) throws -> [UInt8] {
        try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = unsafe try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    static var damaged: StoreError {
        StoreError(
            .damaged,
            "The file of an attachment is damaged, or was put there by somebody else; restore it from a backup."
        )
    }
}
