internal import RemoteContract
internal import Synchronization
internal import SyncContract

extension AttachmentWork {
    /// How often the server is asked anew how much it has, when it has another number of bytes than it said.
    private static var attempts: Int { 3 }

    /// Sends what the server does not have of a file, whose row it has taken.
    func upload(_ id: AttachmentID) async throws {
        let (found, isDue) = try await store.read { [references] reader in
            let file = try reader.attachment(id)
            return (file, try file?.isDue == true || references.wereTaken(id, &reader))
        }
        // Who chose it may have read the list before it was refused.
        guard let file = found, isDue, file.isHere, !file.isOnServer, file.failure == nil, let transport else { return }
        states.travels(id, .uploading(0))
        defer { states.travels(id, nil) }
        guard let length = file.length else { throw StoreError.lastCopyDamaged(file.name) }
        var opened: OpenAttachment?
        for attempt in 1...Self.attempts {
            // What the server has by now need not be sound here any more.
            guard let offset = try await Self.missing(length, of: id, transport) else { break }
            let reader: OpenAttachment
            if let opened { reader = opened } else { reader = try await open(file) }
            opened = reader
            // What somebody has put onto the server in between is theirs: its number of bytes is asked for anew.
            let content = UploadContent(reader, from: offset) { [states] sent in
                states.travels(id, .uploading(length == 0 ? 1 : Double(sent) / Double(length)))
            }
            do {
                try gate.check()
                try await transport.upload(id, from: offset, length: length) { try await content.next() }
            } catch let error as RemoteError where error.code == .conflict && attempt < Self.attempts {
                continue
            }
            // Files that the server has make room here: that it has the whole one must be its own word.
            guard try await Self.missing(length, of: id, transport) == nil else {
                throw RemoteError(
                    .invalidResponse,
                    "The server said that a file has arrived, and does not have all of it; it is sent again later."
                )
            }
            break
        }
        states.travels(id, nil)
        try await change(id) { ($0.isOnServer, $0.isDue) = (true, false) }
    }

    /// From where on the server lacks a file; nil when it has all of it.
    private static func missing(
        _ length: Int64,
        of id: AttachmentID,
        _ transport: any AttachmentTransport
    ) async throws -> Int64? {
        switch try await transport.state(of: id) {
        case .missing: return 0
        case .partial(let count) where (0...length).contains(count): return count
        case .complete(length): return nil
        case .partial(let count), .complete(let count):
            throw OtherContent(
                description:
                    "The server has \(count) bytes under the name of a file of \(length); remove one of the two."
            )
        }
    }
}

/// The content of a file from a byte on, in pieces.
private final class UploadContent: Sendable {
    private let file: OpenAttachment
    private let position: Mutex<Int64>
    private let report: @Sendable (Int64) -> Void

    init(_ file: OpenAttachment, from offset: Int64, _ report: @escaping @Sendable (Int64) -> Void) {
        self.file = file
        self.report = report
        position = Mutex(offset)
    }

    func next() async throws -> [UInt8]? {
        let position = self.position.withLock { $0 }
        guard position < file.layout.length else { return nil }
        let size = Int64(ChunkCipher.contentCount)
        let content = try await file.content(of: Int(position / size))
        let bytes = Array(content.dropFirst(Int(position % size)))
        self.position.withLock { $0 += Int64(bytes.count) }
        report(position)
        return bytes
    }
}
