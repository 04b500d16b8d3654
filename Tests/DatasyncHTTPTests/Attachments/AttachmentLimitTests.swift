import DatasyncHTTP
import HTTPTransport
import RemoteContract
import ScriptedServer
import Synchronization
import Testing

@Suite("What a server says about how much it takes", .timeLimit(.minutes(5)))
final class AttachmentLimitTests {
    private var servers: [ScriptedServer] = []

    /// A server that takes bodies of a size at most, and tells it in some of its answers.
    private final class Service: Sendable {
        let received = Mutex("")
        let requests = Mutex<[String]>([])

        /// Answers a request, with fields added to each answer that is no refusal, and to refusals.
        func answer(
            _ request: ScriptedServer.Request,
            _ length: Int,
            most: Int,
            _ fields: [String],
            _ refusal: [String]
        )
            -> String
        {
            let has = received.withLock(\.count)
            let state = ["Upload-Offset: \(has)", "Upload-Complete: ?\(has == length ? 1 : 0)"]
            guard request.method == "PATCH" else {
                return has == 0
                    ? response("404 Not Found", fields: ["Content-Type: application/problem+json"] + fields)
                    : response("204 No Content", fields: state + fields)
            }
            requests.withLock {
                let told = ["upload-offset", "upload-length", "upload-complete"].map { request.fields[$0] ?? "" }
                $0.append("\(told.joined(separator: " ")) +\(request.body.count)")
            }
            guard request.body.count <= most else { return response("413 Content Too Large", fields: refusal) }
            let count = received.withLock { received in
                received += request.body
                return received.count
            }
            return response(
                "204 No Content",
                fields: ["Upload-Offset: \(count)", "Upload-Complete: ?\(count == length ? 1 : 0)"] + fields
            )
        }
    }

    private func files(_ answer: @escaping @Sendable (ScriptedServer.Request) -> String) throws
        -> any AttachmentTransport
    {
        let server = try ScriptedServer { [.send(Array(answer($0).utf8))] }
        servers.append(server)
        let remote = try DatasyncRemote(baseURL: server.url, dialect: .datasync, transport: CurlTransport())
        return try remote.attachments(path: "/files")
    }

    private static let text = "abcdefghijklmnopqrstuvwxyz"

    private func content(from offset: Int = 0) -> @Sendable () async throws -> [UInt8]? {
        let rest = Mutex(Array(Self.text.utf8.dropFirst(offset)))
        return {
            rest.withLock { rest in
                guard !rest.isEmpty else { return nil }
                defer { rest.removeFirst(min(7, rest.count)) }
                return Array(rest.prefix(7))
            }
        }
    }

    @Test(
        "a file goes up in requests of that size, once the server has told it",
        arguments: [1, 5, 7, 10, 13, 26, 100]
    )
    func parts(most: Int) async throws {
        let service = Service()
        let files = try files {
            service.answer($0, 26, most: most, ["Upload-Limit: max-age=60, max-append-size=\(most);x=1"], [])
        }
        let id = AttachmentID.make()
        #expect(try await files.state(of: id) == .missing)
        try await files.upload(id, from: 0, length: 26, content: content())
        #expect(service.received.withLock(\.self) == Self.text)
        let requests = stride(from: 0, to: 26, by: most)
            .map { "\($0) 26 ?\($0 + most >= 26 ? 1 : 0) +\(min(most, 26 - $0))" }
        #expect(service.requests.withLock(\.self) == requests)
    }

    @Test("a refusal that tells it is a conflict, after which the file goes up in parts")
    func refusal() async throws {
        let service = Service()
        let files = try files { service.answer($0, 26, most: 10, [], ["Upload-Limit: max-append-size=10"]) }
        let id = AttachmentID.make()
        let error = await #expect(throws: RemoteError.self) {
            try await files.upload(id, from: 0, length: 26, content: content())
        }
        #expect(error?.code == .conflict)
        try await files.upload(id, from: 0, length: 26, content: content())
        #expect(service.received.withLock(\.self) == Self.text)
        // A refusal of a request that is within the limit is one.
        let strict = try self.files { service.answer($0, 26, most: 0, [], ["Upload-Limit: max-append-size=26"]) }
        let refused = await #expect(throws: RemoteError.self) {
            try await strict.upload(id, from: 0, length: 26, content: content())
        }
        #expect(refused?.code == .refused)
    }

    @Test("a server that has another number of bytes between two parts is a conflict")
    func otherOffset() async throws {
        let parts = Mutex(0)
        let files = try files { request in
            if request.method == "PATCH" { parts.withLock { $0 += 1 } }
            return response(
                "204 No Content",
                fields: ["Upload-Offset: 9", "Upload-Complete: ?0", "Upload-Limit: max-append-size=10"]
            )
        }
        let id = AttachmentID.make()
        _ = try await files.state(of: id)
        let error = await #expect(throws: RemoteError.self) {
            try await files.upload(id, from: 0, length: 26, content: content())
        }
        #expect(error?.code == .conflict)
        #expect(parts.withLock(\.self) == 1)
    }

    @Test("a file that is too long is not sent at all")
    func tooLong() async throws {
        let service = Service()
        let files = try files { service.answer($0, 26, most: 100, ["Upload-Limit: max-size=25"], []) }
        let id = AttachmentID.make()
        #expect(try await files.state(of: id) == .missing)
        let error = await #expect(throws: RemoteError.self) {
            try await files.upload(id, from: 0, length: 26, content: content())
        }
        #expect(error?.code == .refused)
        #expect(service.requests.withLock(\.self) == [])
    }

    @Test(
        "what is no limit is none",
        arguments: [
            "max-append-size", "max-append-size=x", "max-append-size=0", ",;=", "max-size=-1", ";", "max-size=99,;",
        ]
    )
    func nonsense(limit: String) async throws {
        let service = Service()
        let files = try files { service.answer($0, 26, most: 100, ["Upload-Limit: \(limit)"], []) }
        let id = AttachmentID.make()
        #expect(try await files.state(of: id) == .missing)
        try await files.upload(id, from: 0, length: 26, content: content())
        #expect(service.requests.withLock(\.self) == ["0 26 ?1 +26"])
    }

    @Test("a source that gives more than was said is refused in parts, too")
    func tooMuch() async throws {
        let service = Service()
        let files = try files { service.answer($0, 20, most: 100, ["Upload-Limit: max-append-size=15"], []) }
        let id = AttachmentID.make()
        #expect(try await files.state(of: id) == .missing)
        await #expect(throws: (any Error).self) {
            try await files.upload(id, from: 0, length: 20, content: content())
        }
    }
}
