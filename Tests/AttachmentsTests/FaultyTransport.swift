import RemoteContract
import Synchronization
import VirtualTime

/// A server of files in memory, which does what a test says to a request.
final class FaultyTransport: AttachmentTransport {
    /// What becomes of a request.
    enum Fate: Sendable {
        case answered
        case failed(RemoteError)
        /// It is done, and its answer gets lost.
        case answerLost
        /// So many bytes go through, then the connection breaks.
        case cut(after: Int)
        /// So many bytes go through, and it looks as if it were all of them.
        case swallowed(after: Int)
        /// Waits until its task is cancelled, or until the line is opened.
        case held
    }

    struct Request: Hashable, Sendable, CustomStringConvertible {
        enum Kind: Hashable, Sendable { case state, upload, download, delete }
        let kind: Kind
        let id: AttachmentID
        var offset: Int64 = 0

        var description: String { "\(kind)" + (offset == 0 ? "" : " from \(offset)") }
    }

    struct StoredFile: Hashable, Sendable {
        var bytes: [UInt8] = []
        var length: Int64
        var tag: String?
        /// Whether the sender has said that it is all.
        var isEnded = true

        var version: AttachmentVersion { AttachmentVersion(length: length, tag: tag) }
        var isComplete: Bool { isEnded && bytes.count == Int(length) }
    }

    private struct State {
        var files: [AttachmentID: StoredFile] = [:]
        var running = 0
        var mostRunning = 0
    }

    private let server = Mutex(State())
    private let watched = WatchedRequests<Request, Fate> { _ in
        .answered
    } isHeld: {
        if case .held = $0 { true } else { false }
    }

    var requests: [Request] { watched.all }
    var mostAtATime: Int { server.withLock { $0.mostRunning } }
    func requests(_ kind: Request.Kind) -> [Request] { requests.filter { $0.kind == kind } }
    func forgetRequests() { watched.forget() }

    /// What becomes of requests from here on. Those that are held are let go, to what is said now.
    func set(_ fate: @escaping @Sendable (Request) -> Fate) { watched.set(fate) }

    subscript(id: AttachmentID) -> StoredFile? {
        get { server.withLock { $0.files[id] } }
        set { server.withLock { $0.files[id] = newValue } }
    }

    func put(_ bytes: [UInt8], as id: AttachmentID, tag: String? = nil) {
        server.withLock { $0.files[id] = StoredFile(bytes: bytes, length: Int64(bytes.count), tag: tag) }
    }

    /// Returns when so many requests have come in all, or the task is cancelled.
    func requestsReach(_ count: Int) async { await watched.reach(count) }

    // MARK: The protocol

    func state(of id: AttachmentID) async throws -> AttachmentUploadState {
        try await request(Request(kind: .state, id: id)) { _ in
            guard let file = self[id] else { return .missing }
            return file.isComplete ? .complete(file.length) : .partial(Int64(file.bytes.count))
        }
    }

    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws {
        try await request(Request(kind: .upload, id: id, offset: offset)) { bound in
            guard Int(offset) == self[id]?.bytes.count ?? 0 else {
                throw RemoteError(.conflict, "The server has another number of bytes.", status: 409)
            }
            if self[id] == nil { self[id] = StoredFile(length: length) }
            var sent = 0
            while let bytes = try await content() {
                try Task.checkCancellation()
                let taken = bytes.prefix(bound - sent)
                self[id]?.bytes += taken
                sent += bytes.count
                if sent > bound, !Self.swallows { throw Self.broken }
            }
            self[id]?.isEnded = true
        }
    }

    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (AttachmentVersion, [UInt8]) async throws -> Void
    ) async throws {
        try await request(Request(kind: .download, id: id, offset: offset)) { bound in
            guard let file = self[id], file.isComplete else {
                throw RemoteError(.notFound, "There is no such file.", status: 404)
            }
            guard offset <= file.length else { throw RemoteError(.refused, "There is no such range.", status: 416) }
            var position = Int(offset)
            if position == file.bytes.count { try await receive(file.version, []) }
            while position < file.bytes.count {
                try Task.checkCancellation()
                let end = min(file.bytes.count, position + 50_000, Int(offset) + bound)
                if end > position { try await receive(file.version, Array(file.bytes[position..<end])) }
                position = end
                if position == Int(offset) + bound, position < file.bytes.count {
                    if Self.swallows { return }
                    throw Self.broken
                }
            }
        }
    }

    func delete(_ id: AttachmentID) async throws {
        try await request(Request(kind: .delete, id: id)) { _ in self[id] = nil }
    }

    @TaskLocal private static var swallows = false

    static var broken: RemoteError { RemoteError(.unreachable, "The connection broke, on purpose.") }

    private func request<Answer>(
        _ request: Request,
        _ answer: (_ bound: Int) async throws -> Answer
    ) async throws -> Answer {
        try Task.checkCancellation()
        server.withLock { server in
            server.running += 1
            server.mostRunning = max(server.mostRunning, server.running)
        }
        defer { server.withLock { $0.running -= 1 } }
        switch try await watched.fate(of: request) {
        case .answered, .held: return try await answer(1 << 40)
        case .failed(let error): throw error
        case .answerLost:
            _ = try await answer(1 << 40)
            throw Self.broken
        case .cut(let count): return try await answer(count)
        case .swallowed(let count):
            return try await Self.$swallows.withValue(true) { try await answer(count) }
        }
    }
}
