import DatasyncEmulator
import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import SeededNumbers
import Synchronization
import Testing

/// A server of attachments on a socket, with the files in a folder, and the remote that goes with it.
struct AttachmentService {
    let server: EmulatorServer
    let folder: URL
    let remote: DatasyncRemote

    var emulator: Emulator { server.emulator }

    /// Runs a body with a service, and takes it down.
    static func with(
        users: [String: String] = [:],
        token: DatasyncRemote.TokenProvider? = nil,
        _ body: (AttachmentService) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "attachments-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = EmulatorConfiguration(tables: ["todo"])
        configuration.attachmentFolder = folder
        configuration.users = users
        let transport = CurlTransport()
        let server = EmulatorServer(configuration)
        let url = try await server.start()
        let remote =
            if let token {
                try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport, token: token)
            } else {
                try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport)
            }
        try await body(AttachmentService(server: server, folder: folder, remote: remote))
        transport.close()
        await server.stop()
    }

    func stored(_ id: AttachmentID, isPart: Bool = false) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: id.text + (isPart ? ".part" : ""))))
    }
}

/// Bytes that repeat with a seed, given in pieces of odd sizes, from any byte on.
struct TestContent {
    let bytes: [UInt8]

    init(_ count: Int, seed: UInt64 = 7) {
        var generator = SeededGenerator(seed: seed)
        bytes = (0..<(count + 7) / 8)
            .flatMap { _ in
                let word = generator.next()
                return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
            }
            .prefix(count).map { $0 }
    }

    func pieces(from offset: Int64 = 0, of size: Int = 70_001) -> @Sendable () async throws -> [UInt8]? {
        let position = Mutex(Int(offset))
        let bytes = bytes
        return {
            position.withLock { position in
                guard position < bytes.count else { return nil }
                defer { position = min(bytes.count, position + size) }
                return Array(bytes[position..<min(bytes.count, position + size)])
            }
        }
    }
}

/// What a download has given.
final class Received: Sendable {
    private let state = Mutex<(bytes: [UInt8], lengths: Set<Int64>, calls: Int)>(([], [], 0))

    init(_ bytes: [UInt8] = []) { state.withLock { $0.bytes = bytes } }

    var bytes: [UInt8] { state.withLock(\.bytes) }
    var lengths: Set<Int64> { state.withLock(\.lengths) }
    var calls: Int { state.withLock(\.calls) }

    func take(_ version: AttachmentVersion, _ bytes: [UInt8]) {
        state.withLock {
            $0.bytes += bytes
            $0.lengths.insert(version.length)
            $0.calls += 1
        }
    }
}

extension AttachmentTransport {
    func send(_ id: AttachmentID, _ content: TestContent, from offset: Int64 = 0) async throws {
        try await upload(
            id,
            from: offset,
            length: Int64(content.bytes.count),
            content: content.pieces(from: offset)
        )
    }

    /// Sends until the server has everything, each time from where it says.
    ///
    /// - Returns: How many requests it took.
    func sendAll(_ id: AttachmentID, _ content: TestContent) async throws -> Int {
        for attempt in 1...50 {
            let offset: Int64
            switch try await state(of: id) {
            case .missing: offset = 0
            case .partial(let count): offset = count
            case .complete: return attempt - 1
            }
            do { try await send(id, content, from: offset) } catch is RemoteError {}
        }
        Issue.record("the file never arrived")
        return 0
    }

    /// Fetches until there is everything, each time from where the last one broke off.
    func fetchAll(_ id: AttachmentID) async throws -> (received: Received, attempts: Int) {
        let received = Received()
        for attempt in 1...50 {
            do {
                try await download(id, from: Int64(received.bytes.count)) { received.take($0, $1) }
                return (received, attempt)
            } catch let error as RemoteError where error.code == .unreachable {}
        }
        Issue.record("the file never arrived")
        return (received, 50)
    }

    func failure(
        from offset: Int64 = 0,
        _ received: Received = Received(),
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> RemoteError {
        try #require(
            await #expect(throws: RemoteError.self, sourceLocation: location) {
                try await download(.make(), from: offset) { received.take($0, $1) }
            },
            sourceLocation: location
        )
    }
}
