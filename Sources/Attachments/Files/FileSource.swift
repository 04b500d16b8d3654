internal import DurableFiles
internal import Foundation
internal import SyncContract
internal import Synchronization

/// A file of somebody else's, in pieces. Calls block.
final class FileSource: Sendable {
    private let descriptor: FileDescriptor
    private let offset = Mutex(0)

    init(_ url: URL) throws {
        do throws(SystemCallFailure) {
            descriptor = try FileDescriptor(reading: url.path)
        } catch {
            throw StoreError.unreadable(url.path, error)
        }
    }

    /// The next bytes; nil at the end.
    func next() throws -> [UInt8]? {
        try offset.withLock { offset in
            let bytes = try SealedFileReader.read(ChunkCipher.contentCount, from: descriptor, at: offset)
            offset += bytes.count
            return bytes.isEmpty ? nil : bytes
        }
    }
}

/// Bytes in memory, in pieces.
final class DataSource: Sendable {
    private let data: Data
    private let offset = Mutex(0)

    init(_ data: Data) { self.data = data }

    func next() -> [UInt8]? {
        offset.withLock { offset in
            guard offset < data.count else { return nil }
            let end = min(data.count, offset + ChunkCipher.contentCount)
            defer { offset = end }
            return Array(data[data.startIndex + offset..<data.startIndex + end])
        }
    }
}
