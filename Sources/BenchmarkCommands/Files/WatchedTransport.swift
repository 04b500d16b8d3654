internal import Foundation
internal import RemoteContract
internal import Synchronization

/// Says where transfers begin, and ends the process in the middle of one.
struct WatchedTransport: AttachmentTransport {
    let base: any AttachmentTransport
    /// At which byte of the file the process ends; nil for never.
    let end: Int64?

    func state(of id: AttachmentID) async throws -> AttachmentUploadState { try await base.state(of: id) }

    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws {
        let place = begin(offset)
        try await base.upload(id, from: offset, length: length) {
            let bytes = try await content()
            pass(bytes?.count ?? 0, place)
            return bytes
        }
    }

    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (_ version: AttachmentVersion, _ bytes: [UInt8]) async throws -> Void
    ) async throws {
        let place = begin(offset)
        try await base.download(id, from: offset) { version, bytes in
            try await receive(version, bytes)
            pass(bytes.count, place)
        }
    }

    func delete(_ id: AttachmentID) async throws { try await base.delete(id) }

    private func begin(_ offset: Int64) -> Place {
        Report.write("from \(offset)")
        return Place(offset)
    }

    private func pass(_ count: Int, _ place: Place) {
        let reached = place.offset.withLock { offset in
            offset += Int64(count)
            return offset
        }
        if let end, reached >= end { kill(getpid(), SIGKILL) }
    }

    private final class Place: Sendable {
        let offset: Mutex<Int64>
        init(_ offset: Int64) { self.offset = Mutex(offset) }
    }
}
