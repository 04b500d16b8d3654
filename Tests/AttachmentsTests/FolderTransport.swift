import Foundation
import RemoteContract
import Synchronization

/// A server of files in a folder, which outlives those who send to it and what they were doing when they were killed.
final class FolderTransport: AttachmentTransport {
    private let folder: URL
    /// Called before each piece that goes up or down.
    private let onPiece: @Sendable () -> Void
    private let begun = Mutex<(up: [AttachmentID: [Int64]], down: [AttachmentID: [Int64]])>(([:], [:]))

    init(_ folder: URL, onPiece: @escaping @Sendable () -> Void = {}) throws {
        (self.folder, self.onPiece) = (folder, onPiece)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// From where on a file was asked for.
    func downloads(of id: AttachmentID) -> [Int64] { begun.withLock { $0.down[id] ?? [] } }

    /// From where on a file was sent.
    func uploads(of id: AttachmentID) -> [Int64] { begun.withLock { $0.up[id] ?? [] } }

    func put(_ bytes: [UInt8], as id: AttachmentID) throws { try Data(bytes).write(to: whole(id)) }

    func content(of id: AttachmentID) throws -> Data? {
        FileManager.default.fileExists(atPath: whole(id).path) ? try Data(contentsOf: whole(id)) : nil
    }

    private func whole(_ id: AttachmentID) -> URL { folder.appending(path: id.text) }
    private func part(_ id: AttachmentID) -> URL { folder.appending(path: id.text + ".part") }

    private func size(_ url: URL) throws -> Int64? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64
    }

    func state(of id: AttachmentID) async throws -> AttachmentUploadState {
        if let size = try size(whole(id)) { return .complete(size) }
        return try size(part(id)).map { .partial($0) } ?? .missing
    }

    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws {
        begun.withLock { $0.up[id, default: []].append(offset) }
        let url = part(id)
        if try size(url) == nil { try Data().write(to: url) }
        guard try size(url) == offset else { throw RemoteError(.conflict, "The server has another number of bytes.") }
        let file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
        while let bytes = try await content() {
            for start in stride(from: 0, to: bytes.count, by: 5_000) {
                onPiece()
                try file.write(contentsOf: Data(bytes[start..<min(start + 5_000, bytes.count)]))
            }
        }
        try file.close()
        guard try size(url) == length else { throw FaultyTransport.broken }
        try FileManager.default.moveItem(at: url, to: whole(id))
    }

    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (AttachmentVersion, [UInt8]) async throws -> Void
    ) async throws {
        begun.withLock { $0.down[id, default: []].append(offset) }
        guard let bytes = try content(of: id) else { throw RemoteError(.notFound, "There is no such file.") }
        var position = Int(offset)
        repeat {
            onPiece()
            let end = min(bytes.count, position + 20_000)
            try await receive(AttachmentVersion(length: Int64(bytes.count)), Array(bytes[position..<end]))
            position = end
        } while position < bytes.count
    }

    func delete(_ id: AttachmentID) async throws {
        for url in [whole(id), part(id)] where try size(url) != nil { try FileManager.default.removeItem(at: url) }
    }
}
